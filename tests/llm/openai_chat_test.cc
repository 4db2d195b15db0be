#include "llm/decode.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;
using namespace ik::providers;

namespace {

constexpr std::string_view chat = "openai-chat";

std::string delta(std::string_view members, std::string_view stop = "null")
{
    return R"({"choices":[{"index":0,"delta":)" + std::string(members) + R"(,"finish_reason":)" + std::string(stop) + "}]}";
}

std::string stream(std::vector<std::string> pieces)
{
    std::string out;
    for (auto& piece : pieces) out += event(piece);
    return out;
}

const std::string stop = delta("{}", R"("stop")");
const std::string tool_calls = delta("{}", R"("tool_calls")");
constexpr auto usage = R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}})";

Json made(const std::string& pieces_json) { return *parse_json(pieces_json); }

}

TEST_CASE("openai-chat: recordings of real services") { check_recordings(chat); }

TEST_CASE("openai-chat: every trap in one stream, cut anywhere")
{
    auto text = ": OPENROUTER PROCESSING\n\n" +
                stream({delta(R"({"role":"assistant","content":""})"), delta(R"({"content":"Grü"})"), delta(R"({"content":[{"type":"text","text":"ße"},{"type":"image"}]})"),
                        delta(R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":""}}]})"),
                        delta(R"({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"two","arguments":"{\"x\""}}]})"),
                        delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"y\":"}},{"index":1,"function":{"arguments":":1}"}}]})"),
                        delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"\"😀\"}"}}]})"),
                        delta(R"({"tool_calls":[{"index":2,"function":{"name":"three"}}]})"), R"({"object":"something.new","choices":null})", tool_calls, usage, "[DONE]"});
    for (auto size : read_sizes)
        for (auto& bytes : {text, with_crlf(text)}) {
            INFO(size);
            auto got = decode(chat, bytes, size);
            CHECK(got.joined("text") == "Grüße");
            auto calls = got.all("tool_call");
            REQUIRE(calls.size() == 3);
            CHECK(calls[0].dump() == R"({"type":"tool_call","id":"a","name":"one","arguments":{"y":"😀"}})");
            CHECK(calls[1].dump() == R"({"type":"tool_call","id":"b","name":"two","arguments":{"x":1}})");
            CHECK(calls[2].text("id").starts_with("call_"));
            CHECK(*calls[2].find("arguments") == Json(Json::Object()));
            CHECK(got.one("usage").dump() == R"({"type":"usage","input_tokens":9,"output_tokens":4,"cached_tokens":3,"reasoning_tokens":2})");
            CHECK(got.lines.back().text("reason") == "tool_use");
            CHECK(got.lines.back().text("raw_stop") == "tool_calls");
        }
}

