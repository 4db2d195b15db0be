// What was acknowledged is there afterwards: kills, full disks, damaged files, many at once.
#include "store/keeper.h"

#include "base/text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

std::string long_text(std::int64_t seed) { return "word" + std::to_string(seed) + " " + std::string(static_cast<std::size_t>(seed % 7) * 300, 'x'); }

void fill(const std::string& file, const std::string& session, std::int64_t from, std::int64_t to)
{
    Keeper keeper(file);
    for (auto i = from; i <= to; ++i) keeper.say(event_line(session, i, "user", long_text(i)));
    REQUIRE(keeper.heard("stored", to));
    CHECK(keeper.finish() == 0);
}

void overwrite(const std::string& file, std::int64_t at, std::string_view bytes)
{
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(at);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The events that load gives in order, how many; each as fill wrote it.
std::int64_t intact(const std::string& file, const std::string& session)
{
    auto events = loaded(file, session);
    for (auto& e : events) CHECK(e.content == long_text(e.seq));
    return static_cast<std::int64_t>(events.size());
}

std::vector<std::string> set_aside(const Folder& folder)
{
    std::vector<std::string> out;
    for (auto& entry : fs::directory_iterator(folder.path))
        if (auto name = entry.path().filename().string(); name.starts_with("s.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")) out.push_back(name);
    return out;
}

struct Damage { std::string notice; std::string code; };

// One event more is written to a damaged file; what is said about it.
Damage write_to(const std::string& file)
{
    Keeper keeper(file);
    keeper.say(event_line("after", 1, "user", "later"));
    auto stored = keeper.heard("stored", 1);
    Damage out{std::string(first(keeper.answers, "notice").text("text")), std::string(first(keeper.answers, "error").text("error_code"))};
    CHECK((stored || !out.code.empty()));
    CHECK(keeper.finish() == 0);
    return out;
}

}

TEST_CASE("store: kill -9 at any moment loses nothing that was acknowledged", "[torture]")
{
    auto* wanted = std::getenv("IKIGAI_KILLS");
    int rounds = wanted ? std::atoi(wanted) : 300;
    constexpr int rounds_a_session = 20;   // short enough to be read after each kill
    Folder folder;
    auto file = folder / "s.db";
    std::mt19937 random(20260101);
    std::int64_t next = 1, acknowledged = 0;
    std::int64_t all = 0;   // of one session, at most
    for (int round = 0; round < rounds; ++round) {
        auto session = "s" + std::to_string(round / rounds_a_session);
        if (round % rounds_a_session == 0) next = 1, acknowledged = 0;
        Keeper keeper(file);
        // Some are killed while they start, the others after some answers and a moment more.
        auto answers = random() % 3 ? random() % 20 : 0;
        std::optional<Clock::time_point> end;
        while (!end || Clock::now() < *end) {
            for (auto i = random() % 5; i > 0; --i, ++next) keeper.say(event_line(session, next, "user", long_text(next)));
            if (random() % 4 == 0) keeper.say("{\"type\":\"turn_end\"}\n");
            keeper.step(std::chrono::milliseconds(1));
            if (!end && keeper.answers.size() >= answers) end = Clock::now() + std::chrono::microseconds(random() % 4000);
        }
        kill(keeper.child.id(), SIGKILL);
        keeper.finish();
        for (auto& answer : keeper.answers)
            if (answer.text("type") == "stored") acknowledged = std::max(acknowledged, *answer.find("seq")->as<std::int64_t>());
            else CHECK(answer.text("type") == "synced");   // no error, nothing set aside
        // Everything up to the last that is there is whole; some may be there whose acknowledgement was not heard.
        auto events = loaded(file, session);
        auto there = static_cast<std::int64_t>(events.size());
        REQUIRE(there >= acknowledged);
        for (std::int64_t i = 0; i < there; ++i) {
            auto& e = events[static_cast<std::size_t>(i)];
            REQUIRE((e.seq == i + 1 && e.content == long_text(e.seq)));
        }
        acknowledged = there;
        all = std::max(all, there);
        next = there + 1;
    }
    CHECK(all > rounds_a_session);
    CHECK(set_aside(folder).empty());
}

