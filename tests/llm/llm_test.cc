// `ikigai llm` as a real child against a service on the loopback.
#include "base/text.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

std::string ask(std::string_view said) { return object({{"type", "ask"}, {"model", "m"}, {"messages", Json::Array{object({{"role", "user"}, {"text", said}})}}}).dump() + "\n"; }

// Setup for the server, with pauses too short to notice.
std::string setup(const ModelServer& server, Json more = Json::Object())
{
    auto line = object({{"type", "setup"}, {"provider", "openai-chat"}, {"base_url", server.base_url()}, {"key", "secret-key"}, {"key_source", "OPENAI_API_KEY"}, {"retry_base_ms", 1}});
    for (auto& [name, value] : *more.as<Json::Object>()) line.set(name, value);
    return line.dump() + "\n";
}

struct Answered {
    std::vector<Json> lines;
    int status;
    std::string err;

    std::string text() const
    {
        std::string out;
        for (auto& line : lines)
            if (line.text("type") == "text") out += line.text("text");
        return out;
    }
    std::vector<std::string> types() const
    {
        std::vector<std::string> out;
        for (auto& line : lines) out.emplace_back(line.text("type"));
        return out;
    }
    const Json& last() const { return lines.back(); }
};

Answered llm(const std::string& input)
{
    auto ran = run({.argv = {ikigai(), "llm"}, .input = input, .env = {"OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}});
    Answered out{{}, ran.status, ran.err};
    auto rest = ran.out;
    while (auto line = take_line(rest)) out.lines.push_back(*parse_json(*line));
    REQUIRE(rest.empty());
    REQUIRE(!out.lines.empty());
    return out;
}

using Types = std::vector<std::string>;

}

TEST_CASE("llm: a stream becomes neutral lines")
{
    ModelServer server({stream_of({text("Hel"), text("lo"), call("c1", "bash", R"({"command":"ls"})")})});
    auto got = llm(setup(server) + ask("hi"));
    CHECK(got.status == 0);
    CHECK(got.text() == "Hello");
    CHECK(got.types() == Types{"text", "text", "tool_call", "usage", "done"});
    CHECK(got.lines[2].dump() == R"({"type":"tool_call","id":"c1","name":"bash","arguments":{"command":"ls"}})");
    CHECK(got.lines[3].dump() == R"({"type":"usage","input_tokens":10,"output_tokens":5,"cached_tokens":0,"reasoning_tokens":0})");
    CHECK(got.last().text("reason") == "tool_use");
    CHECK(got.last().text("raw_stop") == "tool_calls");
    auto request = server.requests().at(0);
    CHECK(request.path == "/v1/chat/completions");
    CHECK(request.header("Authorization") == "Bearer secret-key");
}
