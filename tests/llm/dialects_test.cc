// `ikigai llm` as a real child, once with each dialect: a whole answer, and what each service says when it gives none.
#include "base/text.h"
#include "llm/decode.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

struct Dialect {
    const char *provider, *base, *model, *path, *key_header, *key_before;
    std::vector<std::string> stream;   // that says "Hi"
};

const std::vector<Dialect> dialects = {
    {"anthropic", "", "claude-sonnet-4-5", "/v1/messages", "x-api-key", "",
     {R"({"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}})", R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}})", R"({"type":"content_block_stop","index":0})",
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}})", R"({"type":"message_stop"})"}},
    {"google", "", "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "x-goog-api-key", "",
     {R"({"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]})", R"({"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}})"}},
    {"openai-responses", "/v1", "gpt-5-mini", "/v1/responses", "authorization", "Bearer ",
     {R"({"type":"response.output_text.delta","delta":"Hi"})", R"({"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":2}}})"}},
    {"openai-chat", "/v1", "some-model", "/v1/chat/completions", "authorization", "Bearer ",
     {R"({"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]})", R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}})", "[DONE]"}},
};

Reply streamed(const Dialect& dialect)
{
    Reply reply;
    for (auto& piece : dialect.stream) reply.pieces.push_back(event(piece));
    return reply;
}

std::vector<Json> ask(const Dialect& dialect, const ModelServer& server, const std::string& model = "")
{
    auto setup = object({{"type", "setup"}, {"provider", dialect.provider}, {"base_url", "http://127.0.0.1:" + std::to_string(server.port()) + dialect.base},
                         {"key", "secret-key"}, {"key_source", "THE_VARIABLE"}, {"retry_base_ms", 1}});
    auto question = object({{"type", "ask"}, {"model", model.empty() ? dialect.model : model}, {"messages", Json::Array{object({{"role", "user"}, {"text", "x"}})}}});
    auto ran = run({.argv = {ikigai(), "llm"}, .input = setup.dump() + "\n" + question.dump() + "\n", .env = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("secret-key") == std::string::npos);
    std::vector<Json> lines;
    while (auto line = take_line(ran.out)) lines.push_back(*parse_json(*line));
    REQUIRE(!lines.empty());
    return lines;
}

struct Said { int status; const char *body, *words, *code; bool retry; };

// The bodies as the services send them.
const std::vector<std::vector<Said>> said = {
    {{400, R"({"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 9 > 8"},"request_id":"r"})", "max_tokens: 9 > 8 (HTTP 400, anthropic, claude-sonnet-4-5)", "API_ERROR", false},
     {401, R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})", "invalid x-api-key (HTTP 401, anthropic, claude-sonnet-4-5). The key came from THE_VARIABLE: check it.", "AUTH_INVALID", false},
     {403, R"({"type":"error","error":{"type":"permission_error","message":"Not allowed."}})", "Not allowed (HTTP 403", "AUTH_INVALID", false},
     {413, R"({"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}})", "/compact", "CONTEXT_OVERFLOW", false},
     {429, R"({"type":"error","error":{"type":"rate_limit_error","message":"Too fast"}})", "Too fast (HTTP 429", "RATE_LIMIT", true},
     {500, R"({"type":"error","error":{"type":"api_error","message":"Internal server error"}})", "Internal server error (HTTP 500", "API_ERROR", true},
     {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", "Overloaded (HTTP 529", "API_ERROR", true}},
    {{400, R"({"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}})", "API key not valid (HTTP 400, google, gemini-2.5-flash). The key came from THE_VARIABLE: check it.", "AUTH_INVALID", false},
     {403, R"({"error":{"code":403,"message":"Not allowed","status":"PERMISSION_DENIED"}})", "Not allowed (HTTP 403", "AUTH_INVALID", false},
     {429, R"([{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.002s"}]}}])", "Quota (HTTP 429", "RATE_LIMIT", true},
     {500, R"({"error":{"code":500,"message":"Internal","status":"INTERNAL"}})", "Internal (HTTP 500", "API_ERROR", true},
     {503, R"({"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}})", "The model is overloaded (HTTP 503", "API_ERROR", true}},
    {{400, R"({"error":{"message":"Unsupported parameter","type":"invalid_request_error","param":"x","code":null}})", "Unsupported parameter (HTTP 400, openai-responses, gpt-5-mini)", "API_ERROR", false},
     {401, R"({"error":{"message":"Incorrect API key provided: s***y.","type":"invalid_request_error","code":"invalid_api_key"}})", "The key came from THE_VARIABLE", "AUTH_INVALID", false},
     {429, R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})", "no credit left", "RATE_LIMIT", false},
     {429, R"({"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}})", "Rate limit reached (HTTP 429", "RATE_LIMIT", true},
     {503, R"({"error":{"message":"Overloaded","type":"server_error","code":null}})", "Overloaded (HTTP 503", "API_ERROR", true}},
    {{400, R"({"error":"model is required"})", "model is required (HTTP 400", "API_ERROR", false}},
};

}

