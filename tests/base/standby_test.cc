#include "base/standby.h"

#include "base/child.h"
#include "base/landlock.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

constexpr int not_permitted = 126;

// Nothing may be written but in the folder.
struct Rules {
    landlock::Ruleset ruleset = *landlock::Ruleset::make(landlock::abi(), false);
    Confinement confinement;

    explicit Rules(const std::string& folder)
    {
        ruleset.allow("/", landlock::reading);
        ruleset.allow("/dev/null", landlock::reading | landlock::writing);
        ruleset.allow(folder, landlock::reading | landlock::writing);
        confinement.ruleset = ruleset.fd();
    }
};

Standby waiting(const Confinement& confinement)
{
    auto standby = Standby::start({ikigai(), "standby"}, confinement);
    REQUIRE(standby);
    return std::move(*standby);
}

std::string said(const Fd& out)
{
    std::string all;
    char some[65536];
    for (std::ptrdiff_t n; (n = read_some(out.get(), some, sizeof some)) > 0;)
        all.append(some, static_cast<std::size_t>(n));
    return all;
}

bool gone(pid_t id) { return kill(id, 0) < 0 && errno == ESRCH; }

bool missing() { return landlock::abi() ? false : (skip("this kernel has no Landlock"), true); }

}

TEST_CASE("standby: it becomes the program, confined as it was from the start, with that program's files, limits and variables")
{
    if (missing()) return;
    Folder folder, elsewhere;
    Rules rules(folder.path);
    auto standby = waiting(rules.confinement);
    auto id = standby.id();
    CHECK(standby.waits());
    auto in = make_pipe(), out = make_pipe();
    REQUIRE((in && out && write_all(in->write.get(), "from its stdin")));
    in->write.reset();
    Confinement own{.limits = {{RLIMIT_NOFILE, 77}}};
    std::string large(600'000, 'v');   // more than a socket holds at a time
    auto line = "echo $$; cat; echo; ulimit -n; echo \"$SAID ${#A}${#B}${#C}${#D}${#E}${#F}${#G}${#H}${#I}\"; ls /proc/$$/fd | grep -v '^2$' | tr '\\n' ' '; grep ^CapEff: /proc/self/status; echo x > inside; echo x > "
                + (elsewhere / "file") + " || exit 126";
    std::vector<std::string> env{"PATH=/usr/bin:/bin", "SAID=yes"};
    for (char name = 'A'; name <= 'I'; ++name) env.push_back(name + ("=" + large.substr(0, 100'000)));   // each variable has its own limit
    auto none = nothing();
    auto process = std::move(standby).become({.argv = {"/bin/sh", "-c", "cd '" + folder.path + "'; " + line}, .env = env, .in = in->read.get(),
                                              .out = out->write.get(), .err = none.get(), .confinement = &own});
    REQUIRE(process);
    out->write.reset();
    CHECK(process->id() == id);
    auto text = said(out->read);
    CHECK(text == std::to_string(id) + "\nfrom its stdin\n77\nyes 100000100000100000100000100000100000100000100000100000\n0 1 CapEff:\t0000000000000000\n");
    CHECK(process->wait() == Exit{not_permitted, 0});
    CHECK(folder.read("inside") == "x\n");
    CHECK(access((elsewhere / "file").c_str(), F_OK) < 0);
}

TEST_CASE("standby: where it cannot become the program, nothing runs and nothing stays")
{
    if (missing()) return;
    Folder folder;
    Rules rules(folder.path);
    auto try_with = [&](Standby standby, const Program& program) {
        auto id = standby.id();
        {
            auto used = std::move(standby);
            if (std::move(used).become(program)) return false;
        }
        return gone(id);
    };
    Program touch{.argv = {"/usr/bin/touch", folder / "made"}, .env = {}};
    CHECK(try_with(waiting(rules.confinement), {.argv = {"/no/such"}, .env = {}}));
    CHECK(try_with(waiting(rules.confinement), {.argv = {folder.path}, .env = {}}));

    auto killed = waiting(rules.confinement);
    kill(killed.id(), SIGKILL);
    CHECK(eventually([&] { return !killed.waits(); }));
    CHECK(try_with(std::move(killed), touch));

    auto huge = touch;
    huge.env.assign(20, std::string(1 << 20, 'x'));
    CHECK(try_with(waiting(rules.confinement), huge));
    Fd read_only(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Confinement no_door{.join = {read_only.get()}};   // which cannot be written to, as a group that may not be entered
    auto locked = touch;
    locked.confinement = &no_door;
    CHECK(try_with(waiting(rules.confinement), locked));
    CHECK_FALSE(std::filesystem::exists(folder / "made"));

    // A start that has one goes on without it.
    auto standby = waiting(rules.confinement);
    kill(standby.id(), SIGKILL);
    CHECK(eventually([&] { return !standby.waits(); }));
    auto child = Child::start({.argv = touch.argv, .env = {}, .confinement = &rules.confinement, .standby = &standby});
    REQUIRE(child);
    wait_for(*child);
    CHECK(*child->exit == Exit{});
    CHECK(std::filesystem::exists(folder / "made"));
}

TEST_CASE("standby: it ends with those who might have asked")
{
    if (missing()) return;
    Folder folder;
    Rules rules(folder.path);
    pid_t id = 0;
    {
        auto standby = waiting(rules.confinement);
        id = standby.id();
    }
    CHECK(gone(id));
    auto by_hand = run({.argv = {ikigai(), "standby"}, .input = "x"});
    CHECK(by_hand.status == 2);
    CHECK(by_hand.err == "ikigai: standby: ikigai itself starts this, with a socket as its stdin\n");
    CHECK(Standby::start({folder / "none", "standby"}, rules.confinement).error().code == code::spawn_failed);
}
