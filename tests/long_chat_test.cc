// Conversations that grow: what stays the same in each request, and what becomes of one that fills the window.
#include "support/server.h"
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

Ran chat(const Home& home, const ModelServer& server, std::vector<std::string> words, std::string input = "", std::vector<std::string> env = {})
{
    words.insert(words.begin(), "chat");
    env.push_back("OPENAI_BASE_URL=" + server.base_url());
    env.push_back("IKIGAI_MODEL=scripted");
    return ikigai(home, std::move(words), std::move(input), std::move(env));
}

std::string window(int tokens) { return "IKIGAI_CONTEXT_WINDOW=" + std::to_string(tokens); }

std::string lines_to(int n, const std::string& text)
{
    std::string out;
    for (int i = 0; i < n; ++i) out += text + " " + std::to_string(i) + "\n";
    return out;
}

Json messages(const Request& request) { return *request.json().find("messages"); }
bool asks_summary(const Request& request) { return request.body.find("You write summaries") != std::string::npos; }
std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
    return n;
}

Reply json(const std::string& body) { return {.pieces = {body}, .headers = {"Content-Type: application/json"}}; }

// Everything up to the end of the list of messages.
std::string prefix(const Request& request)
{
    auto body = messages(request).dump();
    return body.substr(0, body.size() - 1);
}

}

TEST_CASE("long chat: every request begins with the one before it, byte for byte")
{
    Home home;
    home.write("AGENTS.md", "Use tabs.\n");
    ModelServer server({stream_of({text("Looking."), call("c1", "glob", R"({"pattern":"*"})")}), stream_of({text("one")}), stream_of({text("two")}), stream_of({text("three")})});
    chat(home, server, {}, "a\nb\nc\n");
    auto requests = server.requests();
    REQUIRE(requests.size() == 4);
    for (std::size_t i = 1; i < requests.size(); ++i) {
        auto before = requests[i - 1].body, now = requests[i].body;
        auto messages_before = prefix(requests[i - 1]);
        CHECK(prefix(requests[i]).starts_with(messages_before));
        CHECK(now.starts_with(before.substr(0, before.find(messages_before) + messages_before.size())));
        CHECK(requests[i].json().find("tools")->dump() == requests[0].json().find("tools")->dump());
    }
}

