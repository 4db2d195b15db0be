#include "base/child.h"

#include "support/world.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace ik;
using namespace std::chrono_literals;

namespace {

Child finish(Child child)
{
    while (!child.exit) {
        Poll poll;
        child.add_to(poll);
        poll.wait();
        child.advance(poll);
    }
    return child;
}

Child sh(const char* script, Child::Options options = {.argv = {}})
{
    options.argv = {"/bin/sh", "-c", script};
    auto child = Child::start(std::move(options));
    REQUIRE(child);
    return std::move(*child);
}

}

TEST_CASE("child: it is given its input and heard to the end")
{
    auto child = finish(sh("cat; echo oops >&2; exit 3", {.argv = {}, .input = std::string(10 << 20, 'x')}));
    CHECK(child.out.size() == 10 << 20);
    CHECK((child.out == std::string(10 << 20, 'x')));
    CHECK(child.err == "oops\n");
    CHECK(*child.exit == Exit{3, 0});
}

TEST_CASE("child: one that leaves a process behind still ends")
{
    auto child = finish(sh("sleep 300 & echo $!; exit 0"));
    CHECK(child.exit->code == 0);
    kill(static_cast<pid_t>(std::stoi(child.out)), SIGKILL);
}

TEST_CASE("child: a missing program is an Error, not an exit")
{
    auto child = Child::start({.argv = {"/no/such/program"}});
    REQUIRE_FALSE(child);
    CHECK(child.error().message == "/no/such/program: No such file or directory");
}

TEST_CASE("child: it ends at its limit, also when it ignores SIGTERM or has stopped itself")
{
    for (auto* script : {"sleep 300", "trap '' TERM; echo up; while :; do sleep 0.01; done", "kill -STOP $$"}) {
        auto child = finish(sh(script, {.argv = {}, .limit = 50ms, .grace = 100ms}));
        CHECK(child.timed_out());
        CHECK(child.exit->signal != 0);
    }
}

TEST_CASE("child: too much output stops it")
{
    auto child = finish(sh("yes", {.argv = {}, .max_out = 1 << 20}));
    CHECK(child.too_much());
    CHECK(child.out.size() == 1 << 20);
}

TEST_CASE("child: its group dies with its owner")
{
    test::Folder folder;
    std::string pid;
    {
        auto child = sh("sleep 300 & echo $! > pid; wait");
        CHECK(test::eventually([&] { return !(pid = folder.read("pid")).empty(); }));
    }
    CHECK(test::eventually([&] { return kill(static_cast<pid_t>(std::stoi(pid)), 0) < 0; }));
}

TEST_CASE("child: SIGPIPE has its default again, no signal is blocked, no descriptor is inherited")
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    auto child = finish(sh("grep SigBlk /proc/self/status; case $(grep SigIgn /proc/self/status) in *[02468ace][0-9a-f][0-9a-f][0-9a-f]) echo heard;; esac; ls /proc/self/fd | tr '\\n' ' '; ps -o sid=,pid= -p $$ | awk '{print ($1==$2)}'"));
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    CHECK(child.out == "SigBlk:\t0000000000000000\nheard\n0 1 2 3 1\n");   // SIGPIPE is bit 12; 3: ls reading the folder
}

TEST_CASE("child: what it gives up, it cannot take back")
{
    Confinement confinement{.limits = {{RLIMIT_NOFILE, 40}}};
    auto child = finish(sh("ulimit -n; ulimit -n 50 2>/dev/null; ulimit -n", {.argv = {}, .confinement = &confinement}));
    CHECK(child.out.starts_with("40\n"));
    if (!test::is_root()) CHECK(child.out == "40\n40\n");
}

TEST_CASE("child: it hears the end of its input at once, also where there was nothing more to say")
{
    auto child = finish([] {
        auto cat = sh("cat", {.argv = {}, .keep_stdin = true, .limit = 20s});
        cat.hang_up();
        return cat;
    }());
    CHECK(child.exit->status() == 0);
    CHECK_FALSE(child.timed_out());
}

TEST_CASE("child: a signal to one that has ended reaches nobody")
{
    auto child = Child::start({.argv = {"/bin/true"}, .no_stdin = true});
    REQUIRE(child);
    wait_for(*child);
    // With the number that stands for all processes these would be allowed.
    CHECK((kill(child->id(), 0) == -1 && errno == ESRCH));
    CHECK((kill(-child->id(), 0) == -1 && errno == ESRCH));
}