TEST_CASE("openai-chat: how a stream ends")
{
    auto hello = delta(R"({"content":"Hi"})");
    CHECK(decode(chat, stream({hello, stop})).lines.back().text("reason") == "end_turn");                       // [DONE] missing
    CHECK(decode(chat, stream({hello, stop, "[DONE]"})).lines.back().dump() == R"({"type":"done","reason":"end_turn","raw_stop":"stop","raw_usage":null})");
    CHECK(decode(chat, stream({hello, delta("{}", R"("length")")})).lines.back().text("reason") == "max_tokens");
    CHECK(decode(chat, stream({hello, delta("{}", R"("content_filter")")})).lines.back().text("reason") == "refusal");
    CHECK(decode(chat, stream({delta(R"({"refusal":"No."})"), stop})).lines.back().text("reason") == "refusal");
    CHECK(decode(chat, stream({hello, delta("{}", R"("brand_new")")})).lines.back().text("reason") == "end_turn");
    CHECK(decode(chat, stream({call("a", "f", "{}"), stop})).lines.back().text("reason") == "tool_use");        // says stop although it calls
    CHECK(decode(chat, stream({hello, stop, usage, "[DONE]", hello})).joined("text") == "Hi");

    for (auto& broken : {stream({hello}), stream({hello, "[DONE]"}), std::string()}) {
        auto got = decode(chat, broken);
        CHECK(!got.done);
        REQUIRE(got.complaint);
        CHECK(got.complaint->status == 0);
    }
    auto cut = decode(chat, stream({call("a", "whole", "{}"), call("b", "cut", R"({"x":"y)", 1), delta("{}", R"("length")")}));
    CHECK(cut.one("tool_call").text("name") == "whole");
    CHECK(cut.lines.back().text("reason") == "max_tokens");
}

TEST_CASE("openai-chat: errors in the middle of a stream")
{
    auto hello = delta(R"({"content":"Hi"})");
    auto complaint = [&](const std::string& bytes) {
        auto got = decode(chat, bytes);
        REQUIRE(got.complaint);
        CHECK(!got.done);
        return *got.complaint;
    };
    CHECK(complaint(stream({hello, R"({"error":{"code":429,"message":"Slow down"}})"})).status == 429);
    CHECK(complaint(stream({hello, R"({"error":{"type":"server_error","message":"Oh"}})"})).type == "server_error");
    CHECK(complaint(stream({R"({"error":"plain words"})"})).message == "plain words");
    CHECK(complaint(stream({R"({"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"{\"error\":{\"message\":\"inner\"}}"}}})"})).message == "Provider returned error: inner");
    CHECK(complaint("event: error\ndata: {\"message\":\"by name\"}\n\n").message == "by name");
    CHECK(complaint("data: <html>\n\n").message.find("not JSON") != std::string::npos);
}

TEST_CASE("openai-chat: calls as the many servers send them")
{
    auto names = [](const Decoding& got) {
        std::string out;
        for (auto& line : got.all("tool_call")) out += std::string(line.text("name")) + line.find("arguments")->dump() + " ";
        return out;
    };
    // whole calls without an index
    CHECK(names(decode(chat, stream({delta(R"({"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{\"x\":1}"}}]})"), stop}))) == "f{} g{\"x\":1} ");
    // without ids too
    CHECK(names(decode(chat, stream({delta(R"({"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}]})"), stop}))) == "f{} f{} ");
    // every call has the index 0
    CHECK(names(decode(chat, stream({call("a", "f", "{}"), call("b", "g", "{}"), tool_calls}))) == "f{} g{} ");
    // arguments as an object, as null, as white space
    CHECK(names(decode(chat, stream({delta(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}},{"index":1,"id":"b","function":{"name":"g","arguments":null}},{"index":2,"id":"c","function":{"name":"h","arguments":" "}}]})"), stop}))) ==
          "f{\"x\":1} g{} h{} ");
    // no JSON object: the text itself, for the check against the schema to refuse
    CHECK(names(decode(chat, stream({call("a", "f", "{\"x\":"), call("b", "g", "[1]", 1), tool_calls}))) == R"(f"{\"x\":" g"[1]" )");
    // the id repeated in every piece, the name only once
    CHECK(names(decode(chat, stream({call("a", "f", "{\"x\""), delta(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"","arguments":":2}"}}]})"), tool_calls}))) == "f{\"x\":2} ");

    auto twice = decode(chat, stream({delta(R"({"tool_calls":[{"function":{"name":"f"}},{"function":{"name":"g"}}]})"), stop})).all("tool_call");
    REQUIRE(twice.size() == 2);
    CHECK(twice[0].text("id") != twice[1].text("id"));
}

TEST_CASE("openai-chat: thinking is shown once and kept as it came")
{
    auto deepseek = decode(chat, stream({delta(R"({"content":null,"reasoning_content":"Hm"})"), delta(R"({"reasoning_content":"m."})"), delta(R"({"content":"Yes"})"), stop}));
    CHECK(deepseek.joined("thinking") == "Hmm.");
    CHECK(deepseek.one("opaque").dump() == R"({"type":"opaque","provider":"openai-chat","data":{"reasoning_content":"Hmm."}})");

    auto details = R"({"reasoning":"A","reasoning_details":[{"type":"reasoning.text","text":"A","format":"f","index":0}]})";
    auto more = R"({"reasoning":"B","reasoning_details":[{"type":"reasoning.text","text":"B","format":null,"signature":"s1g","index":0}]})";
    auto secret = R"({"reasoning":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","index":1}]})";
    auto openrouter = decode(chat, stream({delta(details), delta(more), delta(secret), stop}));
    CHECK(openrouter.joined("thinking") == "AB");
    CHECK(openrouter.one("opaque").find("data")->dump() ==
          R"({"reasoning":"AB","reasoning_details":[{"type":"reasoning.text","text":"AB","format":"f","index":0,"signature":"s1g"},{"type":"reasoning.encrypted","data":"xyz","index":1}]})");

    auto only_details = decode(chat, stream({delta(R"({"reasoning_details":[{"type":"reasoning.summary","summary":"S","index":0}]})"), stop}));
    CHECK(only_details.joined("thinking") == "S");
    auto both = decode(chat, stream({delta(R"({"reasoning":"x","reasoning_content":"x"})"), stop}));
    CHECK(both.joined("thinking") == "x");
    auto mistral = decode(chat, stream({delta(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"T"}]}]})"), delta(R"({"content":"A"})"), stop}));
    CHECK(mistral.joined("thinking") == "T");
    CHECK(mistral.joined("text") == "A");
}

namespace {

const Json conversation = made(R"({"type":"ask","model":"some-model","system":"Be brief.","messages":[
    {"role":"user","text":"Grüße: what is here?"},
    {"role":"assistant","parts":[{"thinking":"Hm."},{"opaque":{"reasoning_content":"Hm."},"provider":"openai-chat"},{"opaque":{"signature":"x"},"provider":"anthropic"},
        {"text":"I look. "},{"call":{"id":"c1","name":"glob","arguments":{"pattern":"*"}}},{"call":{"id":"c2","name":"bash","arguments":{}}}]},
    {"role":"tool","id":"c1","name":"glob","envelope":{"tool_success":true,"result":{"output":"ä.txt","count":1}}},
    {"role":"tool","id":"c2","name":"bash","envelope":{"tool_success":false,"error":"Tool 'bash': missing required parameter: command","error_code":"INVALID_PARAMS"}},
    {"role":"assistant","parts":[{"call":{"id":"c3","name":"bash","arguments":"not json"}}]},
    {"role":"tool","id":"c3","name":"bash","envelope":{"tool_success":true,"result":{"output":"","exit_code":0}}}],
    "tools":[{"name":"file_read","description":"Read","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["file_path"]}}],
    "max_tokens":100,"thinking":"low"})");

Json body(const Json& ask, std::string base_url)
{
    auto request = openai_chat_request(ask, {.base_url = std::move(base_url), .key = "k", .key_source = "K"});
    CHECK(header(request.headers, "authorization") == "Bearer k");
    CHECK(request.path == "/chat/completions");
    return *parse_json(request.body);
}

constexpr auto elsewhere = "http://localhost:11434/v1", at_home = "https://api.openai.com/v1";

}

TEST_CASE("openai-chat: a whole conversation as a request")
{
    CHECK(openai_chat_request(conversation, {.base_url = elsewhere, .key = {}, .key_source = {}}).body ==
          R"({"model":"some-model","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Grüße: what is here?"},)"
          R"({"role":"assistant","content":"I look. ","reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}},)"
          R"({"id":"c2","type":"function","function":{"name":"bash","arguments":"{}"}}]},)"
          R"({"role":"tool","tool_call_id":"c1","content":"{\"tool_success\":true,\"result\":{\"output\":\"ä.txt\",\"count\":1}}"},)"
          R"({"role":"tool","tool_call_id":"c2","content":"{\"tool_success\":false,\"error\":\"Tool 'bash': missing required parameter: command\",\"error_code\":\"INVALID_PARAMS\"}"},)"
          R"({"role":"assistant","content":null,"tool_calls":[{"id":"c3","type":"function","function":{"name":"bash","arguments":"not json"}}]},)"
          R"({"role":"tool","tool_call_id":"c3","content":"{\"tool_success\":true,\"result\":{\"output\":\"\",\"exit_code\":0}}"}],)"
          R"("tools":[{"type":"function","function":{"name":"file_read","description":"Read","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["file_path"]}}}],)"
          R"("max_tokens":100,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}})");
}

