// `ikigai store` by hand: what it answers.
#include "store/archive.h"
#include "store/keeper.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

Json ids(const std::vector<Json>& answers)
{
    Json::Array out;
    auto list = first(answers, "sessions");
    REQUIRE(list.find("sessions"));
    for (auto& row : *list.find("sessions")->as<Json::Array>()) out.push_back(row.text("id"));
    return out;
}

std::string error(const std::vector<Json>& answers) { return std::string(first(answers, "error").text("error_code")); }

std::vector<std::string> contents(const std::vector<StoredEvent>& events)
{
    std::vector<std::string> out;
    for (auto& e : events) out.push_back(e.content);
    return out;
}

using Texts = std::vector<std::string>;

int mode_of(const std::string& path)
{
    struct stat info {};
    return stat(path.c_str(), &info) < 0 ? -1 : static_cast<int>(info.st_mode & 0777);
}

}

TEST_CASE("store: events come back as they were said")
{
    Folder folder;
    StoredEvent said{"abc", 1, "user", "Grüße\n\"x\" <&> \x01", {}, "2026-01-02T03:04:05.006Z", "anthropic", "m", "/there"};
    StoredEvent opaque{"abc", 2, "assistant", "", object({{"parts", Json::Array{object({{"opaque", object({{"s", "x"}})}, {"provider", "anthropic"}})}}}), "2026-01-02T03:04:06.006Z"};
    Keeper keeper(folder / "a/b/s.db");
    keeper.say(line_of(said) + "\n" + line_of(opaque) + "\n");
    CHECK(keeper.heard("stored", 1));
    CHECK(keeper.heard("stored", 2));
    CHECK(first(keeper.ask(R"({"type":"turn_end"})", "synced"), "error").null());
    CHECK(mode_of(folder / "a/b/s.db") == 0600);
    CHECK(mode_of(folder / "a/b/s.db-wal") == 0600);
    CHECK(mode_of(folder / "a/b") == 0700);
    CHECK(keeper.finish() == 0);
    CHECK(loaded(folder / "a/b/s.db", "a") == std::vector{said, opaque});
}

TEST_CASE("store: at its end a short log stays, and a long one is in the database")
{
    Folder folder;
    auto log_after = [&](const std::string& content) {
        Keeper keeper(folder / "s.db");
        auto seq = static_cast<std::int64_t>(loaded(folder / "s.db", "a").size()) + 1;
        keeper.say(event_line("a", seq, "user", content));
        CHECK(keeper.heard("stored", seq));
        CHECK(keeper.finish() == 0);
        return std::filesystem::file_size(folder / "s.db-wal");
    };
    CHECK(log_after("short") > 0);
    CHECK(log_after(std::string(1 << 20, 'x')) == 0);
    CHECK(log_after("short") > 0);
    CHECK(loaded(folder / "s.db", "a").size() == 3);
}

TEST_CASE("store: asking makes no file")
{
    Folder folder;
    Keeper keeper(folder / "s.db");
    CHECK(ids(keeper.ask(R"({"type":"list"})", "sessions")) == Json::Array{});
    CHECK(first(keeper.ask(R"({"type":"latest","folder":"/x"})", "latest"), "latest").find("session")->null());
    CHECK(error(keeper.ask(R"({"type":"load","session":"a"})", "loaded")) == "NOT_FOUND");
    CHECK(error(keeper.ask(R"({"type":"search","query":"a","limit":3})", "found")) == "");
    CHECK(keeper.finish() == 0);
    CHECK_FALSE(folder.exists("s.db"));
}

TEST_CASE("store: lines that are no events are refused, and the next is taken")
{
    Folder folder;
    Keeper keeper(folder / "s.db");
    for (auto* line : {"nonsense", R"({"type":"event","session":"../x","seq":1,"kind":"user"})", R"({"type":"event","session":"a","seq":0,"kind":"user"})",
                       R"({"type":"event","session":"a","seq":1})", R"({"type":"brew"})"})
        CHECK(error(keeper.ask(line, "never")) == "INVALID_ARG");
    keeper.say(event_line("a", 1, "user", "x"));
    CHECK(keeper.heard("stored", 1));
}