TEST_CASE("store: when who speaks to it is killed it keeps what was said and ends")
{
    for (int round = 0; round < 20; ++round) {
        Folder folder;
        // A parent that says a hundred events into the pipe and is killed while the store reads them.
        std::string lines;
        for (int i = 1; i <= 100; ++i) lines += event_line("s", i, "user", long_text(i));
        folder.write("lines", lines);
        auto started = Child::start({.argv = {"/bin/sh", "-c", "{ cat lines; touch said; exec sleep 60; } | " + ikigai() + " store --file s.db >answers & echo $! >id; wait"},
                                     .no_stdin = true});
        REQUIRE(started);
        REQUIRE(eventually([&] { return folder.exists("said"); }));
        kill(-started->id(), SIGTERM);   // the writer and the shell die, the store does not
        auto store = static_cast<pid_t>(std::stoi(folder.read("id")));
        CHECK(eventually([&] { return !runs(store); }));
        CHECK(intact(folder / "s.db", "s") == 100);
        wait_for(*started);
    }
}

TEST_CASE("store: a child that outlives us is not killed with its owner")
{
    Folder folder;
    pid_t id = 0;
    {
        Keeper keeper(folder / "s.db", true);
        id = keeper.child.id();
        keeper.say(event_line("s", 1, "user", long_text(1)));
        keeper.step();
    }   // dropped: its pipes are closed, it is not killed
    CHECK(eventually([&] { return !runs(id); }));
    CHECK(intact(folder / "s.db", "s") == 1);
}

TEST_CASE("store: eight processes write at once, each whole")
{
    Folder folder;
    std::vector<std::unique_ptr<Keeper>> keepers;
    for (int i = 0; i < 8; ++i) keepers.push_back(std::make_unique<Keeper>(folder / "s.db"));
    constexpr std::int64_t each = 150;
    for (std::int64_t seq = 1; seq <= each; ++seq)
        for (int i = 0; i < 8; ++i) {
            keepers[static_cast<std::size_t>(i)]->say(event_line("session" + std::to_string(i), seq, "user", long_text(seq)) + (seq % 50 == 0 ? "{\"type\":\"turn_end\"}\n" : ""));
            keepers[static_cast<std::size_t>(i)]->step(std::chrono::milliseconds(0));
        }
    for (auto& keeper : keepers) {
        CHECK(keeper->heard("stored", each));
        CHECK(first(keeper->answers, "error").null());
        CHECK(keeper->finish() == 0);
    }
    for (int i = 0; i < 8; ++i) CHECK(intact(folder / "s.db", "session" + std::to_string(i)) == each);
}

TEST_CASE("store: a full disk is said once, and when there is room again all of it is stored")
{
    if (!is_root())
        return skip("a small file system can only be mounted by root");
    Folder folder;
    fs::create_directory(folder / "disk");
    if (mount("tmpfs", (folder / "disk").c_str(), "tmpfs", 0, "size=4m") < 0)
        return skip("no tmpfs can be mounted here");
    {
        Keeper keeper(folder / "disk/s.db");
        keeper.say(event_line("s", 1, "user", long_text(1)));
        CHECK(keeper.heard("stored", 1));
        folder.write("disk/ballast", std::string(4 << 20, 'b'));   // as much of it as there is room for
        std::int64_t seq = 1;
        auto failed = [&] { return !first(keeper.answers, "error").null(); };
        while (!failed() && seq < 2000) {
            keeper.say(event_line("s", ++seq, "user", std::string(2000, 'y')));
            auto stored = [&] { return !keeper.answers.empty() && keeper.answers.back().find("seq") && *keeper.answers.back().find("seq") == Json(seq); };
            while (!failed() && !stored() && !keeper.child.exit) keeper.step();
        }
        auto error = first(keeper.answers, "error");
        CHECK(error.text("error_code") == "NO_SPACE");
        CHECK(error.text("error").find("s.db cannot be written: the disk is full") != std::string::npos);
        keeper.say(event_line("s", ++seq, "user", "one more"));
        keeper.ask(R"({"type":"turn_end"})", "synced");
        CHECK(std::ranges::count_if(keeper.answers, [](auto& a) { return a.text("type") == "error"; }) == 1);

        fs::remove(folder / "disk/ballast");
        keeper.ask(R"({"type":"turn_end"})", "synced");
        CHECK(keeper.heard("stored", seq));
        CHECK(keeper.finish() == 0);
        CHECK(static_cast<std::int64_t>(loaded(folder / "disk/s.db", "s").size()) == seq);
    }
    CHECK(umount2((folder / "disk").c_str(), MNT_DETACH) == 0);
}

