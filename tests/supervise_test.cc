// Nothing is left behind, however ikigai ends.
#include "support/server.h"
#include "support/world.h"

#include "base/cgroup.h"
#include "base/child.h"
#include "base/family.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

// `ikigai run` of a command that leaves a daemon of its own session behind and then waits, in a home.
struct Scene {
    Home home;
    Child child;

    Scene() : child(start()) {}

    Child start()
    {
        std::vector<std::string> env = environment();
        env.push_back("HOME=" + home.path);
        auto arguments = R"({"command":"setsid sh -c 'echo $$ > daemon; trap : TERM; while :; do sleep 0.1; done' & echo $$ > shell; while ! [ -s daemon ]; do sleep 0.01; done; touch up; sleep 300"})";
        auto started = Child::start({.argv = {ikigai(), "run", "bash", arguments}, .env = env, .no_stdin = true, .limit = std::chrono::seconds(60)});
        REQUIRE(started);
        return std::move(*started);
    }

    void wait_until_up() const { REQUIRE(eventually([&] { return home.exists("up") && home.read("shell").ends_with('\n'); })); }
    pid_t id(const char* file) const { return static_cast<pid_t>(std::stoi(home.read(file))); }
    pid_t inner() const { return static_cast<pid_t>(std::stoi(sh("pgrep -P " + std::to_string(child.id())).out)); }

    void finish()
    {
        while (!child.exit) {
            Poll poll;
            child.add_to(poll);
            poll.wait();
            child.advance(poll);
        }
    }
};


bool groups_can_be_made()
{
    Cgroups probe("ikigai-probe-" + std::to_string(getpid()));
    return probe.make("1", {.processes = 100}).has_value();
}

}

TEST_CASE("supervise: the inner process is killed")
{
    Scene scene;
    scene.wait_until_up();
    kill(scene.inner(), SIGKILL);
    scene.finish();
    CHECK(scene.child.exit->signal == SIGKILL);
    CHECK_FALSE(runs(scene.id("shell")));
    CHECK_FALSE(runs(scene.id("daemon")));
}

TEST_CASE("supervise: the inner process is killed with the terminal in its hands")
{
    int m, s;
    REQUIRE(openpty(&m, &s, nullptr, nullptr, nullptr) == 0);
    Fd master(m), slave(s);
    Home home;
    auto env = home.env({"TERM=xterm-256color"});
    auto program = Process::start({.argv = {ikigai(), "run", "bash", R"({"command":"touch up; sleep 300"})"}, .env = env, .in = s, .out = s, .err = s});
    REQUIRE(program);
    REQUIRE(eventually([&] { return home.exists("up"); }));
    termios before{}, after{};
    tcgetattr(s, &before);
    auto raw = before;
    cfmakeraw(&raw);
    tcsetattr(s, TCSANOW, &raw);   // as a conversation would
    kill(static_cast<pid_t>(std::stoi(sh("pgrep -P " + std::to_string(program->id())).out)), SIGKILL);
    std::string seen;
    Exit exit;
    make_nonblocking(master);
    REQUIRE(eventually([&] {
        char bytes[4096];
        auto n = read_some(m, bytes, sizeof bytes);
        if (n > 0) seen.append(bytes, static_cast<std::size_t>(n));
        return program->reap(exit);
    }));
    tcgetattr(s, &after);
    CHECK(after.c_lflag == before.c_lflag);
    CHECK(after.c_iflag == before.c_iflag);
    char bytes[4096];
    for (std::ptrdiff_t n; (n = read_some(m, bytes, sizeof bytes)) > 0;) seen.append(bytes, static_cast<std::size_t>(n));
    CHECK(seen.find("\x1b[?2004l\x1b[?7h\x1b[?25h\r\n\x1b[J") != std::string::npos);
}

TEST_CASE("supervise: the outer process is killed")
{
    Scene scene;
    scene.wait_until_up();
    auto inner = scene.inner();
    kill(scene.child.id(), SIGKILL);
    scene.finish();
    CHECK(eventually([&] { return !runs(inner) && !runs(scene.id("shell")) && !runs(scene.id("daemon")); }));
}

