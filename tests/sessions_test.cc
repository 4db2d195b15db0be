// `ikigai sessions`, as a user uses it.
#include "sessions.h"

#include "store/keeper.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

struct Kept : Home {
    std::string file = path + "/.local/state/ikigai/sessions.db";

    Kept()
    {
        Keeper keeper(file);
        keeper.say(event_line("aaa111", 1, "user", "what is in\n<b>here</b>?", R"("folder":")" + path + R"(","time":"2026-01-02T03:04:05.006Z","model":"some-model")")
                   + event_line("aaa111", 2, "assistant", "I look.", R"("data":{"parts":[{"text":"I look."},{"call":{"id":"1"}}]})")
                   + event_line("aaa111", 3, "tool_call", "", R"("data":{"id":"1","name":"bash","arguments":{"command":"ls <x>"}})")
                   + event_line("aaa111", 4, "tool_result", "", R"("data":{"id":"1","envelope":{"tool_success":true,"result":{"output":"one\n```\ntwo & \u001b[31mthree\nfour"}}})")
                   + event_line("aaa111", 5, "usage", "", R"("data":{"input_tokens":1200,"output_tokens":34})") + event_line("aaa111", 6, "assistant", "Two *files*.")
                   + event_line("aaa111", 7, "interrupted", "") + event_line("aab222", 1, "user", "elsewhere", R"("folder":"/elsewhere")"));
        REQUIRE(keeper.heard("stored", 7));
        CHECK(keeper.finish() == 0);
    }

    Ran operator()(std::vector<std::string> words, std::string input = "") const
    {
        words.insert(words.begin(), "sessions");
        return ikigai(*this, std::move(words), std::move(input), {"TZ=UTC"});
    }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}

TEST_CASE("sessions: list says those of this folder, or all")
{
    Kept sessions;
    auto ran = sessions({});
    CHECK(ran.status == 0);
    CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 1);
    CHECK(has(ran.out, "aaa111 "));
    CHECK(has(ran.out, "1.2k  what is in <b>here</b>?\n"));
    CHECK(sessions({"list"}).out == ran.out);
    ran = sessions({"list", "--all"});
    CHECK(has(ran.out, "aab222 "));
    CHECK(has(ran.out, "/elsewhere"));
    auto json = parse_json(sessions({"--all", "--json", "--limit", "1"}).out);
    REQUIRE(json);
    CHECK(json->as<Json::Array>()->size() == 1);
    Home empty;
    ran = ikigai(empty, {"sessions"});
    CHECK(ran.status == 0);
    CHECK(ran.out == "");
    CHECK(ran.err == "No session in this folder; --all lists those of all folders.\n");
    CHECK_FALSE(empty.exists(".local"));
}

TEST_CASE("sessions: show tells it as it looked")
{
    Kept sessions;
    CHECK(sessions({"show", "aaa"}).out == "❯ what is in\n<b>here</b>?\n● I look.\n→ bash: command=\"ls <x>\"\n← one\n```\ntwo & ^[[31mthree …\n● Two *files*.\n✗ cancelled\n");
    auto ran = sessions({"show", "aa"});
    CHECK(ran.status == 2);
    CHECK(ran.err == "ikigai: several sessions' ids begin with aa: aaa111, aab222\n");
    CHECK(sessions({"show", "x"}).err == "ikigai: no session's id begins with x\n");
    CHECK(sessions({"show"}).err == "ikigai: sessions show takes the id of a session\n");
    CHECK(sessions({"sho", "x"}).err == "ikigai: sessions has no action sho. Did you mean: show? See ikigai sessions --help.\n");
}

TEST_CASE("sessions: search finds words")
{
    Kept sessions;
    auto ran = sessions({"search", "two"});
    CHECK(ran.status == 0);
    CHECK(has(ran.out, "aaa111 "));
    CHECK(has(ran.out, "Two *files*."));
    CHECK(sessions({"search", "nowhere"}).status == 1);
    CHECK(has(sessions({"search", "--json", "elsewhere"}).out, R"([{"session":"aab222","seq":1,"kind":"user")"));
}

TEST_CASE("sessions: what is exported as lines is imported the same")
{
    Kept sessions;
    auto lines = sessions({"export", "aaa", "--format", "jsonl"});
    CHECK(lines.status == 0);
    CHECK(std::count(lines.out.begin(), lines.out.end(), '\n') == 7);
    CHECK(sessions({"export", "aaa", "--format", "jsonl", "-o", "kept.jsonl"}).out == "");
    CHECK(sessions.read("kept.jsonl") == lines.out);

    auto copy = sessions({"import", "kept.jsonl"});
    CHECK(copy.status == 0);
    auto id = copy.out.substr(0, copy.out.find('\n'));
    CHECK(id.size() == 12);
    CHECK(id != "aaa111");
    CHECK(sessions({"show", id}).out == sessions({"show", "aaa"}).out);

    CHECK(sessions({"rm", "aaa", id}).status == 0);
    CHECK(sessions({"import", "-"}, lines.out).out == "aaa111\n");
    CHECK(sessions({"export", "aaa", "--format", "jsonl"}).out == lines.out);

    sessions.write("bad.jsonl", lines.out + "nonsense\n");
    auto ran = sessions({"import", "bad.jsonl"});
    CHECK(ran.status == 2);
    CHECK(has(ran.err, "bad.jsonl, line 8: Invalid JSON"));
}

TEST_CASE("sessions: a branch is exported with what it shares")
{
    Kept sessions;
    Keeper keeper(sessions.file);
    keeper.say(event_line("bbb", 3, "fork", "", R"("data":{"parent":"aaa111","seq":2})") + event_line("bbb", 4, "user", "on the branch"));
    REQUIRE(keeper.heard("stored", 4));
    auto shown = sessions({"show", "bbb"}).out;
    CHECK(shown == "❯ what is in\n<b>here</b>?\n● I look.\n❯ on the branch\n");
    auto lines = sessions({"export", "bbb", "--format", "jsonl"}).out;
    CHECK(sessions({"rm", "bbb"}).status == 0);
    CHECK(sessions({"import", "-"}, lines).out == "bbb\n");
    CHECK(sessions({"show", "bbb"}).out == shown);
}

TEST_CASE("sessions: the Markdown and the page of an export")
{
    Kept sessions;
    auto markdown = sessions({"export", "aaa"}).out;
    CHECK(markdown.starts_with("# what is in <b>here</b>?\n\naaa111 · 2026-01-02T03:04:05.006Z · "));
    CHECK(has(markdown, "## User\n\nwhat is in\n<b>here</b>?\n\n## Assistant\n\nI look.\n\n→\n\n```\nbash {\"command\":\"ls <x>\"}\n```\n\n←\n\n````\none\n```\ntwo & "));

    auto page = sessions({"export", "aaa", "--format", "html"}).out;
    CHECK(page.starts_with("<!doctype html>\n"));
    CHECK(has(page, "&lt;b&gt;here&lt;/b&gt;"));
    CHECK_FALSE(has(page, "<b>"));
    CHECK_FALSE(has(page, "<x>"));
    CHECK_FALSE(has(page, "<script"));
    CHECK_FALSE(has(page, "http://"));
    CHECK_FALSE(has(page, "https://"));
    CHECK_FALSE(has(page, "\x1b"));
    CHECK(has(page, "prefers-color-scheme: dark"));
    CHECK(has(page, "two &amp; ^[[31mthree"));
}

TEST_CASE("sessions: rm removes a session and what its tools had kept")
{
    Kept sessions;
    sessions.write(".local/state/ikigai/outputs/aaa111/1-output.txt", "long");
    CHECK(sessions({"rm", "zzz"}).status == 2);
    CHECK(sessions({"rm", "aaa", "zzz"}).status == 2);
    CHECK(sessions.exists(".local/state/ikigai/outputs/aaa111"));
    auto ran = sessions({"rm", "aaa"});
    CHECK(ran.status == 0);
    CHECK(ran.out == "");
    CHECK_FALSE(sessions.exists(".local/state/ikigai/outputs/aaa111"));
    CHECK_FALSE(has(sessions({"list", "--all"}).out, "aaa111"));
    CHECK(sessions({"search", "files"}).status == 1);
    CHECK_FALSE(has(sessions.read(".local/state/ikigai/sessions.db"), "three"));   // the bytes are gone too
}