TEST_CASE("openai-chat: what differs at api.openai.com")
{
    auto home = body(conversation, at_home);
    CHECK(home.find("tools")->dump() ==
          R"([{"type":"function","function":{"name":"file_read","description":"Read","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":["integer","null"]}},"required":["file_path","limit"],"additionalProperties":false},"strict":true}}])");
    CHECK(!home.find("messages")->as<Json::Array>()->at(2).find("reasoning_content"));
    CHECK(home.find("max_tokens"));
    CHECK(!home.find("reasoning_effort"));
    auto thinker = conversation;
    thinker.set("model", "gpt-5-mini");
    CHECK(body(thinker, at_home).find("max_completion_tokens"));
    CHECK(body(thinker, at_home).find("reasoning_effort"));
    CHECK(!body(thinker, at_home).find("max_tokens"));
    CHECK(body(thinker, elsewhere).find("max_tokens"));
}

TEST_CASE("openai-chat: what is not said is not sent")
{
    auto small = body(made(R"({"model":"m","messages":[{"role":"user","text":"x"}],"tools":[],"thinking":"none"})"), elsewhere);
    CHECK(small.dump() == R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}})");
    auto bare = body(made(R"({"messages":[],"tools":[{"name":"t","description":"d"}]})"), elsewhere);
    CHECK(bare.find("tools")->dump() == R"([{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object","properties":{}}}}])");
    auto request = openai_chat_request(made("{}"), {.base_url = elsewhere, .key = {}, .key_source = {}});
    CHECK(header(request.headers, "authorization").empty());
}
