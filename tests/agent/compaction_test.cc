#include "agent/compaction.h"
#include "agent/tokens.h"

#include <catch2/catch.hpp>
#include <algorithm>

using namespace ik;

namespace {

Json user(std::string text) { return object({{"role", "user"}, {"text", std::move(text)}}); }
Json agent(std::string text) { return object({{"role", "assistant"}, {"parts", Json::Array{object({{"text", std::move(text)}})}}}); }
Json calling(const std::string& id, Json arguments, const char* name = "file_read")
{
    return object({{"role", "assistant"}, {"parts", Json::Array{object({{"call", object({{"id", id}, {"name", name}, {"arguments", std::move(arguments)}})}})}}});
}
Json result(const std::string& id, std::string text)
{
    return object({{"role", "tool"}, {"id", id}, {"name", "file_read"}, {"envelope", object({{"tool_success", true}, {"result", object({{"output", std::move(text)}})}})}});
}

// n turns: a question, a call, its result, an answer.
Json::Array turns(int n, std::size_t length = 400)
{
    Json::Array out;
    for (int i = 0; i < n; ++i) {
        auto number = std::to_string(i);
        out.push_back(user("question " + number));
        out.push_back(calling("c" + number, object({{"file_path", "src/part" + number + ".cc"}})));
        out.push_back(result("c" + number, std::string(length, 'r')));
        out.push_back(agent("answer " + number));
    }
    return out;
}

std::string asked(const Compaction& compaction) { return std::string(compaction.question().at(0).text("text")); }

Compacted finished(Compaction compaction, const std::string& summary = "THE SUMMARY")
{
    while (compaction.needs_answer()) {
        compaction.hear(summary);
        REQUIRE(compaction.take_answer());
    }
    return compaction.done();
}

bool answered(const Json::Array& messages)   // every call by its result, every result by a call before it
{
    std::vector<std::string> open;
    for (auto& message : messages) {
        if (auto* parts = message.find("parts"))
            for (auto& part : *parts->as<Json::Array>())
                if (auto* call = part.find("call")) open.emplace_back(call->text("id"));
        if (message.text("role") == "tool" && std::erase(open, message.text("id")) != 1) return false;
    }
    return open.empty();
}

}

