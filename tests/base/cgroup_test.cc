#include "base/cgroup.h"
#include "base/child.h"
#include "base/family.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

std::string name() { return "ikigai-test-" + std::to_string(getpid()); }

Result<Child> start_in(const Cgroup& group, const std::string& script)
{
    Confinement confinement{.join = group.doors()};
    return Child::start({.argv = {"/bin/sh", "-c", script}, .no_stdin = true, .confinement = &confinement, .limit = std::chrono::seconds(30)});
}

}

TEST_CASE("cgroup: where none can be made there is none")
{
    Cgroups groups(name(), "/no/such/root");
    CHECK_FALSE(groups.make("1", {.processes = 5}));
    CHECK(groups.guard() == 0);
}

TEST_CASE("cgroup: members, limits, and the end of all")
{
    Cgroups groups(name());
    auto group = groups.make("1", {.memory = 64 << 20, .processes = 20});
    if (!group || !group->limits_processes())
        return skip("no control group can be made here");
    CHECK(group->limits_memory());
    auto child = start_in(*group, "setsid sleep 300 & sleep 300 & wait; kill -STOP $$");
    REQUIRE(child);
    CHECK(eventually([&] { return group->members().size() == 3; }));
    CHECK_FALSE(group->processes_exceeded());
    CHECK_FALSE(group->memory_exceeded());
    CHECK_FALSE(group->remove());
    group->kill(child->id());
    CHECK(eventually([&] { return group->members() == std::vector<pid_t>{child->id()}; }));
    group->kill();
    wait_for(*child);
    CHECK(eventually([&] { return group->remove(); }));
}

TEST_CASE("cgroup: too many processes are noticed")
{
    Cgroups groups(name());
    auto group = groups.make("1", {.processes = 5});
    if (!group || !group->limits_processes())
        return skip("no control group can be made here");
    auto child = start_in(*group, "for i in 1 2 3 4 5 6 7 8; do sleep 300 & done; wait");
    REQUIRE(child);
    CHECK(eventually([&] { return group->processes_exceeded(); }));
    group->kill();
    wait_for(*child);
    CHECK(eventually([&] { return group->remove(); }));
}

TEST_CASE("family: descendants, their age and words")
{
    auto child = Child::start({.argv = {"/bin/sh", "-c", "sleep 300 & sleep 300 & wait; kill -STOP $$"}, .env = {"IKIGAI_TOOL=some tool", "PATH=/bin:/usr/bin"}, .no_stdin = true});
    REQUIRE(child);
    REQUIRE(eventually([&] { return descendants(child->id()).size() == 2; }));
    auto one = descendants(child->id())[0];
    CHECK(one.parent == child->id());
    CHECK(one.session == child->id());
    CHECK(lives(one));
    CHECK(age(one) < std::chrono::seconds(60));
    CHECK(eventually([&] { return command_line(one.id) == "sleep 300"; }));
    CHECK(variable_of(one.id, "IKIGAI_TOOL") == "some tool");
    CHECK(variable_of(one.id, "IKIGAI") == "");
    CHECK(kill_in_rounds([&](auto& all) { std::erase_if(all, [&](auto& each) { return each.session != child->id(); }); }, std::chrono::seconds(5)));
    CHECK_FALSE(lives(one));
    wait_for(*child);
    CHECK(child->exit->signal == SIGKILL);
    CHECK(command_line(child->id()) == "");
}