TEST_CASE("long chat: 200 turns with ten facts and their files: all are in the next request")
{
    Home home;
    std::string input, facts;
    for (int i = 0; i < 10; ++i) facts += "The fact " + std::to_string(i) + " is blue" + std::to_string(7919 * (i + 1)) + ".\n";
    // A summary is asked for now and then, whenever the window is nearly full: the scripted model answers each request
    // that wants one with the facts, and each other one with a call or with words.
    for (int i = 0; i < 200; ++i) {
        input += "turn " + std::to_string(i) + (i % 20 == 0 ? ": remember that fact " + std::to_string(i / 20) : "") + "\n";
        home.write("part" + std::to_string(i) + ".txt", lines_to(20, "line"));
    }
    ModelServer server({});
    server.beyond([&](const Request& request) {
        if (asks_summary(request))
            return stream_of({text(facts)});
        auto all = messages(request);
        auto& last = all.as<Json::Array>()->back();
        if (last.text("role") == "tool")
            return stream_of({text("Read.")});
        auto said = std::string(last.text("content"));
        auto turn = std::stoi(said.substr(5));
        return stream_of({call("c" + std::to_string(turn), "file_read", R"({"file_path":"part)" + std::to_string(turn) + R"(.txt"})")});
    });
    auto ran = chat(home, server, {}, input, {window(16'000)});
    INFO(ran.err);
    CHECK(ran.status == 0);
    auto requests = server.requests();
    auto compactions = std::ranges::count_if(requests, asks_summary);
    CHECK(compactions >= 2);
    CHECK(compactions < 20);
    CHECK(count(ran.out, "Compacting the conversation (") == count(ran.out, "Compacted: "));
    std::string last = requests.back().body;
    for (int i = 0; i < 10; ++i) {
        INFO(i);
        CHECK(last.find("The fact " + std::to_string(i) + " is blue" + std::to_string(7919 * (i + 1))) != last.npos);
    }
    for (int i = 0; i < 200; ++i) {
        INFO(i);
        CHECK(last.find("part" + std::to_string(i) + ".txt") != last.npos);
    }
    CHECK(last.find("turn 199") != last.npos);
    for (auto& request : requests) CHECK(request.body.size() < 16'000 * 4);
    CHECK_FALSE(std::ranges::find_if(requests, asks_summary)->json().find("tools"));
}

TEST_CASE("long chat: a request that overflows all the same is compacted and sent once more")
{
    Home home;
    auto full = refusal(400, "This model's maximum context length is 4096 tokens.");
    SECTION("and then it is answered")
    {
        ModelServer server({stream_of({text("one")}), stream_of({text("two")}), full, stream_of({text("SUMMARY")}), stream_of({text("three")})});
        auto ran = chat(home, server, {}, "a " + std::string(1500, 'x') + "\nb " + std::string(1500, 'x') + "\nc\n");
        INFO(ran.out);
        CHECK(ran.out.find("● three\n") != std::string::npos);
        CHECK(ran.out.find("SUMMARY") == std::string::npos);
        CHECK(count(ran.out, "Compacting the conversation (") == 1);
        REQUIRE(server.requests().size() == 5);
        CHECK(server.requests()[4].body.find("SUMMARY") != std::string::npos);
        CHECK(messages(server.requests()[4]).as<Json::Array>()->back().text("content") == "c");
    }
    SECTION("only once")
    {
        ModelServer server({stream_of({text("one")}), full, stream_of({text("SUMMARY")}), full});
        auto ran = chat(home, server, {}, "a " + std::string(3000, 'x') + "\nb\n");
        CHECK(ran.status == 1);
        CHECK(count(ran.out, "maximum context length") == 1);
        CHECK(server.requests().size() == 4);
    }
    SECTION("not with --no-compact, and not with the setting")
    {
        ModelServer server({stream_of({text("one")}), full, stream_of({text("one")}), full});
        auto ran = chat(home, server, {"--no-compact"}, "a " + std::string(4000, 'x') + "\nb\n");
        CHECK(ran.out.find("/compact shortens it") != std::string::npos);
        chat(home, server, {}, "a " + std::string(4000, 'x') + "\nb\n", {"IKIGAI_COMPACT=false"});
        CHECK(server.requests().size() == 4);
    }
    SECTION("one message alone cannot be made shorter")
    {
        ModelServer server({full});
        auto ran = chat(home, server, {"-p", "x", "--output-format", "stream-json"});
        CHECK(ran.status == 1);
        CHECK(ran.out.find(R"("error_code":"CONTEXT_OVERFLOW")") != std::string::npos);
    }
}

TEST_CASE("long chat: a summary that fails ends the turn and loses nothing")
{
    Home home;
    auto long_one = std::string(4000, 'x');
    ModelServer server({stream_of({text("one")}), stream_of({text("two")}), refusal(400, "no summaries today"), stream_of({text("SUMMARY")}), stream_of({text("three")})});
    auto ran = chat(home, server, {}, "a " + long_one + "\nb\n/compact\n/compact the x\nthen\n");
    INFO(ran.out);
    CHECK(ran.out.find("✗ The conversation could not be compacted: no summaries today") != std::string::npos);
    CHECK(ran.out.find("Compacted: ") != std::string::npos);
    CHECK(ran.out.ends_with("● three\n"));
    REQUIRE(server.requests().size() == 5);
    CHECK(server.requests()[3].body.find(long_one) != std::string::npos);
    CHECK(server.requests()[3].body.find("Keep in particular, as the user asks: the x") != std::string::npos);
    CHECK(server.requests()[4].body.find(long_one) == std::string::npos);
}

TEST_CASE("long chat: /compact with nothing to compact says so")
{
    Home home;
    ModelServer server({});
    CHECK(chat(home, server, {}, "/compact\n").out == "There is nothing to compact.\n");
    CHECK(server.requests().empty());
}

TEST_CASE("long chat: in a stream the compaction is two events, and the summary is no text of the answer")
{
    Home home;
    home.write("big", lines_to(280, "a line of it"));
    ModelServer server({stream_of({call("c1", "file_read", R"({"file_path":"big"})")}), stream_of({call("c2", "file_read", R"({"file_path":"big"})")}), stream_of({text("SUMMARY")}), stream_of({text("Done.")})});
    auto ran = chat(home, server, {"-p", "read big twice", "--output-format", "stream-json"}, "", {window(4000)});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.out.find(R"({"type":"event","kind":"compacting","content":"Compacting the conversation ()") != std::string::npos);
    CHECK(ran.out.find(R"({"type":"event","kind":"compacted","content":"Compacted: )") != std::string::npos);
    CHECK(ran.out.find(R"("text":"SUMMARY")") == std::string::npos);
    CHECK(server.requests().back().body.find("read big twice") != std::string::npos);
}

TEST_CASE("long chat: a server of one's own is asked for its window, and one that cuts silently is told of")
{
    Home home;
    auto list = json(R"({"data":[{"id":"scripted","owned_by":"library"}]})");
    auto shown = json(R"({"parameters":"num_ctx 2048","model_info":{"a.context_length":40960}})");
    auto loaded = json(R"({"models":[]})");
    ModelServer server({list, shown, loaded, stream_of({text("ok")})});
    auto ran = chat(home, server, {"-p", std::string(8000, 'x')}, "", {window(0)});
    CHECK(ran.out == "ok\n");
    CHECK(ran.err.starts_with("⚠ Ollama reads 2048 tokens and this request has about "));
    CHECK(count(ran.err, "\n") == 1);
    REQUIRE(server.requests().size() == 4);
    CHECK(server.requests()[0].path == "/v1/models");
    CHECK(server.requests()[1].path == "/api/show");
    CHECK(server.requests()[2].path == "/api/ps");
    SECTION("a server that does not answer holds nothing up for long")
    {
        ModelServer silent({Reply{.pieces = {}, .ending = Reply::hang}, stream_of({text("late")})});
        CHECK(chat(home, silent, {"-p", "x"}, "", {window(0)}).out == "late\n");
    }
    SECTION("one that refuses is not spoken of")
    {
        ModelServer other({refusal(404, "no such page"), stream_of({text("ok")})});
        auto quiet = chat(home, other, {"-p", "x"}, "", {window(0)});
        CHECK(quiet.out == "ok\n");
        CHECK(quiet.err == "");
    }
}