TEST_CASE("dialects: an answer, its address and its key")
{
    for (auto& dialect : dialects) {
        INFO(dialect.provider);
        ModelServer server({streamed(dialect)});
        auto lines = ask(dialect, server);
        REQUIRE(lines.size() == 3);
        CHECK(lines[0].dump() == R"({"type":"text","text":"Hi"})");
        CHECK(lines[1].dump() == R"({"type":"usage","input_tokens":1,"output_tokens":2,"cached_tokens":0,"reasoning_tokens":0})");
        CHECK(lines[2].text("reason") == "end_turn");
        auto request = server.requests().at(0);
        CHECK(request.method == "POST");
        CHECK(request.path == dialect.path);
        CHECK(request.header(dialect.key_header) == std::string(dialect.key_before) + "secret-key");
    }
}

TEST_CASE("dialects: each service's own words for what went wrong")
{
    for (std::size_t i = 0; i < dialects.size(); ++i)
        for (auto& c : said[i]) {
            INFO(dialects[i].provider << " " << c.body);
            ModelServer server({{.status = c.status, .pieces = {c.body}, .headers = {"Content-Type: application/json"}}, streamed(dialects[i])});
            auto lines = ask(dialects[i], server);
            CHECK(lines[0].text("type") == (c.retry ? "retry" : "error"));
            CHECK(lines[0].text("error").find(c.words) != std::string::npos);
            if (c.retry) CHECK(lines.back().text("type") == "done");
            else CHECK(lines[0].text("error_code") == c.code);
        }
}

TEST_CASE("dialects: a model that is not there names those that are near")
{
    const std::vector<std::pair<const char*, const char*>> lists = {
        {R"({"data":[{"type":"model","id":"claude-sonnet-4-5"}]})", "/v1/models?limit=1000"},
        {R"({"models":[{"name":"models/gemini-2.5-flash"}]})", "/v1beta/models?pageSize=1000"},
        {R"({"data":[{"id":"gpt-5-mini"}]})", "/v1/models"},
        {R"({"data":[{"id":"some-model"}]})", "/v1/models"},
    };
    for (std::size_t i = 0; i < dialects.size(); ++i) {
        INFO(dialects[i].provider);
        ModelServer server({refusal(404, "No such model"), {.pieces = {lists[i].first}, .headers = {"Content-Type: application/json"}}});
        auto wrong = std::string(dialects[i].model) + "x";
        auto lines = ask(dialects[i], server, wrong);
        CHECK(lines.back().text("error").find("Did you mean: " + std::string(dialects[i].model) + "?") != std::string::npos);
        CHECK(server.requests().at(1).path == lists[i].second);
        CHECK(!server.requests().at(1).header(dialects[i].key_header).empty());
    }
}

