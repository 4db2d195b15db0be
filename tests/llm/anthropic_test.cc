#include "llm/decode.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

constexpr std::string_view anthropic = "anthropic";

std::string named(std::string_view json) { return "event: " + std::string(parse_json(json)->text("type")) + "\ndata: " + std::string(json) + "   \n\n"; }

std::string stream(std::vector<std::string> pieces)
{
    std::string out;
    for (auto& piece : pieces) out += named(piece);
    return out;
}

std::string start(int index, std::string_view block) { return R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":)" + std::string(block) + "}"; }
std::string delta(int index, std::string_view members) { return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":)" + std::string(members) + "}"; }
std::string stop(int index) { return R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}"; }
std::string ending(std::string_view reason)
{
    return R"({"type":"message_delta","delta":{"stop_reason":")" + std::string(reason) + R"(","stop_sequence":null},"usage":{"output_tokens":7}})";
}

const std::string begin = R"({"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}})";
constexpr auto end = R"({"type":"message_stop"})";
constexpr auto text_block = R"({"type":"text","text":""})";

std::string text_delta(std::string_view text) { return delta(0, object({{"type", "text_delta"}, {"text", text}}).dump()); }

std::string texts(std::string_view said, std::string_view reason) { return stream({begin, start(0, text_block), text_delta(said), stop(0), ending(reason), end}); }

}

TEST_CASE("anthropic: recordings of real services") { check_recordings(anthropic); }

TEST_CASE("anthropic: every kind of block in one stream, cut anywhere")
{
    auto bytes = stream({begin, R"({"type":"ping"})",
                         start(0, R"({"type":"thinking","thinking":"","signature":""})"), delta(0, R"({"type":"thinking_delta","thinking":"Hm"})"), delta(0, R"({"type":"thinking_delta","thinking":"m."})"),
                         delta(0, R"({"type":"signature_delta","signature":"c2ln"})"), stop(0),
                         start(1, R"({"type":"redacted_thinking","data":"c2VjcmV0"})"), stop(1),
                         start(2, text_block), delta(2, R"({"type":"text_delta","text":"Grü"})"), R"({"type":"ping"})", delta(2, R"({"type":"text_delta","text":"ße😀"})"),
                         delta(2, R"({"type":"citations_delta","citation":{}})"), delta(2, R"({"type":"brand_new_delta","x":1})"), stop(2),
                         start(3, R"({"type":"server_tool_use","id":"srv1","name":"web_search","input":{}})"), delta(3, R"({"type":"input_json_delta","partial_json":"{\"query\":"})"),
                         delta(3, R"({"type":"input_json_delta","partial_json":"\"x\"}"})"), stop(3),
                         start(4, R"({"type":"web_search_tool_result","tool_use_id":"srv1","content":[]})"), stop(4),
                         start(5, R"({"type":"brand_new_block","x":{"y":[1]}})"), stop(5),
                         start(6, R"({"type":"tool_use","id":"t1","name":"glob","input":{}})"), delta(6, R"({"type":"input_json_delta","partial_json":""})"),
                         delta(6, R"({"type":"input_json_delta","partial_json":"{\"pattern\":"})"), delta(6, R"({"type":"input_json_delta","partial_json":"\"ä\"}"})"), stop(6),
                         start(7, R"({"type":"tool_use","id":"t2","name":"now","input":{}})"), delta(7, R"({"type":"input_json_delta","partial_json":""})"), stop(7),
                         R"({"type":"brand_new_event","index":1})", ending("tool_use"), end});
    for (auto size : read_sizes)
        for (auto& cut : {bytes, with_crlf(bytes)}) {
            INFO(size);
            auto got = decode(anthropic, cut, size);
            CHECK(!got.complaint);
            CHECK(got.joined("text") == "Grüße😀");
            CHECK(got.joined("thinking") == "Hmm.");
            auto kept = got.all("opaque");
            REQUIRE(kept.size() == 5);
            CHECK(kept[0].find("data")->dump() == R"({"type":"thinking","thinking":"Hmm.","signature":"c2ln"})");
            CHECK(kept[1].find("data")->dump() == R"({"type":"redacted_thinking","data":"c2VjcmV0"})");
            CHECK(kept[2].find("data")->dump() == R"({"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"x"}})");
            CHECK(kept[3].find("data")->dump() == R"({"type":"web_search_tool_result","tool_use_id":"srv1","content":[]})");
            CHECK(kept[4].find("data")->dump() == R"({"type":"brand_new_block","x":{"y":[1]}})");
            auto calls = got.all("tool_call");
            REQUIRE(calls.size() == 2);
            CHECK(calls[0].dump() == R"({"type":"tool_call","id":"t1","name":"glob","arguments":{"pattern":"ä"}})");
            CHECK(calls[1].dump() == R"({"type":"tool_call","id":"t2","name":"now","arguments":{}})");
            CHECK(got.one("usage").dump() == R"({"type":"usage","input_tokens":10,"output_tokens":7,"cached_tokens":3,"reasoning_tokens":0})");
            CHECK(got.lines.back().dump() ==
                  R"({"type":"done","reason":"tool_use","raw_stop":"tool_use","raw_usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":7}})");
        }
}

