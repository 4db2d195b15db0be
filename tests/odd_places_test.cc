// Places that a program does not expect to find itself in. In each of them ikigai works, or says in a sentence what is missing.
#include "support/odd.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

void alone_at(Odd& at, const std::string& root)
{
    fs::create_directories(root);
    fs::copy_file(ikigai(), root + "/ikigai");
    at.program = "/ikigai";
    at.home = "/root";
    at.change = [root] { change_root(root); };
}

}

TEST_CASE("odd places: alone in an empty root")
{
    if (!can_mount() || !is_plain()) return;
    Odd at;
    auto root = at.folder / "root";
    alone_at(at, root);
    tools_work(at);
    program_works(at);
    CHECK(at.tool_run("bash", R"({"command":"echo hi"})").out == R"({"output":"/bin/sh: No such file or directory","exit_code":127})");
    CHECK(at.said("run echo hi").status == 0);
    auto run = at.ikigai({"run", "file_read", R"({"file_path":"f.txt"})"});
    CHECK(run.status == 0);
    CHECK(has(run.err, "tools have no folder for temporary files, since none can be made in /tmp: No such file or directory"));
    CHECK(has(at.said("read f.txt").err, "The conversation is not kept: there is no home"));
    auto doctor = at.ikigai({"doctor"}).out;
    CHECK(has(doctor, "there is no /proc: what tools leave running is not found"));
    CHECK(has(doctor, "home         /root is not there"));
    // Nothing was made beside the one file that was written.
    CHECK(std::distance(fs::directory_iterator(root), {}) == 2);
}

TEST_CASE("odd places: a shell where neither /dev nor /proc is mounted")
{
    if (!can_mount() || !is_plain()) return;
    Odd at;
    at.change = [] { own_mounts(), mount_at("/proc"), mount_at("/dev"); };
    tools_work(at);
    program_works(at);
    shell_works(at);
}

TEST_CASE("odd places: the first process of a namespace")
{
    if (!can_mount()) return;
    Odd at;
    auto leaves_one = std::vector<std::string>{"run", "bash", R"({"command":"sleep 60 >/dev/null 2>&1 & echo through"})"};
    SECTION("with its own /proc")
    {
        at.shell = "exec unshare --mount --pid --fork -- sh -c 'mount -t proc none /proc && exec \"$@\"' sh \"$@\"";
        all_works(at);
        CHECK(has(at.ikigai(leaves_one).err, "bash left 1 process running"));
        CHECK(has(at.ikigai({"doctor"}).out, "/proc tells what tools leave running"));
    }
    SECTION("with the /proc of another one, whose numbers are those of strangers")
    {
        at.shell = "exec unshare --pid --fork -- \"$@\"";
        all_works(at);
        auto left = at.ikigai(leaves_one);
        CHECK(left.out == through);
        CHECK(left.err.empty());
        CHECK(has(at.ikigai({"doctor"}).out, "/proc is of another PID namespace"));
    }
}

TEST_CASE("odd places: a user whom nobody knows")
{
    if (!can_mount()) return;
    Odd at;
    at.shell = "exec setpriv --reuid=54321 --regid=54321 --clear-groups -- \"$@\"";
    REQUIRE(chown(at.home.c_str(), 54321, 54321) == 0);
    REQUIRE(chown(at.work.c_str(), 54321, 54321) == 0);
    all_works(at);
    at.more = {"HOME"};
    CHECK(has(at.said("run echo through").err, "The conversation is not kept: there is no home. It goes on in memory."));
    CHECK(has(at.ikigai({"doctor"}).out, "HOME is not set, and /etc/passwd does not know us"));
}

TEST_CASE("odd places: a home that is not there is not made")
{
    Odd at;
    at.home = at.folder / "nowhere";
    all_works(at);
    CHECK(has(at.said("run echo through").err, "The conversation is not kept: there is no home. It goes on in memory."));
    CHECK_FALSE(fs::exists(at.home));
}

TEST_CASE("odd places: a home that cannot be written")
{
    if (!can_mount()) return;
    Odd at;
    std::string why;
    SECTION("since it is mounted so")
    {
        at.change = [home = at.home] { own_mounts(), mount_at(home, "", MS_RDONLY); };
        why = at.home + "/.local";
    }
    SECTION("since its disk is full")
    {
        at.change = [home = at.home] {
            own_mounts(), mount_at(home, "size=64k");
            std::ofstream(home + "/all") << std::string(1 << 20, 'x');
        };
        why = "the disk is full";
    }
    all_works(at);
    auto said = at.said("run echo through");
    CHECK(has(said.err, "The conversation is not kept: "));
    CHECK(has(said.err, why));
    CHECK(said.err.find("not kept") == said.err.rfind("not kept"));   // once
}