TEST_CASE("dialects: overloaded in the middle of an answer is asked again")
{
    auto& anthropic = dialects[0];
    auto broken = streamed(anthropic);
    broken.pieces.resize(3);
    broken.pieces.push_back("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
    ModelServer server({broken, streamed(anthropic)});
    auto lines = ask(anthropic, server);
    REQUIRE(lines.size() == 5);
    CHECK(lines[1].text("type") == "retry");
    CHECK(*lines[1].find("discard") == Json(true));
    CHECK(lines[1].text("error") == "Overloaded (anthropic, claude-sonnet-4-5). The service is overloaded: try again later.");
}

TEST_CASE("dialects: a stream cut anywhere is a broken one")
{
    for (auto& dialect : dialects) {
        std::string whole;
        for (auto& piece : dialect.stream) whole += event(piece);
        CHECK(decode(dialect.provider, whole).done);
        // [DONE] and the usage may be missing; where a dialect has a last event it is needed
        auto optional = dialect.stream.back() == "[DONE]" ? 2u : 0u;
        std::size_t needed = 0;
        for (std::size_t i = 0; i + 1 + optional < dialect.stream.size(); ++i) needed += event(dialect.stream[i]).size();
        for (std::size_t size = 0; size < whole.size(); ++size) {
            auto got = decode(dialect.provider, std::string_view(whole).substr(0, size));
            INFO(dialect.provider << " " << size);
            CHECK(got.done != got.complaint.has_value());
            if (size <= needed) CHECK(!got.done);
        }
    }
}

TEST_CASE("dialects: members of the wrong kind are no reason to die")
{
    const char* values[] = {"null", "5", "\"x\"", "[]", "{}", "[5]", "[null]", "[[]]", "[{}]", "true"};
    for (auto& dialect : dialects)
        for (auto& piece : dialect.stream) {
            auto document = parse_json(piece);
            if (!document) continue;
            for (auto* value : values) {
                decode(dialect.provider, event(value));
                // each member in turn, at the two upper levels, is something else
                for (auto& [name, member] : *document->as<Json::Object>()) {
                    auto odd = *document;
                    odd.set(name, *parse_json(value));
                    decode(dialect.provider, event(odd.dump()) + event(piece));
                    if (member.as<Json::Array>() && member.as<Json::Array>()->empty()) continue;
                    auto* inner = member.as<Json::Array>() ? &member.as<Json::Array>()->front() : &member;
                    if (!inner->as<Json::Object>()) continue;
                    for (auto& [inner_name, unused] : *inner->as<Json::Object>()) {
                        auto changed = *inner;
                        changed.set(inner_name, *parse_json(value));
                        odd.set(name, member.as<Json::Array>() ? Json(Json::Array{changed}) : changed);
                        decode(dialect.provider, event(odd.dump()) + event(piece));
                    }
                }
            }
        }
    for (auto& dialect : dialects)
        for (auto* value : values)
            for (auto* name : {"messages", "tools", "system", "max_tokens", "thinking", "model"}) body_of(dialect.provider, object({{name, *parse_json(value)}}));
    for (auto& dialect : dialects)
        for (auto* value : values)
            for (auto* name : {"role", "parts", "text", "envelope", "id"})
                for (auto* role : {"user", "assistant", "tool"}) {
                    auto message = object({{"role", role}});
                    message.set(name, *parse_json(value));
                    body_of(dialect.provider, object({{"messages", Json::Array{message}}}));
                    body_of(dialect.provider, object({{"messages", Json::Array{object({{"role", "assistant"}, {"parts", Json::Array{object({{"opaque", *parse_json(value)}, {"provider", dialect.provider}})}}})}}}));
                    body_of(dialect.provider, object({{"messages", Json::Array{object({{"role", "assistant"}, {"parts", Json::Array{object({{"call", *parse_json(value)}})}}})}}}));
                }
}