TEST_CASE("store: where nothing can be written it says so once, and what is there can be read")
{
    Folder folder;
    fill(folder / "s.db", "s", 1, 3);
    auto as_nobody = [&](const std::string& line) {
        if (is_root()) return sh("chmod 444 s.db* && setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '" + line + "'");
        return sh("chmod 444 s.db*; chmod 555 .; " + line + "; chmod 755 .");
    };
    folder.write("lines", event_line("s", 4, "user", "x") + event_line("s", 5, "user", "y") + "{\"type\":\"turn_end\"}\n");
    auto ran = as_nobody(ikigai() + " store --file s.db <lines");
    CHECK(ran.out.find("\"stored\"") == std::string::npos);
    CHECK(ran.out.find("PERMISSION_DENIED") != std::string::npos);
    CHECK(std::ranges::count(ran.out, '\n') == 2);   // the error and `synced`
    folder.write("ask", "{\"type\":\"load\",\"session\":\"s\"}\n");
    ran = as_nobody(ikigai() + " store --file s.db <ask");
    CHECK(ran.out.find("\"events\":3}") != std::string::npos);
}

TEST_CASE("store: a database of a newer version, or of another program, is not touched")
{
    Folder folder;
    fill(folder / "s.db", "s", 1, 3);
    overwrite(folder / "s.db", 60, std::string_view("\0\0\0\x63", 4));
    auto before = folder.read("s.db");
    Keeper keeper(folder / "s.db");
    keeper.say(event_line("s", 4, "user", "x") + event_line("s", 5, "user", "y"));
    auto error = first(keeper.ask(R"({"type":"turn_end"})", "synced"), "error");
    CHECK(error.text("error_code") == "STORE_NEWER");
    CHECK(error.text("error").find("its schema is 99") != std::string::npos);
    CHECK(keeper.finish() == 0);
    CHECK(std::ranges::count_if(keeper.answers, [](auto& a) { return a.text("type") == "error"; }) == 1);
    CHECK(folder.read("s.db") == before);
    CHECK(set_aside(folder).empty());
}

TEST_CASE("store: a truncated file is set aside, and what it still holds is saved")
{
    Folder folder;
    auto file = folder / "s.db";
    fill(file, "s", 1, 400);
    fs::resize_file(file, fs::file_size(file) / 4096 * 2 / 3 * 4096);
    auto damage = write_to(file);
    CHECK(damage.notice.find("was damaged and is now " + file + ".corrupt-") != std::string::npos);
    CHECK(set_aside(folder).size() == 1);
    CHECK(intact(file, "s") > 50);
    CHECK(loaded(file, "after").size() == 1);
    CHECK(write_to(file).notice.empty());   // said once
}

TEST_CASE("store: damaged pages anywhere never take more than what was on them")
{
    std::mt19937 random(7);
    std::int64_t saved = 0;
    int rounds = 0;
    Folder made;
    fill(made / "s.db", "s", 1, 400);
    auto bytes = made.read("s.db");
    auto pages = bytes.size() / 4096;
    for (std::size_t page = 1; page < pages; page += 1 + pages / 12) {
        Folder folder;
        auto file = folder / "s.db";
        folder.write("s.db", bytes, 0600);
        std::string noise(4096, '\0');
        for (auto& c : noise) c = static_cast<char>(random());
        overwrite(file, static_cast<std::int64_t>(page) * 4096, noise);
        INFO("page " << page << " of " << pages);
        auto damage = write_to(file);
        CHECK(damage.code.empty());
        CHECK(set_aside(folder).size() == 1);
        saved += intact(file, "s");
        ++rounds;
        CHECK(loaded(file, "after").size() == 1);
    }
    CHECK(saved > 350 * rounds);   // of 400
}