TEST_CASE("odd places: no folder for temporary files")
{
    if (!can_mount() || !is_plain()) return;
    Odd at;
    auto words = std::string("tools have no folder for temporary files, since none can be made in /tmp");
    SECTION("the one that TMPDIR names is not there: another is taken")
    {
        at.more = {"TMPDIR=/nowhere/at/all"};
        all_works(at);
        CHECK(at.ikigai({"run", "bash", R"({"command":"echo through"})"}).err.empty());
    }
    SECTION("a root that is read-only, as a container may have")
    {
        auto root = at.folder / "root";
        fs::create_directories(root + "/work");
        at.work = root + "/work";
        at.change = [=] {
            own_mounts();
            if (mount("/", root.c_str(), nullptr, MS_BIND, nullptr) < 0 || mount(nullptr, root.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) < 0) _exit(125);
            mount_at(root + "/mnt");
            change_root(root);
            if (chdir("/mnt") < 0) _exit(125);
        };
        at.home = "/root";
        CHECK(has(at.ikigai({"run", "bash", R"({"command":"echo through"})"}).err, words + ": Read-only file system"));
        CHECK(at.ikigai({"run", "bash", R"({"command":"echo through"})"}).out == through);
        auto said = at.said("run echo through");
        CHECK(has(said.out, "through"));
        CHECK(has(said.err, "The conversation is not kept"));
    }
}

TEST_CASE("odd places: descriptors that are closed")
{
    Odd at;
    SECTION("standard input is empty")
    {
        at.shell = "exec \"$@\" <&-";
        auto empty = at.tool_run("file-read", "");
        CHECK(empty.status == 1);
        CHECK(has(empty.out, "standard input is empty"));
        CHECK(at.ikigai({"run", "bash", R"({"command":"cat; echo through"})"}).out == through);
        CHECK(has(at.said("run echo through").out, "through"));
    }
    SECTION("what should go to standard output is missed")
    {
        at.shell = "exec \"$@\" >&-";
        for (auto& words : std::vector<std::vector<std::string>>{{"discover"}, {"run", "bash", R"({"command":"echo through > ran"})"}, {"glob"}, {"doctor"}, {"applets"}, {"chat", "-p", "hello"}}) {
            auto ran = at.ikigai(words, R"({"pattern":"*"})");
            CHECK(ran.status == 1);
            CHECK(has(ran.err, "standard output"));
        }
        CHECK(at.folder.read("work/ran") == "through\n");
    }
    SECTION("nobody hears standard error")
    {
        at.shell = "exec \"$@\" 2>&-";
        all_works(at);
    }
    SECTION("all of them: no file that is opened gets their numbers")
    {
        at.shell = "exec \"$@\" <&- >&- 2>&-";
        CHECK(at.tool_run("file-write", "").status == 1);
        CHECK(at.said("write f.txt: words").status == 1);
        CHECK(at.ikigai({"run", "bash", R"({"command":"echo through > ran; ls -l /proc/self/fd"})"}).status == 1);
        CHECK(at.folder.read("work/ran") == "through\n");
        at.shell = "";
        auto kept = at.ikigai({"sessions", "list"});
        CHECK(kept.status == 0);
        CHECK(has(kept.out, "write f.txt: words"));
    }
}

TEST_CASE("odd places: little of what the kernel gives")
{
    if (!is_plain()) return;
    Odd at;
    SECTION("a small stack")
    {
        at.shell = "ulimit -s 128; exec \"$@\"";
        all_works(at);
    }
    SECTION("little memory")
    {
        at.shell = "ulimit -v 65536; exec \"$@\"";
        all_works(at);
    }
    SECTION("32 files")
    {
        at.shell = "ulimit -n 32; exec \"$@\"";
        all_works(at);
    }
    SECTION("16 files: the tools work, and a conversation says what it could not have")
    {
        at.shell = "ulimit -n 16; exec \"$@\"";
        tools_work(at);
        CHECK(at.ikigai({"run", "bash", R"({"command":"echo through"})"}).out == through);
        CHECK(has(at.ikigai({"discover"}).out, "\ngrep "));
        auto said = at.said("run echo through");
        CHECK(said.status == 0);
        CHECK(has(said.out, "Too many open files"));
    }
    SECTION("8 files")
    {
        at.shell = "ulimit -n 8; exec \"$@\"";
        tools_work(at);
        auto run = at.ikigai({"run", "bash", R"({"command":"echo through"})"});
        CHECK(run.status == 1);
        CHECK(has(run.out, "Tool 'bash' cannot be started: "));
        CHECK(has(run.out, "Too many open files"));
        auto said = at.said("run echo through");
        CHECK(said.status == 1);
        CHECK(has(said.err, "Cannot make a pipe: Too many open files"));
    }
}

