#include "support/world.h"

#include "base/process.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

Json arguments(const std::string& path, std::string content) { return object({{"file_path", path}, {"content", std::move(content)}}); }
Json writing(const std::string& path, std::string content) { return call("file-write", arguments(path, std::move(content))); }
Json wrote(int bytes, const std::string& name) { return object({{"output", "Wrote " + std::to_string(bytes) + " bytes to " + name}, {"bytes", bytes}}); }
Json refusal(std::string message, std::string_view code) { return object({{"error", std::move(message)}, {"error_code", code}}); }

// What is in the current folder, hidden or not.
std::vector<std::string> listing()
{
    std::vector<std::string> names;
    for (auto& entry : fs::directory_iterator("."))
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

struct stat info(const char* path)
{
    struct stat out {};
    REQUIRE(stat(path, &out) == 0);
    return out;
}

// The tool, run in the current folder by somebody who is not root.
Json by_a_user(const Json& input)
{
    fs::copy_file(ikigai(), "file-write", fs::copy_options::skip_existing);
    std::string user = is_root() ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    auto ran = sh(user + "./file-write", input.dump());
    auto answer = parse_json(ran.out);
    UNSCOPED_INFO(ran.out << ran.err);
    return answer ? *answer : Json();
}

bool can_inject() { return sh("strace -o /dev/null true").status == 0; }

// The tool, with a system call that fails.
Json with_fault(const std::string& fault, const Json& input)
{
    auto ran = sh("strace -o /dev/null -e inject=" + fault + " " + tool("file-write"), input.dump());
    auto answer = parse_json(ran.out);
    return answer ? *answer : Json();
}

}

TEST_CASE("file_write: schema to the letter")
{
    CHECK(run({.argv = {tool("file-write"), "--schema"}}).out ==
          R"~({"name":"file_write","description":"Write content to a file (creates or overwrites)","parameters":{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute or relative path to file"},"content":{"type":"string","description":"Content to write to file"}},"required":["file_path","content"]}})~");
}