TEST_CASE("store: sessions are listed, the newest first, and found by the beginning of an id")
{
    Folder folder;
    Keeper keeper(folder / "s.db");
    keeper.say(event_line("abc1", 1, "user", "  what\n is   here?", R"("time":"2026-01-01T00:00:00.000Z","folder":"/x","provider":"p","model":"m")"));
    keeper.say(event_line("abc1", 2, "usage", "", R"("data":{"input_tokens":10,"output_tokens":5})"));
    keeper.say(event_line("abd2", 1, "user", "other", R"("time":"2026-01-02T00:00:00.000Z","folder":"/y")"));
    REQUIRE(keeper.heard("stored", 2));
    CHECK(ids(keeper.ask(R"({"type":"list"})", "sessions")) == Json::Array{"abc1", "abd2"});   // the second event of abc1 is of now
    CHECK(ids(keeper.ask(R"({"type":"list","folder":"/y"})", "sessions")) == Json::Array{"abd2"});
    CHECK(ids(keeper.ask(R"({"type":"list","limit":1})", "sessions")) == Json::Array{"abc1"});
    auto latest = row_of(*first(keeper.ask(R"({"type":"latest","folder":"/x"})", "latest"), "latest").find("session"));
    CHECK(latest.id == "abc1");
    CHECK(latest.title == "what is here?");
    CHECK(latest.tokens == 15);
    CHECK(latest.events == 2);
    CHECK(latest.model == "m");
    CHECK(error(keeper.ask(R"({"type":"load","session":"ab"})", "loaded")) == "NOT_UNIQUE");
    CHECK(error(keeper.ask(R"({"type":"load","session":"x"})", "loaded")) == "NOT_FOUND");
    CHECK(row_of(*first(keeper.ask(R"({"type":"load","session":"abd"})", "loaded"), "loaded").find("session")).id == "abd2");
}

TEST_CASE("store: a branch is its parent up to the fork, then its own; removing the parent leaves it whole")
{
    Folder folder;
    auto file = folder / "s.db";
    Keeper keeper(file);
    for (int i = 1; i <= 4; ++i) keeper.say(event_line("root", i, "user", "r" + std::to_string(i)));
    keeper.say(event_line("child", 4, "fork", "", R"("data":{"parent":"root","seq":3})") + event_line("child", 5, "user", "c5") + event_line("child", 6, "user", "c6"));
    keeper.say(event_line("leaf", 6, "rewind", "", R"("data":{"parent":"child","seq":5})") + event_line("leaf", 7, "user", "needle"));
    REQUIRE(keeper.heard("stored", 7));
    Texts child{"r1", "r2", "r3", "", "c5", "c6"}, leaf{"r1", "r2", "r3", "", "c5", "", "needle"};
    CHECK(contents(loaded(file, "child")) == child);
    CHECK(contents(loaded(file, "leaf")) == leaf);
    CHECK(first(keeper.ask(R"({"type":"remove","session":"child"})", "removed"), "removed").text("session") == "child");
    CHECK(contents(loaded(file, "leaf")) == leaf);
    CHECK(first(keeper.ask(R"({"type":"remove","session":"root"})", "removed"), "removed").text("session") == "root");
    CHECK(contents(loaded(file, "leaf")) == leaf);
    auto found = [&](const std::string& word) { return first(keeper.ask(R"({"type":"search","query":")" + word + "\"}", "found"), "found").find("hits")->as<Json::Array>()->size(); };
    CHECK(found("r1") == 1);
    CHECK(found("needle") == 1);
    CHECK(found("c6") == 0);
    CHECK(found("r4") == 0);
}

