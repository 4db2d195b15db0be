#include "llm/decode.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

constexpr std::string_view responses = "openai-responses";

std::string named(std::string_view json) { return "event: " + std::string(parse_json(json)->text("type")) + "\ndata: " + std::string(json) + "\n\n"; }

std::string stream(std::vector<std::string> pieces)
{
    std::string out;
    for (auto& piece : pieces) out += named(piece);
    return out;
}

std::string delta(std::string_view type, std::string_view text, int index = 0) { return object({{"type", "response." + std::string(type) + ".delta"}, {"output_index", index}, {"delta", text}}).dump(); }
std::string item(std::string_view json, int index = 0) { return R"({"type":"response.output_item.done","output_index":)" + std::to_string(index) + R"(,"item":)" + std::string(json) + "}"; }
std::string ending(std::string_view type, std::string_view members) { return R"({"type":"response.)" + std::string(type) + R"(","response":)" + std::string(members) + "}"; }

const std::string completed = ending("completed", R"({"status":"completed","output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":2}}})");
constexpr auto message_item = R"({"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Grüße😀"}],"phase":"commentary","role":"assistant"})";
constexpr auto reasoning_item = R"({"id":"rs_1","type":"reasoning","content":[],"encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"A"}],"status":null})";
constexpr auto call_item = R"({"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"pattern\":\"ä\"}","call_id":"call_1","name":"glob"})";

}

TEST_CASE("openai-responses: recordings of real services") { check_recordings(responses); }

TEST_CASE("openai-responses: every kind of item in one stream, cut anywhere")
{
    auto bytes = stream({ending("created", R"({"status":"in_progress","error":null})"), R"({"type":"response.reasoning_summary_part.added","summary_index":0})", delta("reasoning_summary_text", "A"),
                         R"({"type":"response.reasoning_summary_part.added","summary_index":1})", delta("reasoning_summary_text", "B"), item(reasoning_item),
                         R"({"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message"}})", delta("output_text", "Grü", 1), delta("output_text", "ße😀", 1),
                         R"({"type":"response.output_text.done","text":"Grüße😀"})", R"({"type":"response.output_text.annotation.added","annotation":{}})", item(message_item, 1),
                         delta("function_call_arguments", "{\"pat", 2), R"({"type":"response.function_call_arguments.done","arguments":"{}","output_index":2})", item(call_item, 2),
                         delta("function_call_arguments", "{\"x\"", 3), delta("function_call_arguments", ":1}", 3), item(R"({"type":"function_call","call_id":"call_2","name":"f"})", 3),
                         item(R"({"type":"function_call","call_id":"call_3","name":"now","arguments":""})", 4), item(R"({"type":"web_search_call","id":"ws_1","action":{"query":"x"}})", 5),
                         R"({"type":"response.brand_new","x":1})", completed});
    for (auto size : read_sizes)
        for (auto& cut : {bytes, with_crlf(bytes)}) {
            INFO(size);
            auto got = decode(responses, cut, size);
            CHECK(!got.complaint);
            CHECK(got.joined("text") == "Grüße😀");
            CHECK(got.joined("thinking") == "A\n\nB");
            auto calls = got.all("tool_call");
            REQUIRE(calls.size() == 3);
            CHECK(calls[0].dump() == R"({"type":"tool_call","id":"call_1","name":"glob","arguments":{"pattern":"ä"}})");
            CHECK(calls[1].dump() == R"({"type":"tool_call","id":"call_2","name":"f","arguments":{"x":1}})");
            CHECK(calls[2].dump() == R"({"type":"tool_call","id":"call_3","name":"now","arguments":{}})");
            auto kept = got.all("opaque");
            REQUIRE(kept.size() == 4);
            CHECK(kept[0].find("data")->dump() == R"({"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"A"}]})");
            CHECK(kept[1].find("data")->dump() == R"({"id":"msg_1","type":"message","status":"completed","phase":"commentary","role":"assistant"})");
            CHECK(kept[2].find("data")->dump() == R"({"id":"fc_1","type":"function_call","call_id":"call_1"})");
            CHECK(kept[3].find("data")->text("type") == "web_search_call");
            CHECK(got.one("usage").dump() == R"({"type":"usage","input_tokens":9,"output_tokens":4,"cached_tokens":3,"reasoning_tokens":2})");
            CHECK(got.lines.back().text("reason") == "tool_use");
            CHECK(got.lines.back().text("raw_stop") == "completed");
        }
}