TEST_CASE("store: without the start of the file the events behind it are saved all the same")
{
    Folder folder;
    auto file = folder / "s.db";
    fill(file, "s", 1, 400);
    {
        Keeper keeper(file);   // one that takes several pages
        keeper.say(event_line("long", 1, "tool_result", std::string(50'000, 'q'), R"("data":{"envelope":{"n":[1,2,3]}})"));
        REQUIRE(keeper.heard("stored", 1));
        CHECK(keeper.finish() == 0);
    }
    overwrite(file, 0, std::string(7 * 4096, '\x11'));   // the roots of all tables
    CHECK(write_to(file).notice.find("events of 2 sessions could be saved") != std::string::npos);
    CHECK(intact(file, "s") > 390);
    auto events = loaded(file, "long");
    REQUIRE(events.size() == 1);
    CHECK(events[0].content == std::string(50'000, 'q'));
    CHECK(events[0].data.dump() == R"({"envelope":{"n":[1,2,3]}})");
}

TEST_CASE("store: what is no database is set aside")
{
    Folder folder;
    folder.write("s.db", std::string(10'000, 'z'), 0600);
    CHECK(write_to(folder / "s.db").notice.find("was damaged") != std::string::npos);
    CHECK(set_aside(folder).size() == 1);
    folder.write("s.db", "short", 0600);
    CHECK(write_to(folder / "s.db").notice.find("was damaged") != std::string::npos);
    CHECK(set_aside(folder).size() == 2);
    CHECK(loaded(folder / "s.db", "after").size() == 1);
}

TEST_CASE("store: a log that was torn ends at the tear")
{
    Folder folder;
    auto file = folder / "s.db";
    fill(file, "s", 1, 20);
    {
        Keeper keeper(file);
        for (int i = 21; i <= 60; ++i) {
            keeper.say(event_line("s", i, "user", long_text(i)));
            REQUIRE(keeper.heard("stored", i));
        }
        kill(keeper.child.id(), SIGKILL);
        keeper.finish();
    }
    auto size = fs::file_size(file + "-wal");
    REQUIRE(size > 20'000);
    fs::resize_file(file + "-wal", size / 2 + 77);
    fs::remove(file + "-shm");
    auto left = intact(file, "s");
    CHECK(left >= 20);
    CHECK(left < 60);
    CHECK(write_to(file).notice.empty());
    CHECK(set_aside(folder).empty());
}

TEST_CASE("store: several that find the damage at once set it aside once, and lose nothing")
{
    Folder folder;
    auto file = folder / "s.db";
    fill(file, "s", 1, 400);
    std::vector<std::unique_ptr<Keeper>> keepers;
    for (int i = 0; i < 4; ++i) {
        keepers.push_back(std::make_unique<Keeper>(file));
        keepers.back()->say(event_line("w" + std::to_string(i), 1, "user", "before"));
        REQUIRE(keepers.back()->heard("stored", 1));
    }
    auto size = static_cast<std::int64_t>(fs::file_size(file));
    for (std::int64_t at = 8 * 4096; at < size; at += 7 * 4096) overwrite(file, at, std::string(4096, '\x5a'));
    for (int seq = 2; seq <= 40; ++seq)
        for (int i = 0; i < 4; ++i) {
            auto& keeper = *keepers[static_cast<std::size_t>(i)];
            keeper.say(event_line("w" + std::to_string(i), seq, "user", long_text(seq)));
            keeper.step(std::chrono::milliseconds(0));
        }
    for (auto& keeper : keepers) {
        CHECK(keeper->heard("stored", 40));
        CHECK(keeper->finish() == 0);
    }
    CHECK(set_aside(folder).size() <= 1);
    for (int i = 0; i < 4; ++i) {
        auto events = loaded(file, "w" + std::to_string(i));
        CHECK(std::ranges::count_if(events, [](auto& e) { return e.seq >= 2; }) == 39);
    }
}

TEST_CASE("store: ten thousand events of a session are stored and loaded")
{
    Folder folder;
    auto file = folder / "s.db";
    Keeper keeper(file);
    std::string lines;
    for (int i = 1; i <= 10'000; ++i) lines += event_line("s", i, i % 2 ? "user" : "assistant", "message " + std::to_string(i) + " about nothing much, in a few words more");
    keeper.say(lines);
    REQUIRE(keeper.heard("stored", 10'000));
    CHECK(keeper.finish() == 0);
    CHECK(loaded(file, "s").size() == 10'000);
}