TEST_CASE("file_write: a new file")
{
    Folder folder;
    CHECK(writing("a", "Hello, world!\n") == wrote(14, "a"));
    CHECK(folder.read("a") == "Hello, world!\n");
    CHECK(writing(folder / "b", "") == wrote(0, "b"));
    CHECK(writing("./c", "é") == wrote(2, "c"));
    CHECK(writing("d", std::string("x\0y", 3)) == wrote(3, "d"));
    CHECK(folder.read("d") == std::string("x\0y", 3));
    CHECK(listing() == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(run({.argv = {tool("file-write")}, .input = R"({"content":"x","file_path":"a"})"}).out == R"({"output":"Wrote 1 bytes to a","bytes":1})");
}

TEST_CASE("file_write: the umask holds for a new file")
{
    Folder folder;
    sh("umask 027; " + tool("file-write"), arguments("a", "x").dump());
    sh("umask 0; " + tool("file-write"), arguments("b", "x").dump());
    CHECK((info("a").st_mode & 07777) == 0640);
    CHECK((info("b").st_mode & 07777) == 0666);
}

TEST_CASE("file_write: what an old file keeps")
{
    Folder folder;
    folder.write("a", "old", 04751);
    if (is_root())
        REQUIRE(chown("a", 65534, 4) == 0);
    REQUIRE(chmod("a", 04751) == 0);
    bool attributes = setxattr("a", "user.note", "kept", 4, 0) == 0;
    auto before = info("a");
    CHECK(writing("a", "new") == wrote(3, "a"));
    auto after = info("a");
    CHECK(folder.read("a") == "new");
    CHECK(after.st_mode == before.st_mode);
    CHECK(after.st_uid == before.st_uid);
    CHECK(after.st_gid == before.st_gid);
    CHECK(after.st_ino != before.st_ino);
    char note[8] = {};
    if (attributes)
        CHECK((getxattr("a", "user.note", note, sizeof note) == 4 && std::string(note) == "kept"));
    CHECK(listing() == std::vector<std::string>{"a"});
}

TEST_CASE("file_write: access lists stay, and the folder's default is not added")
{
    Folder folder;
    // version 2; user::rw-, user:65534:rw-, group::r--, mask::rw-, other::---
    const unsigned char list[] = {2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 254, 255, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
                                  16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255};
    constexpr auto access_list = "system.posix_acl_access";
    folder.write("listed", "old");
    folder.write("plain", "old", 0640);
    if (setxattr("listed", access_list, list, sizeof list, 0) < 0)
        return skip("no access lists on this file system");
    REQUIRE(setxattr(".", "system.posix_acl_default", list, sizeof list, 0) == 0);
    writing("listed", "new");
    writing("plain", "new");
    char value[64];
    CHECK(getxattr("listed", access_list, value, sizeof value) == sizeof list);
    CHECK(std::string(value, sizeof list) == std::string(reinterpret_cast<const char*>(list), sizeof list));
    CHECK(getxattr("plain", access_list, value, sizeof value) < 0);
    CHECK((info("plain").st_mode & 0777) == 0640);
    writing("fresh", "new");
    CHECK(getxattr("fresh", access_list, value, sizeof value) == sizeof list);
}

TEST_CASE("file_write: links stay links")
{
    Folder folder;
    folder.write("real/a", "old");
    fs::create_symlink("real/a", "one");
    fs::create_symlink("one", "two");
    fs::create_symlink("real/new", "dangling");
    fs::create_symlink("no/such/folder", "lost");
    CHECK(writing("two", "new") == wrote(3, "two"));
    CHECK(fs::is_symlink("two"));
    CHECK(fs::is_symlink("one"));
    CHECK(folder.read("real/a") == "new");
    CHECK(writing("dangling", "made") == wrote(4, "dangling"));
    CHECK(fs::is_symlink("dangling"));
    CHECK(folder.read("real/new") == "made");
    CHECK(writing("lost", "x") == refusal("Cannot open file: lost", "OPEN_FAILED"));
}

TEST_CASE("file_write: hard links stay one file")
{
    Folder folder;
    folder.write("a", "something old and longer");
    fs::create_hard_link("a", "b");
    CHECK(writing("a", "new") == wrote(3, "a"));
    CHECK(folder.read("b") == "new");
    CHECK(info("a").st_ino == info("b").st_ino);
    CHECK(writing("b", std::string(300'000, 'x')) == wrote(300'000, "b"));
    CHECK(folder.read("a") == std::string(300'000, 'x'));
    CHECK(listing() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("file_write: a file in a folder that may not be written")
{
    Folder folder;
    folder.write("a", "old", 0666);
    by_a_user(arguments("/dev/null", ""));   // brings the program into the folder
    chmod(".", 0555);
    CHECK(by_a_user(arguments("a", "new")) == wrote(3, "a"));
    CHECK(folder.read("a") == "new");
    CHECK(by_a_user(arguments("b", "new")) == refusal("Permission denied: b", "PERMISSION_DENIED"));
    chmod(".", 0755);
    CHECK(listing() == std::vector<std::string>{"a", "file-write"});
}

TEST_CASE("file_write: a file that may not be written in a folder that may")
{
    Folder folder;
    chmod(".", 0777);
    folder.write("a", "old", 0444);
    CHECK(by_a_user(arguments("a", "new")) == refusal("Permission denied: a", "PERMISSION_DENIED"));
    CHECK(folder.read("a") == "old");
}

TEST_CASE("file_write: another's file keeps its owner")
{
    if (!is_root())
        return skip("only root can make another's file");
    Folder folder;
    folder.write("a", "old", 0666);
    chmod(".", 0777);
    CHECK(by_a_user(arguments("a", "new")) == wrote(3, "a"));
    chmod(".", 01777);
    CHECK(by_a_user(arguments("a", "newer")) == wrote(5, "a"));
    CHECK(folder.read("a") == "newer");
    CHECK(info("a").st_uid == 0);
}

TEST_CASE("file_write: errors of opening")
{
    Folder folder;
    folder.write("file", "x");
    fs::create_directory("dir");
    REQUIRE(mkfifo("fifo", 0644) == 0);
    auto failed = [](const std::string& path) { return refusal("Cannot open file: " + path, "OPEN_FAILED"); };
    for (std::string path : {"no/such/folder", "dir", "dir/", ".", "new/", "file/x", "fifo", ""})
        CHECK(writing(path, "y") == failed(path));
    auto longest = std::string(300, 'n');
    CHECK(writing(longest, "y") == failed(longest));
    CHECK(folder.read("file") == "x");
    CHECK(listing() == std::vector<std::string>{"dir", "fifo", "file"});
}

TEST_CASE("file_write: devices and pipes are written directly")
{
    Folder folder;
    CHECK(writing("/dev/null", "x") == wrote(1, "null"));
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(writing("/dev/full", "x") == refusal("No space left on device: /dev/full", "NO_SPACE"));
    auto ran = sh("mkfifo fifo; exec 5<>fifo; " + tool("file-write") + "; head -c 7 <&5", R"({"file_path":"fifo","content":"through"})");
    CHECK(ran.out == wrote(7, "fifo").dump() + "through");
}

TEST_CASE("file_write: files of the kernel are written directly")
{
    Folder folder;
    CHECK(writing("/proc/self/comm", "renamed") == wrote(7, "comm"));
    CHECK(writing("/proc/self/timerslack_ns", "not a number") == refusal("Failed to write file: /proc/self/timerslack_ns", "WRITE_FAILED"));
}

TEST_CASE("file_write: a limit on file sizes is an error, and the old content stays")
{
    Folder folder;
    folder.write("a", "old");
    folder.write("b", "old");
    fs::create_hard_link("b", "c");
    for (std::string name : {"a", "b"}) {
        auto ran = sh("ulimit -f 8; exec " + tool("file-write"), arguments(name, std::string(100'000, 'x')).dump());
        CHECK(ran.status == 0);
        CHECK(ran.out == refusal("Failed to write file: " + name, "WRITE_FAILED").dump());
        CHECK(folder.read(name) == "old");
    }
    CHECK(listing() == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("file_write: a full disk leaves the old content")
{
    Folder folder;
    fs::create_directory("disk");
    if (mount("none", "disk", "tmpfs", 0, "size=1m") < 0)
        return skip("a small file system cannot be mounted here");
    folder.write("disk/a", std::string(400'000, 'o'));
    folder.write("disk/linked", std::string(100'000, 'o'));
    fs::create_hard_link("disk/linked", "disk/other");
    for (std::string path : {"disk/a", "disk/linked", "disk/new"})
        CHECK(writing(path, std::string(2'000'000, 'x')) == refusal("No space left on device: " + path, "NO_SPACE"));
    // Room for the new content once, but not for the old one and a copy too.
    auto tight = writing("disk/linked", std::string(300'000, 'x'));
    CHECK(tight == refusal("No space left on device: disk/linked", "NO_SPACE"));
    CHECK(folder.read("disk/a") == std::string(400'000, 'o'));
    CHECK(folder.read("disk/linked") == std::string(100'000, 'o'));
    CHECK(!folder.exists("disk/new"));
    CHECK(std::distance(fs::directory_iterator("disk"), {}) == 3);
    umount2("disk", MNT_DETACH);
}

TEST_CASE("file_write: a mount point is overwritten in place")
{
    Folder folder;
    folder.write("a", "old");
    folder.write("b", "under");
    if (mount("a", "b", nullptr, MS_BIND, nullptr) < 0)
        return skip("files cannot be mounted here");
    CHECK(writing("b", "new") == wrote(3, "b"));
    CHECK(folder.read("a") == "new");
    umount2("b", MNT_DETACH);
    CHECK(folder.read("b") == "under");
    CHECK(listing() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("file_write: a failure at any step leaves the old content")
{
    if (!can_inject())
        return skip("strace cannot trace here");
    Folder folder;
    folder.write("a", "old content");
    folder.write("b", "old content");
    fs::create_hard_link("b", "c");
    for (std::string fault : {"fsync:error=EIO:when=1", "fsync:error=EDQUOT:when=1"})
        CHECK(!with_fault(fault, arguments("a", "new")).text("error_code").empty());
    // In place: the copy fails everywhere; no room; the first write, the length, the disk fail.
    for (std::string fault : {"fsync:error=EIO:when=1..4", "fallocate:error=ENOSPC:when=1", "write:error=EIO:when=3", "ftruncate:error=EIO:when=2", "fsync:error=EIO:when=2"}) {
        INFO(fault);
        auto answer = with_fault(fault, arguments("b", "new and quite a bit longer than before"));
        CHECK(!answer.text("error_code").empty());
        CHECK(answer.text("hint").empty());
        CHECK(folder.read("c") == "old content");
        CHECK(listing() == std::vector<std::string>{"a", "b", "c"});
    }
    CHECK(folder.read("a") == "old content");
}

TEST_CASE("file_write: where the old content cannot be restored its copy stays, and the answer names it")
{
    if (!can_inject())
        return skip("strace cannot trace here");
    Folder folder;
    folder.write("b", "old content");
    fs::create_hard_link("b", "c");
    auto hint = with_fault("ftruncate:error=EIO:when=2+", arguments("b", "new"));
    std::string text(hint.text("hint"));
    REQUIRE(text.starts_with("the old content is in ./.ikigai-old-"));
    CHECK(folder.read(text.substr(text.find("./"))) == "old content");
}

TEST_CASE("file_write: file systems without nameless files")
{
    if (!can_inject())
        return skip("strace cannot trace here");
    Folder folder;
    folder.write("a", "old", 0640);
    CHECK(with_fault("linkat:error=EPERM", arguments("a", "new")) == wrote(3, "a"));
    CHECK(folder.read("a") == "new");
    CHECK((info("a").st_mode & 0777) == 0640);
    CHECK(with_fault("linkat:error=EPERM", arguments("c", "fresh")) == wrote(5, "c"));
    CHECK(folder.read("c") == "fresh");
    CHECK(with_fault("linkat:error=EPERM -e inject=fsync:error=EDQUOT:when=2", arguments("d", "fresh")) == refusal("No space left on device: d", "NO_SPACE"));
    CHECK(with_fault("access:error=ENOENT", arguments("a", "newer")) == wrote(5, "a"));
    CHECK(with_fault("access:error=ENOENT", arguments("b", "fresh")) == wrote(5, "b"));
    CHECK(folder.read("a") == "newer");
    CHECK(folder.read("b") == "fresh");
    CHECK(!with_fault("access:error=ENOENT -e inject=fsync:error=EIO", arguments("a", "x")).text("error_code").empty());
    CHECK(listing() == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("file_write, file_edit: a kill at any moment leaves the old or the new content")
{
    Folder folder;
    const std::string a(3'000'000, 'a'), b(3'000'000, 'b');
    folder.write("file", a);
    folder.write("write-a", arguments("file", a).dump());
    folder.write("write-b", arguments("file", b).dump());
    folder.write("edit-a", R"({"file_path":"file","old_string":"bbbbbbbbbb","new_string":"aaaaaaaaaa","replace_all":true})");
    folder.write("edit-b", R"({"file_path":"file","old_string":"aaaaaaaaaa","new_string":"bbbbbbbbbb","replace_all":true})");
    Fd nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));

    auto start = [&](const std::string& name, const std::string& input) {
        Fd in(open(input.c_str(), O_RDONLY | O_CLOEXEC));
        auto process = Process::start({.argv = {tool(name)}, .env = environment(), .in = in.get(), .out = nothing.get()});
        REQUIRE(process);
        return std::move(*process);
    };
    auto ended = [](Process& process) {
        Exit exit;
        return eventually([&] { return process.reap(exit); });
    };
    auto now = [] { return std::chrono::steady_clock::now(); };

    auto content_now = [] {
        std::string content(fs::file_size("file"), '\0');
        Fd file(open("file", O_RDONLY | O_CLOEXEC));
        content.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, read_some(file.get(), content.data(), content.size()))));
        return content;
    };

    auto begun = now();
    auto whole = start("file-write", "write-a");
    REQUIRE(ended(whole));
    auto usual = std::chrono::duration_cast<std::chrono::microseconds>(now() - begun).count();

    std::mt19937 random(1);
    int changed = 0;
    for (int round = 0; round < 100; ++round) {
        bool to_b = content_now() == a, edit = round % 2;
        auto moment = now() + std::chrono::microseconds(std::uniform_int_distribution<long>(0, usual + usual / 2)(random));
        auto process = start(edit ? "file-edit" : "file-write", std::string(edit ? "edit-" : "write-") + (to_b ? "b" : "a"));
        while (now() < moment)
            ;   // the moment itself is what is tried out
        kill(process.id(), SIGKILL);
        REQUIRE(ended(process));
        auto content = content_now();
        INFO("round " << round);
        REQUIRE((content == a || content == b));
        changed += content == (to_b ? b : a);
    }
    INFO(changed << " of 100 were done before the kill");
    for (auto& name : listing())
        CHECK((name.starts_with(".ikigai-new-") || name == "file" || name.ends_with("-a") || name.ends_with("-b")));
}