TEST_CASE("compaction: a summary, then the last turns as they were, about a fifth of what there was")
{
    auto messages = turns(40);
    auto compaction = Compaction::of(messages, {.tokens = 100'000});
    REQUIRE(compaction);
    CHECK(compaction->needs_answer());
    auto done = finished(*compaction);
    auto shorter = compacted(messages, done);
    CHECK(shorter.front().text("role") == "user");
    CHECK(shorter.front().text("text").find("THE SUMMARY") != std::string_view::npos);
    CHECK(shorter.back() == messages.back());
    CHECK(std::equal(messages.begin() + static_cast<std::ptrdiff_t>(done.kept_from), messages.end(), shorter.end() - static_cast<std::ptrdiff_t>(messages.size() - done.kept_from)));
    CHECK(answered(shorter));
    CHECK(estimated_tokens(shorter) < estimated_tokens(messages) / 2);
    CHECK(shorter.size() > 4);
}

TEST_CASE("compaction: a call is never parted from its results, wherever the cut falls")
{
    for (int n = 2; n < 40; ++n) {
        auto messages = turns(n, static_cast<std::size_t>(17 * n));
        messages.push_back(user("last"));
        messages.push_back(object({{"role", "assistant"}, {"parts", Json::Array{object({{"call", object({{"id", "a"}, {"name", "x"}, {"arguments", Json::Object()}})}}), object({{"call", object({{"id", "b"}, {"name", "x"}, {"arguments", Json::Object()}})}})}}}));
        messages.push_back(result("a", "1"));
        messages.push_back(result("b", "2"));
        auto compaction = Compaction::of(messages, {.tokens = 10'000});
        REQUIRE(compaction);
        auto shorter = compacted(messages, finished(*compaction));
        INFO(n);
        CHECK(answered(shorter));
        for (std::size_t i = 1; i < shorter.size(); ++i)
            CHECK_FALSE((shorter[i].text("role") == "user" && shorter[i - 1].text("role") == "user"));
    }
}

TEST_CASE("compaction: what is asked has the conversation in it and says what must stay")
{
    auto messages = turns(20);
    auto text = asked(*Compaction::of(messages, {.tokens = 100'000, .keep = "the port numbers"}));
    for (auto* part : {"User: question 3", "Call of file_read: {\"file_path\":\"src/part3.cc\"}", "Result of file_read: {\"tool_success\":true", "Agent: answer 3",
                       "facts", "decisions", "paths", "open", "Keep in particular, as the user asks: the port numbers"}) {
        INFO(part);
        CHECK(text.find(part) != std::string::npos);
    }
}

TEST_CASE("compaction: a conversation longer than the window is asked about in pieces, each with the summary so far")
{
    auto messages = turns(200, 2000);
    auto compaction = *Compaction::of(messages, {.tokens = 10'000});
    int pieces = 0;
    std::string seen;
    for (; compaction.needs_answer(); ++pieces) {
        CHECK(estimated_tokens(compaction.question()) < 10'000);
        auto text = asked(compaction);
        if (pieces > 0) CHECK(text.find("<summary>\nsummary " + std::to_string(pieces - 1) + "\n</summary>") != std::string::npos);
        seen += text;
        compaction.hear("summary ");
        compaction.hear(std::to_string(pieces));
        REQUIRE(compaction.take_answer());
    }
    CHECK(pieces > 10);
    auto done = compaction.done();
    for (std::size_t i = 0; i + 4 < done.kept_from; i += 4) CHECK(seen.find("User: " + std::string(messages[i].text("text")) + "\n") != std::string::npos);
    CHECK(done.summary.text("summary") == "summary " + std::to_string(pieces - 1));
}

TEST_CASE("compaction: a question that does not fit is made half as long, down to an end")
{
    auto compaction = *Compaction::of(turns(100, 1000), {});
    auto before = asked(compaction).size();
    compaction.hear("half an ans");
    REQUIRE(compaction.ask_less());
    CHECK(asked(compaction).size() < before * 2 / 3);
    int times = 0;
    while (compaction.ask_less() && times < 100) ++times;
    CHECK(times < 10);
    CHECK(finished(compaction).summary.text("summary") == "THE SUMMARY");
}

TEST_CASE("compaction: an answer without a word is an error, one that is far too long is cut")
{
    auto compaction = *Compaction::of(turns(20), {.tokens = 10'000});
    compaction.hear(" \n");
    CHECK_FALSE(compaction.take_answer());
    CHECK(finished(compaction, std::string(1 << 20, 's')).summary.text("summary").size() < 15'000);
}

TEST_CASE("compaction: the open task stays word for word, also over a second compaction")
{
    Json::Array messages{user("Rename every Foo to Bar, but not in third_party/.")};
    for (int i = 0; i < 50; ++i) {
        auto id = "c" + std::to_string(i);
        messages.push_back(calling(id, object({{"path", "lib/file" + std::to_string(i)}})));
        messages.push_back(result(id, std::string(500, 'x')));
    }
    auto again = messages;
    for (int times = 0; times < 3; ++times) {
        auto done = finished(*Compaction::of(again, {.tokens = 20'000}), "short");
        again = compacted(again, done);
        INFO(again.front().dump());
        CHECK(again.front().text("text").find("Rename every Foo to Bar, but not in third_party/.") != std::string_view::npos);
        CHECK(again.front().text("text").find("lib/file7\n") != std::string_view::npos);
        CHECK(again.at(1).text("role") == "assistant");
        for (int i = 0; i < 20; ++i) {
            auto id = "d" + std::to_string(20 * times + i);
            again.push_back(calling(id, object({{"path", "lib/more"}})));
            again.push_back(result(id, std::string(500, 'y')));
        }
    }
}

TEST_CASE("compaction: one turn that is longer than its share loses the middle of its results, without a question")
{
    Json::Array messages{user("read it"), calling("1", object({{"file_path", "big"}})), result("1", "BEGIN" + std::string(50'000, 'b') + "END")};
    auto compaction = Compaction::of(messages, {.tokens = 4'000});
    REQUIRE(compaction);
    CHECK_FALSE(compaction->needs_answer());
    auto shorter = compacted(messages, compaction->done());
    CHECK(estimated_tokens(shorter) < 2'000);
    auto end = shorter.back().dump();
    CHECK(end.find("BEGIN") != end.npos);
    CHECK(end.find("END") != end.npos);
    CHECK(end.find("bytes left out") != end.npos);
    CHECK(shorter.front().text("text").find("read it") != std::string_view::npos);
    CHECK(answered(shorter));
}

TEST_CASE("compaction: nothing to do")
{
    CHECK_FALSE(Compaction::of({}, {}));
    CHECK_FALSE(Compaction::of({user("one")}, {}));
    CHECK_FALSE(Compaction::of({user("one")}, {.tokens = 10}));
    auto messages = turns(40);
    auto once = compacted(messages, finished(*Compaction::of(messages, {.tokens = 1000})));
    auto two = Json::Array(once.begin(), once.begin() + 2);
    two.push_back(user("and?"));
    CHECK_FALSE(Compaction::of(two, {}));
}

TEST_CASE("compaction: which paths are named")
{
    Json::Array messages{user("look at /etc/nginx/nginx.conf, https://example.com/not/this.one and src/main.cc."),
                         calling("1", object({{"command", "grep -n foo ./lib/a.h | and/or"}}), "bash"), agent("It is in docs/guide.md, 1/2 done"),
                         calling("2", object({{"file_path", "Makefile"}})), calling("3", object({{"path", "tests"}}))};
    CHECK(paths_in(messages) == std::vector<std::string>{"tests", "Makefile", "docs/guide.md", "./lib/a.h", "/etc/nginx/nginx.conf", "src/main.cc"});
    Json::Array many;
    for (int i = 0; i < 2000; ++i) many.push_back(calling("x", object({{"file_path", "f" + std::to_string(i)}})));
    CHECK(paths_in(many).size() == 400);
    CHECK(paths_in(many).front() == "f1999");
}