TEST_CASE("anthropic: how a stream ends")
{
    struct Case { const char *raw, *reason; };
    for (auto& c : {Case{"end_turn", "end_turn"}, {"stop_sequence", "end_turn"}, {"max_tokens", "max_tokens"}, {"model_context_window_exceeded", "max_tokens"}, {"pause_turn", "pause"},
                    {"refusal", "refusal"}, {"tool_use", "end_turn"}, {"brand_new", "end_turn"}}) {
        INFO(c.raw);
        auto got = decode(anthropic, texts("Hi", c.raw));
        CHECK(got.lines.back().text("reason") == c.reason);
        CHECK(got.lines.back().text("raw_stop") == c.raw);
    }
    for (auto& broken : {stream({begin}), stream({begin, start(0, text_block), text_delta("Hi"), stop(0), ending("end_turn")}), std::string()}) {
        auto got = decode(anthropic, broken);
        CHECK(!got.done);
        REQUIRE(got.complaint);
        CHECK(got.complaint->status == 0);
    }
    auto half = [&](const char* reason) {
        return decode(anthropic, stream({begin, start(0, R"({"type":"tool_use","id":"t","name":"f","input":{}})"), delta(0, R"({"type":"input_json_delta","partial_json":"{\"x\":\"y"})"), stop(0), ending(reason), end}));
    };
    CHECK(half("max_tokens").all("tool_call").empty());
    CHECK(half("tool_use").one("tool_call").find("arguments")->dump() == R"("{\"x\":\"y")");
}

TEST_CASE("anthropic: errors in the middle of a stream")
{
    auto got = decode(anthropic, stream({begin, start(0, text_block), text_delta("Hi"), R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"})"}));
    REQUIRE(got.complaint);
    CHECK(got.complaint->message == "Overloaded");
    CHECK(got.complaint->type == "overloaded_error");
    CHECK(decode(anthropic, "event: error\ndata: {\"message\":\"by name\"}\n\n").complaint->message == "by name");
    CHECK(decode(anthropic, "data: <html>\n\n").complaint->message.find("not JSON") != std::string::npos);
}

namespace {

const Json whole_conversation = *parse_json(R"({"type":"ask","model":"claude-sonnet-4-5","system":"Be brief.","messages":[
    {"role":"user","text":"Grüße: what is here?"},
    {"role":"assistant","parts":[{"thinking":"Hm."},{"opaque":{"type":"thinking","thinking":"Hm.","signature":"s"},"provider":"anthropic"},{"opaque":{"reasoning_content":"x"},"provider":"openai-chat"},
        {"text":"I look."},{"call":{"id":"t1","name":"glob","arguments":{"pattern":"*"}}},{"call":{"id":"functions.bash:1","name":"bash","arguments":{}}}]},
    {"role":"tool","id":"t1","name":"glob","envelope":{"tool_success":true,"result":{"output":"ä.txt","count":1}}},
    {"role":"tool","id":"functions.bash:1","name":"bash","envelope":{"tool_success":false,"error":"Tool 'bash' was cancelled by the user","error_code":"TOOL_CANCELLED"}},
    {"role":"user","text":"Go on."},
    {"role":"assistant","parts":[{"thinking":"Hm"},{"text":" "}]},
    {"role":"user","text":"Well?"}],
    "tools":[{"name":"file_read","description":"Read","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["file_path"],"additionalProperties":false}},
             {"name":"bash","description":"Run"}],
    "max_tokens":8000,"thinking":"low"})");

}

TEST_CASE("anthropic: a whole conversation as a request")
{
    CHECK(body_of(anthropic, whole_conversation).dump() ==
          R"({"model":"claude-sonnet-4-5","max_tokens":8000,"stream":true,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],)"
          R"("tools":[{"name":"file_read","description":"Read","input_schema":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["file_path"],"additionalProperties":false}},)"
          R"({"name":"bash","description":"Run","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],)"
          R"("thinking":{"type":"enabled","budget_tokens":2048},)"
          R"("messages":[{"role":"user","content":[{"type":"text","text":"Grüße: what is here?","cache_control":{"type":"ephemeral"}}]},)"
          R"({"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"I look."},)"
          R"({"type":"tool_use","id":"t1","name":"glob","input":{"pattern":"*"}},{"type":"tool_use","id":"functions_bash_1","name":"bash","input":{}}]},)"
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"{\"tool_success\":true,\"result\":{\"output\":\"ä.txt\",\"count\":1}}"},)"
          R"({"type":"tool_result","tool_use_id":"functions_bash_1","content":"{\"tool_success\":false,\"error\":\"Tool 'bash' was cancelled by the user\",\"error_code\":\"TOOL_CANCELLED\"}","is_error":true},)"
          R"({"type":"text","text":"Go on."},{"type":"text","text":"Well?","cache_control":{"type":"ephemeral"}}]}]})");
}