TEST_CASE("supervise: a signal is handed on, and its status comes back")
{
    for (int number : {SIGTERM, SIGINT, SIGHUP}) {
        Scene scene;
        scene.wait_until_up();
        kill(scene.child.id(), number);
        scene.finish();
        CHECK(scene.child.exit->signal == number);
        CHECK_FALSE(runs(scene.id("shell")));
        CHECK_FALSE(runs(scene.id("daemon")));
    }
}

TEST_CASE("supervise: what a tool leaves running ends with ikigai")
{
    Home home;
    auto ran = ikigai(home, {"run", "bash", R"({"command":"setsid sleep 300 & echo $!"})"});
    auto envelope = parse_json(ran.out);
    REQUIRE(envelope);
    CHECK_FALSE(runs(static_cast<pid_t>(std::stoi(std::string(envelope->find("result")->text("output"))))));
}

TEST_CASE("supervise: what a tool leaves running is said")
{
    Home home;
    auto ran = ikigai(home, {"run", "bash", R"({"command":"setsid sleep 4711 & while ! pgrep -s $! >/dev/null; do :; done"})"});
    INFO(ran.err);
    CHECK(ran.err.starts_with("bash left 1 process running: "));
    CHECK(ran.err.ends_with(" sleep 4711; ended\n"));
    CHECK(ikigai(home, {"run", "bash", R"({"command":"sleep 0"})"}).err == "");
}

TEST_CASE("supervise: all that is called ikigai killed at once")
{
    if (!groups_can_be_made())
        return skip("no control group can be made here");
    Scene scene;
    scene.wait_until_up();
    auto shell = scene.id("shell"), daemon = scene.id("daemon");
    int killed = 0;
    for (auto& each : descendants(scene.child.id()))
        if (sh("cat /proc/" + std::to_string(each.id) + "/comm").out == "ikigai\n") killed += kill(each.id, SIGKILL) == 0;
    kill(scene.child.id(), SIGKILL);
    CHECK(killed >= 1);
    scene.finish();
    CHECK(eventually([&] { return !runs(shell) && !runs(daemon); }));
}

TEST_CASE("supervise: both killed at once")
{
    bool groups = groups_can_be_made();
    Scene scene;
    scene.wait_until_up();
    auto inner = scene.inner(), shell = scene.id("shell"), daemon = scene.id("daemon"), group = getpgid(shell);
    kill(scene.child.id(), SIGSTOP);
    kill(inner, SIGKILL);
    kill(scene.child.id(), SIGKILL);
    scene.finish();
    CHECK(eventually([&] { return !runs(inner) && !runs(shell); }));
    if (groups) {
        CHECK(eventually([&] { return !runs(daemon); }));
        return;
    }
    // What the shell had started, and a session of its own: only a control group could hold them.
    kill(-group, SIGKILL);
    kill(daemon, SIGKILL);
}

TEST_CASE("supervise: as process 1 it takes leave of strangers, and leaves nothing")
{
    if (!is_root())
        return skip("needs root for a process namespace");
    Home home;
    // Strangers whose parents end at once come to process 1, while it runs.
    auto command = R"({"command":"for i in 1 2 3 4 5; do setsid sh -c 'sleep 0.05 &' ; done; sleep 0.3; grep -l '^State:.Z' /proc/[0-9]*/status | wc -l; setsid sleep 300 & until grep -q sleep /proc/$!/comm; do :; done; cat /proc/1/comm"})";
    auto ran = run({.argv = {"/usr/bin/unshare", "--pid", "--fork", "--mount-proc", ikigai(), "run", "bash", command}, .env = home.env()});
    INFO(ran.out << ran.err);
    if (ran.err.find("unshare failed") != std::string::npos)
        return skip("process namespaces cannot be made here");
    CHECK(ran.status == 0);
    CHECK(ran.out.find(R"("output":"0\nikigai")") != std::string::npos);
    CHECK(ran.err.find("sleep 300; ended") != std::string::npos);
}