TEST_CASE("openai-responses: how a stream ends")
{
    auto last = [](std::vector<std::string> pieces) { return decode(responses, stream(std::move(pieces))).lines.back(); };
    auto hello = delta("output_text", "Hi");
    CHECK(last({hello, completed}).text("reason") == "end_turn");
    CHECK(last({delta("refusal", "No."), completed}).text("reason") == "refusal");
    CHECK(last({hello, ending("incomplete", R"({"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}})")}).text("reason") == "max_tokens");
    CHECK(last({hello, ending("incomplete", R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"}})")}).text("reason") == "refusal");
    CHECK(last({hello, ending("incomplete", R"({"status":"incomplete"})")}).text("raw_stop") == "incomplete");
    for (auto& broken : {stream({hello}), stream({hello, item(message_item)}), std::string()}) CHECK(decode(responses, broken).complaint);

    auto cut = decode(responses, stream({item(R"({"type":"function_call","status":"incomplete","call_id":"c","name":"f","arguments":"{\"x"})"), ending("incomplete", R"({"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}})")}));
    CHECK(cut.all("tool_call").empty());
    CHECK(decode(responses, stream({item(message_item), completed})).joined("text") == "Grüße😀");   // no deltas
}

TEST_CASE("openai-responses: errors in the middle of a stream")
{
    auto failed = decode(responses, stream({delta("output_text", "Hi"), ending("failed", R"({"status":"failed","error":{"code":"server_error","message":"Oh"}})")}));
    REQUIRE(failed.complaint);
    CHECK(failed.complaint->message == "Oh");
    CHECK(failed.complaint->type == "server_error");
    CHECK(failed.complaint->raw_stop == "failed");
    CHECK(decode(responses, stream({R"({"type":"error","code":"rate_limit_exceeded","message":"Slow","param":null})"})).complaint->type == "rate_limit_exceeded");
    CHECK(decode(responses, stream({R"({"type":"error","error":{"type":"invalid_request_error","message":"Bad"}})"})).complaint->message == "Bad");
    CHECK(decode(responses, stream({ending("failed", R"({"status":"failed","error":null})")})).complaint);
    CHECK(decode(responses, "data: <html>\n\n").complaint);
}

TEST_CASE("openai-responses: a whole conversation as a request")
{
    auto ask = *parse_json(R"({"type":"ask","model":"gpt-5-mini","system":"Be brief.","messages":[
        {"role":"user","text":"Grüße: what is here?"},
        {"role":"assistant","parts":[{"thinking":"A"},{"opaque":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[]},"provider":"openai-responses"},{"opaque":{"type":"thinking"},"provider":"anthropic"},
            {"text":"I look."},{"opaque":{"id":"msg_1","type":"message","status":"completed","phase":"commentary","role":"assistant"},"provider":"openai-responses"},
            {"opaque":{"id":"fc_1","type":"function_call","call_id":"c1"},"provider":"openai-responses"},{"call":{"id":"c1","name":"glob","arguments":{"pattern":"*"}}},{"call":{"id":"c2","name":"bash","arguments":{}}}]},
        {"role":"tool","id":"c1","name":"glob","envelope":{"tool_success":true,"result":{"output":"ä.txt","count":1}}},
        {"role":"tool","id":"c2","name":"bash","envelope":{"tool_success":false,"error":"Tool 'bash' was cancelled by the user","error_code":"TOOL_CANCELLED"}},
        {"role":"assistant","parts":[{"opaque":{"id":"rs_2","type":"reasoning","encrypted_content":"gBBB","summary":[]},"provider":"openai-responses"},{"text":"interrup"}]},
        {"role":"user","text":"Go on."}],
        "tools":[{"name":"file_read","description":"Read","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["file_path"]}},
                 {"name":"free","description":"Any","parameters":{"type":"object","additionalProperties":true}}],
        "max_tokens":100,"thinking":"low"})");
    CHECK(body_of(responses, ask).dump() ==
          R"({"model":"gpt-5-mini","instructions":"Be brief.","input":[{"role":"user","content":"Grüße: what is here?"},{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[]},)"
          R"({"id":"msg_1","type":"message","status":"completed","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},)"
          R"({"id":"fc_1","type":"function_call","call_id":"c1","name":"glob","arguments":"{\"pattern\":\"*\"}"},{"type":"function_call","call_id":"c2","name":"bash","arguments":"{}"},)"
          R"({"type":"function_call_output","call_id":"c1","output":"{\"tool_success\":true,\"result\":{\"output\":\"ä.txt\",\"count\":1}}"},)"
          R"({"type":"function_call_output","call_id":"c2","output":"{\"tool_success\":false,\"error\":\"Tool 'bash' was cancelled by the user\",\"error_code\":\"TOOL_CANCELLED\"}"},)"
          R"({"role":"assistant","content":"interrup"},{"role":"user","content":"Go on."}],)"
          R"("tools":[{"type":"function","name":"file_read","description":"Read","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":["integer","null"]}},"required":["file_path","limit"],"additionalProperties":false},"strict":true},)"
          R"({"type":"function","name":"free","description":"Any","parameters":{"type":"object","additionalProperties":true},"strict":false}],)"
          R"("max_output_tokens":100,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"store":false,"stream":true})");
    CHECK(body_of(responses, *parse_json(R"({"model":"gpt-4o","messages":[{"role":"user","text":"x"}],"tools":[],"thinking":"high"})")).dump() ==
          R"({"model":"gpt-4o","input":[{"role":"user","content":"x"}],"store":false,"stream":true})");
    auto request = providers::find(responses)->request(ask, {.base_url = "x", .key = "k", .key_source = {}});
    CHECK(request.path == "/responses");
    CHECK(header(request.headers, "authorization") == "Bearer k");
}