TEST_CASE("anthropic: a request begins with the one before it, where the cache's marks are not counted")
{
    auto without_marks = [](std::string body) {
        const std::string mark = R"(,"cache_control":{"type":"ephemeral"})";
        for (std::size_t at; (at = body.find(mark)) != body.npos;) body.erase(at, mark.size());
        return body;
    };
    auto ask = *parse_json(R"({"model":"claude-sonnet-4-5","system":"s","messages":[{"role":"user","text":"x"}],"tools":[{"name":"bash"}]})");
    auto before = without_marks(body_of(anthropic, ask).dump());
    for (auto* more : {R"({"role":"assistant","parts":[{"call":{"id":"1","name":"bash","arguments":{}}}]})", R"({"role":"tool","id":"1","name":"bash","envelope":{}})",
                       R"({"role":"assistant","parts":[{"text":"y"}]})", R"({"role":"user","text":"z"})"}) {
        ask.find("messages")->as<Json::Array>()->push_back(*parse_json(more));
        auto body = body_of(anthropic, ask).dump();
        auto now = without_marks(body);
        CHECK(now.starts_with(before.substr(0, before.size() - 2)));
        before = now;
    }
}

TEST_CASE("anthropic: what is not said is not sent")
{
    auto bare = body_of(anthropic, *parse_json(R"({"model":"claude-sonnet-4-5","messages":[{"role":"user","text":"x"}],"tools":[],"thinking":"none"})"));
    CHECK(bare.dump() == R"({"model":"claude-sonnet-4-5","max_tokens":32000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]})");
    auto* row = providers::find(anthropic);
    auto request = row->request(Json::Object(), {.base_url = "x", .key = "k", .key_source = {}});
    CHECK(header(request.headers, "x-api-key") == "k");
    CHECK(header(request.headers, "anthropic-version") == "2023-06-01");
    CHECK(request.path == "/v1/messages");
    CHECK(header(row->request(Json::Object(), {.base_url = "x", .key = {}, .key_source = {}}).headers, "x-api-key").empty());
}