TEST_CASE("store: words are found in what was said, called and printed")
{
    Folder folder;
    Keeper keeper(folder / "s.db");
    keeper.say(event_line("a", 1, "user", "the quick Brown fox") + event_line("a", 2, "tool_call", "", R"("data":{"id":"1","name":"bash","arguments":{"command":"first\nnginx -t"}})")
               + event_line("a", 3, "tool_result", "", R"("data":{"id":"1","envelope":{"tool_success":true,"result":{"output":"all\nfine"}}})")
               + event_line("b", 1, "user", "a BROWN cow, über alles"));
    REQUIRE(keeper.heard("stored", 3));
    auto sessions = [&](const std::string& query) {
        Texts out;
        auto answer = first(keeper.ask(object({{"type", "search"}, {"query", query}}).dump(), "found"), "found");
        if (auto* hits = answer.find("hits"))
            for (auto& hit : *hits->as<Json::Array>()) out.emplace_back(hit.text("session"));
        return out;
    };
    CHECK(sessions("brown") == Texts{"b", "a"});
    CHECK(sessions("brown fox") == Texts{"a"});
    CHECK(sessions("\"quick brown\"") == Texts{"a"});
    CHECK(sessions("\"brown quick\"") == Texts{});
    CHECK(sessions("ngin*") == Texts{"a"});
    CHECK(sessions("nginx") == Texts{"a"});
    CHECK(sessions("fine") == Texts{"a"});
    CHECK(sessions("uber") == Texts{"b"});
    for (auto* odd : {"AND", "brown OR", "(", "a:b", "NEAR(", "*", "\"", "content:brown", "-fox", "\\"})
        CHECK_NOTHROW(sessions(odd));
    CHECK(first(keeper.ask(R"({"type":"search","query":"fox"})", "found"), "found").find("hits")->as<Json::Array>()->at(0).text("snippet") == "the quick Brown fox");
}

TEST_CASE("store: the same event twice is one; another with its seq makes a branch")
{
    Folder folder;
    auto file = folder / "s.db";
    Keeper one(file), other(file);
    auto begin = event_line("a", 1, "user", "begin", R"("time":"2026-01-01T00:00:00.000Z")");
    one.say(begin);
    REQUIRE(one.heard("stored", 1));
    other.say(begin);
    REQUIRE(other.heard("stored", 1));
    one.say(event_line("a", 2, "user", "mine"));
    REQUIRE(one.heard("stored", 2));
    other.say(event_line("a", 2, "user", "theirs") + event_line("a", 3, "user", "more"));
    REQUIRE(other.heard("stored", 3));
    auto branched = first(other.answers, "branched");
    CHECK(branched.text("session") == "a");
    other.say(event_line("a", 4, "user", "still"));
    REQUIRE(other.heard("stored", 4));
    CHECK(contents(loaded(file, "a")) == Texts{"begin", "mine"});
    CHECK(contents(loaded(file, std::string(branched.text("to")))) == Texts{"begin", "", "theirs", "more", "still"});
}

TEST_CASE("store: it ends with its input, not with a signal")
{
    Folder folder;
    Keeper keeper(folder / "s.db");
    keeper.say(event_line("a", 1, "user", "x"));
    REQUIRE(keeper.heard("stored", 1));
    for (int number : {SIGTERM, SIGINT, SIGHUP}) kill(keeper.child.id(), number);
    keeper.say(event_line("a", 2, "user", "y"));
    CHECK(keeper.heard("stored", 2));
    CHECK(keeper.finish() == 0);
}

TEST_CASE("store: a folder that many computers see gets no write-ahead log")
{
    CHECK(shares_memory(0xEF53));         // ext4
    CHECK(shares_memory(0x01021994));     // tmpfs
    CHECK_FALSE(shares_memory(0x6969));   // NFS
    CHECK_FALSE(shares_memory(static_cast<long>(0xFE534D42)));
    CHECK_FALSE(shares_memory(static_cast<int>(0xFF534D42u)));   // as a 32-bit kernel says it
}