TEST_CASE("odd places: not one more process")
{
    if (!can_mount() || !is_plain()) return;
    Odd at;
    REQUIRE(chown(at.home.c_str(), 54321, 54321) == 0);
    REQUIRE(chown(at.work.c_str(), 54321, 54321) == 0);
    at.shell = "exec setpriv --reuid=54321 --regid=54321 --clear-groups -- prlimit --nproc=1:1 -- \"$@\"";
    tools_work(at);
    CHECK(at.tool_run("bash", R"({"command":"echo hi"})").out == R"({"output":"/bin/sh: Resource temporarily unavailable","exit_code":127})");
    auto run = at.ikigai({"run", "bash", R"({"command":"echo hi"})"});
    CHECK(run.status == 1);
    CHECK(has(run.out, "Tool 'bash' cannot be started: "));
    auto said = at.said("run echo hi");
    CHECK(said.status == 1);
    CHECK(has(said.err, "Resource temporarily unavailable"));
}

TEST_CASE("odd places: an environment of nonsense, or none")
{
    Odd at;
    SECTION("nonsense") { at.more = {"TERM=gibberish", "TZ=:nonsense", "LC_ALL=xx_YY.klingon", "LANG", "TMPDIR=nonsense", "USER=nobody at all"}; }
    SECTION("none") { at.more = {"TERM", "TZ", "LC_ALL", "LANG", "USER", "LOGNAME", "SHELL", "PWD"}; }
    all_works(at);
}

TEST_CASE("odd places: a current folder that is removed, or that may not be entered")
{
    Odd at;
    SECTION("removed")
    {
        at.shell = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
        auto run = at.ikigai({"run", "bash", R"({"command":"cd /; echo through"})"});
        CHECK(has(run.err, "there is no workspace, since the current folder has been removed: tools may only write to their TMPDIR"));
        CHECK(run.status == 0);
        CHECK(has(at.said("run echo through").out, "through"));
        CHECK(at.ikigai({"discover"}).status == 0);
        CHECK(at.ikigai({"doctor"}).status == 0);
    }
    SECTION("not to be entered")
    {
        if (!can_mount()) return;
        REQUIRE(chmod(at.work.c_str(), 0) == 0);
        REQUIRE(chown(at.home.c_str(), 54321, 54321) == 0);
        at.shell = "exec setpriv --reuid=54321 --regid=54321 --clear-groups -- \"$@\"";
        CHECK(has(at.tool_run("file-write", R"({"file_path":"f.txt","content":"x"})").out, "Permission denied: f.txt"));
        CHECK(has(at.said("run echo through").out, "through"));
        CHECK(at.ikigai({"doctor"}).status == 0);
    }
}

TEST_CASE("odd places: a container that has given up what it could")
{
    if (!can_mount()) return;
    Odd at;
    at.change = [] { own_mounts(), mount_at("/sys", "", MS_RDONLY); };   // no control groups either
    at.shell = "exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- \"$@\"";
    all_works(at);
    auto slow = at.ikigai({"run", "bash", R"({"command":"setsid sleep 300 & echo $! > pid; sleep 300"})", "--timeout", "0.3"});
    CHECK(has(slow.out, "TOOL_TIMEOUT"));
    CHECK_FALSE(runs(static_cast<pid_t>(std::stoi(at.folder.read("work/pid")))));
}

TEST_CASE("odd places: the disk of a tool's output is full")
{
    if (!can_mount() || !is_plain()) return;
    Odd at;
    at.change = [home = at.home] { own_mounts(), mount_at(home, "size=256k"); };
    auto said = at.ikigai({"run", "bash", R"({"command":"head -c 1000000 /dev/zero | tr '\\0' x"})"});
    CHECK(has(said.out, "[the disk is full: what came after this may be lost]"));
}