TEST_CASE("anthropic: thinking as each family wants it")
{
    auto asked = [](const char* model, const char* level, int limit) {
        auto body = body_of(anthropic, object({{"model", model}, {"thinking", level}, {"max_tokens", limit}, {"messages", Json::Array{object({{"role", "user"}, {"text", "x"}})}}}));
        auto dump = [&](const char* name) { return body.find(name) ? body.find(name)->dump() : ""; };
        return dump("thinking") + dump("output_config");
    };
    CHECK(asked("claude-sonnet-4-5", "high", 64000) == R"({"type":"enabled","budget_tokens":24576})");
    CHECK(asked("claude-sonnet-4-5", "high", 4096) == R"({"type":"enabled","budget_tokens":2048})");   // less than max_tokens
    CHECK(asked("claude-sonnet-4-5", "high", 1000) == "");
    CHECK(asked("claude-sonnet-4-5", "none", 4096) == "");
    CHECK(asked("claude-3-5-haiku-latest", "high", 4096) == "");
    CHECK(asked("claude-opus-4-6", "medium", 4096) == R"({"type":"adaptive"}{"effort":"medium"})");
    CHECK(asked("claude-new-9", "low", 4096) == R"({"type":"adaptive","display":"summarized"}{"effort":"low"})");

    auto unthought = whole_conversation;   // a turn that another model began
    unthought.set("messages", *parse_json(R"([{"role":"user","text":"x"},{"role":"assistant","parts":[{"call":{"id":"a","name":"f","arguments":{}}}]},{"role":"tool","id":"a","name":"f","envelope":{}}])"));
    CHECK(!body_of(anthropic, unthought).find("thinking"));
}

TEST_CASE("anthropic: a recorded answer goes back as it came")
{
    auto stream_bytes = recorded_stream(anthropic, "tool-use-1");
    if (!stream_bytes) return;
    auto got = decode(anthropic, *stream_bytes);
    auto body = body_of(anthropic, object({{"messages", answered("What is the current USD to EUR exchange rate?", got, object({{"tool_success", true}}))}}));
    auto recorded = recorded_request(anthropic, "tool-use-2");
    auto& ours = *body.find("messages")->as<Json::Array>();
    auto& theirs = *recorded.find("messages")->as<Json::Array>();
    REQUIRE(ours.size() == theirs.size());
    auto& blocks = *ours[1].find("content")->as<Json::Array>();
    auto& expected = *theirs[1].find("content")->as<Json::Array>();
    REQUIRE(blocks.size() == expected.size());
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (auto& [name, value] : *expected[i].as<Json::Object>())
            if (auto* member = blocks[i].find(name); name != "content") {   // whose order of members differs
                REQUIRE(member);
                CHECK(*member == value);
            }
    CHECK(ours[2].find("content")->as<Json::Array>()->front().text("tool_use_id") == "toolu_01EFn5wTNBYA8Reni8rbmnHT");
}

TEST_CASE("anthropic: recorded thoughts go back untouched")
{
    for (auto* name : {"thinking-1", "redacted-thinking-1"}) {
        auto bytes = recorded_stream(anthropic, name);
        if (!bytes) return;
        auto body = body_of(anthropic, object({{"messages", answered("x", decode(anthropic, *bytes), Json())}}));
        auto& blocks = *body.find("messages")->as<Json::Array>()->at(1).find("content")->as<Json::Array>();
        auto& first = blocks.front();
        auto opaque = std::string(first.text("type") == "thinking" ? first.text("signature") : first.text("data"));
        CHECK(opaque.size() > 100);
        CHECK(bytes->find(opaque) != std::string::npos);
        CHECK(blocks.back().text("type") == "text");
    }
}
