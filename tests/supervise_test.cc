// Nothing is left behind, however ikigai ends.
#include "support/server.h"
#include "support/world.h"

#include "base/child.h"

#include <catch2/catch.hpp>
#include <csignal>
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

TEST_CASE("supervise: both killed at once, the tool dies too")
{
    Scene scene;
    scene.wait_until_up();
    auto inner = scene.inner(), shell = scene.id("shell"), daemon = scene.id("daemon"), group = getpgid(shell);
    kill(scene.child.id(), SIGSTOP);
    kill(inner, SIGKILL);
    kill(scene.child.id(), SIGKILL);
    scene.finish();
    CHECK(eventually([&] { return !runs(inner) && !runs(shell); }));
    // What the shell had started, and a session of its own: only a cgroup could hold them.
    kill(-group, SIGKILL);
    kill(daemon, SIGKILL);
}