TEST_CASE("openai-responses: reasoning goes back only where it can be used")
{
    auto types = [](const char* parts) {
        auto ask = object({{"model", "gpt-5"}, {"messages", Json::Array{object({{"role", "assistant"}, {"parts", *parse_json(parts)}})}}});
        auto body = body_of(responses, ask);
        std::string out;
        for (auto& item : *body.find("input")->as<Json::Array>()) out += std::string(item.text("type")) + " ";
        return out;
    };
    CHECK(types(R"([{"opaque":{"id":"r","type":"reasoning","encrypted_content":"g"},"provider":"openai-responses"},{"call":{"id":"c","name":"f","arguments":{}}}])") == "reasoning function_call ");
    CHECK(types(R"([{"opaque":{"id":"r","type":"reasoning"},"provider":"openai-responses"},{"call":{"id":"c","name":"f","arguments":{}}}])") == "function_call ");
    CHECK(types(R"([{"opaque":{"id":"r","type":"reasoning","encrypted_content":"g"},"provider":"openai-responses"}])") == "");
}

TEST_CASE("openai-responses: recorded answers go back as they came")
{
    auto bytes = recorded_stream(responses, "phase-tool-1");
    if (!bytes) return;
    auto check = [&](const char* first, const char* second) {
        auto got = decode(responses, *recorded_stream(responses, first));
        auto body = body_of(responses, object({{"model", "gpt-5"}, {"messages", answered("x", got, object({{"tool_success", true}}))}}));
        auto recorded = recorded_request(responses, second);
        auto& ours = *body.find("input")->as<Json::Array>();
        auto& theirs = *recorded.find("input")->as<Json::Array>();
        REQUIRE(ours.size() == theirs.size());
        for (std::size_t i = 1; i < ours.size(); ++i)
            for (auto& [name, value] : *theirs[i].as<Json::Object>()) {
                INFO(name);
                auto* member = ours[i].find(name);
                REQUIRE(member);
                if (name != "output" && name != "content") CHECK(*member == value);   // theirs, and quotes that were made plain
            }
    };
    check("phase-tool-1", "phase-tool-2");
}

TEST_CASE("openai: the newer dialect at its own address, the older elsewhere")
{
    CHECK(providers::find("openai")->name == "openai-responses");
    CHECK(providers::find("openai", "https://api.openai.com/v1/")->name == "openai-responses");
    CHECK(providers::find("openai", "http://127.0.0.1:11434/v1")->name == "openai-chat");
    CHECK(providers::find("openai-responses", "http://127.0.0.1:11434/v1")->name == "openai-responses");
    CHECK(providers::find("nobody") == nullptr);
}
