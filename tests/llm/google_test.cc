#include "llm/decode.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

constexpr std::string_view google = "google";

std::string chunk(std::string_view parts, std::string_view more = "", std::string_view stop = "")
{
    return event(R"({"candidates":[{"content":{"parts":)" + std::string(parts) + R"(,"role":"model"})" +
                 (stop.empty() ? "" : R"(,"finishReason":")" + std::string(stop) + "\"") + R"(,"index":0}])" + std::string(more) + "}");
}

constexpr auto usage = R"(,"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"thoughtsTokenCount":2,"cachedContentTokenCount":3,"totalTokenCount":15})";

std::string reason_of(const std::string& stream) { return std::string(decode(google, stream).lines.back().text("reason")); }

Json asking(std::string_view model, std::string_view level)
{
    return object({{"model", model}, {"thinking", level}, {"messages", Json::Array{object({{"role", "user"}, {"text", "x"}})}}});
}

}

TEST_CASE("google: recordings of real services") { check_recordings(google); }

TEST_CASE("google: every kind of part in one stream, cut anywhere")
{
    auto bytes = chunk(R"([{"text":"Hm","thought":true}])") + chunk(R"([{"text":"m.","thought":true},{"text":"Grü"}])") + chunk(R"([{"text":"ße😀"}])") + chunk(R"([{"text":" Yes","thoughtSignature":"c2ln"}])") +
                 chunk(R"([{"executableCode":{"code":"1"}},{"brandNew":1}])") + chunk(R"([{"functionCall":{"name":"glob","args":{"pattern":"ä"}},"thoughtSignature":"Y2FsbA=="},{"functionCall":{"id":"g2","name":"now"}}])") +
                 chunk(R"([{"text":""}])", usage, "STOP");
    for (auto size : read_sizes)
        for (auto& cut : {bytes, with_crlf(bytes)}) {
            INFO(size);
            auto got = decode(google, cut, size);
            CHECK(!got.complaint);
            CHECK(got.joined("text") == "Grüße😀 Yes");
            CHECK(got.joined("thinking") == "Hmm.");
            auto calls = got.all("tool_call");
            REQUIRE(calls.size() == 2);
            CHECK(calls[0].text("id").starts_with("call_"));
            CHECK(calls[0].find("arguments")->dump() == R"({"pattern":"ä"})");
            CHECK(calls[1].dump() == R"({"type":"tool_call","id":"g2","name":"now","arguments":{}})");
            auto kept = got.all("opaque");
            REQUIRE(kept.size() == 4);
            CHECK(kept[0].find("data")->dump() == R"({"thoughtSignature":"c2ln","text":" Yes"})");
            CHECK(kept[1].find("data")->dump() == R"({"part":{"executableCode":{"code":"1"}}})");
            CHECK(kept[3].find("data")->dump() == R"({"thoughtSignature":"Y2FsbA==","call":")" + std::string(calls[0].text("id")) + "\"}");
            CHECK(got.one("usage").dump() == R"({"type":"usage","input_tokens":9,"output_tokens":6,"cached_tokens":3,"reasoning_tokens":2})");
            CHECK(got.lines.back().text("reason") == "tool_use");
            CHECK(got.lines.back().text("raw_stop") == "STOP");
        }
}

TEST_CASE("google: how a stream ends")
{
    CHECK(reason_of(chunk(R"([{"text":"Hi"}])", "", "STOP")) == "end_turn");
    CHECK(reason_of(chunk(R"([{"text":"Hi"}])", "", "MAX_TOKENS")) == "max_tokens");
    CHECK(reason_of(chunk(R"([{"functionCall":{"name":"f"}}])", "", "MAX_TOKENS")) == "max_tokens");
    CHECK(reason_of(chunk(R"([{"text":"Hi"}])", "", "BRAND_NEW")) == "end_turn");
    for (auto* stop : {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}) CHECK(reason_of(chunk("[]", "", stop)) == "refusal");
    CHECK(reason_of(event(R"({"candidates":[{"finishReason":"SAFETY"}]})")) == "refusal");

    auto blocked = decode(google, event(R"({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3}})"));
    CHECK(blocked.lines.back().dump() == R"({"type":"done","reason":"refusal","raw_stop":"PROHIBITED_CONTENT","raw_usage":{"promptTokenCount":3}})");

    auto malformed = decode(google, event(R"({"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: x"}]})"));
    REQUIRE(malformed.complaint);
    CHECK(malformed.complaint->message == "Malformed function call: x");
    CHECK(malformed.complaint->raw_stop == "MALFORMED_FUNCTION_CALL");

    for (auto& broken : {chunk(R"([{"text":"Hi"}])"), std::string()}) CHECK(decode(google, broken).complaint);
}

TEST_CASE("google: errors in the middle of a stream")
{
    auto got = decode(google, chunk(R"([{"text":"Hi"}])") + event(R"({"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}})"));
    REQUIRE(got.complaint);
    CHECK(got.complaint->status == 503);
    CHECK(got.complaint->type == "UNAVAILABLE");
    CHECK(decode(google, "data: <html>\n\n").complaint);
}

TEST_CASE("google: a whole conversation as a request")
{
    auto ask = *parse_json(R"({"type":"ask","model":"gemini-3-pro-preview","system":"Be brief.","messages":[
        {"role":"user","text":"Grüße: what is here?"},
        {"role":"assistant","parts":[{"thinking":"Hm."},{"opaque":{"signature":"x"},"provider":"anthropic"},{"text":"I look."},{"opaque":{"thoughtSignature":"T","text":"look."},"provider":"google"},
            {"opaque":{"thoughtSignature":"C","call":"c1"},"provider":"google"},{"call":{"id":"c1","name":"glob","arguments":{"pattern":"*"}}},{"call":{"id":"c2","name":"bash","arguments":{}}}]},
        {"role":"tool","id":"c1","name":"glob","envelope":{"tool_success":true,"result":{"output":"ä.txt","count":1}}},
        {"role":"tool","id":"c2","name":"bash","envelope":{"tool_success":false,"error":"Tool 'bash' was cancelled by the user","error_code":"TOOL_CANCELLED"}},
        {"role":"user","text":"Go on."},
        {"role":"assistant","parts":[{"call":{"id":"c3","name":"bash","arguments":"not json"}}]},
        {"role":"tool","id":"c3","name":"bash","envelope":{"tool_success":true}}],
        "tools":[{"name":"glob","description":"Find","parameters":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"],"additionalProperties":false}},{"name":"now","description":"Time"}],
        "max_tokens":100,"thinking":"low"})");
    CHECK(body_of(google, ask).dump() ==
          R"({"contents":[{"role":"user","parts":[{"text":"Grüße: what is here?"}]},)"
          R"({"role":"model","parts":[{"text":"I "},{"text":"look.","thoughtSignature":"T"},{"functionCall":{"id":"c1","name":"glob","args":{"pattern":"*"}},"thoughtSignature":"C"},{"functionCall":{"id":"c2","name":"bash","args":{}}}]},)"
          R"({"role":"user","parts":[{"functionResponse":{"id":"c1","name":"glob","response":{"tool_success":true,"result":{"output":"ä.txt","count":1}}}},)"
          R"({"functionResponse":{"id":"c2","name":"bash","response":{"tool_success":false,"error":"Tool 'bash' was cancelled by the user","error_code":"TOOL_CANCELLED"}}}]},)"
          R"({"role":"user","parts":[{"text":"Go on."}]},)"
          R"({"role":"model","parts":[{"functionCall":{"id":"c3","name":"bash","args":{"arguments":"not json"}},"thoughtSignature":"skip_thought_signature_validator"}]},)"
          R"({"role":"user","parts":[{"functionResponse":{"id":"c3","name":"bash","response":{"tool_success":true}}}]}],)"
          R"("systemInstruction":{"parts":[{"text":"Be brief."}]},)"
          R"("tools":[{"functionDeclarations":[{"name":"glob","description":"Find","parameters":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}},{"name":"now","description":"Time"}]}],)"
          R"("generationConfig":{"maxOutputTokens":100,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}}})");
    CHECK(body_of(google, *parse_json(R"({"model":"gemini-2.0-flash","messages":[{"role":"user","text":"x"}],"tools":[],"thinking":"high"})")).dump() == R"({"contents":[{"role":"user","parts":[{"text":"x"}]}]})");
}

TEST_CASE("google: thinking as each family wants it")
{
    auto asked = [](const char* model, const char* level) {
        auto body = body_of(google, asking(model, level));
        return body.find("generationConfig") ? body.find("generationConfig")->find("thinkingConfig")->dump() : "";
    };
    CHECK(asked("gemini-2.5-flash", "medium") == R"({"includeThoughts":true,"thinkingBudget":8192})");
    CHECK(asked("gemini-2.5-flash", "none") == R"({"includeThoughts":false,"thinkingBudget":0})");
    CHECK(asked("gemini-2.5-pro", "none") == R"({"includeThoughts":false,"thinkingBudget":128})");
    CHECK(asked("gemini-3-flash-preview", "medium") == R"({"includeThoughts":true,"thinkingLevel":"medium"})");
    CHECK(asked("gemini-3-pro-preview", "medium") == R"({"includeThoughts":true,"thinkingLevel":"high"})");
    CHECK(asked("gemini-2.0-flash", "high") == "");
    CHECK(asked("gemini-2.5-flash", "") == "");
}

TEST_CASE("google: schemas lose what is refused, at every depth")
{
    auto cleaned = [](const char* text) { return providers::google_schema(*parse_json(text)).dump(); };
    CHECK(cleaned(R"({"$schema":"x","type":"object","additionalProperties":false,"properties":{"additionalProperties":{"type":"object","additionalProperties":{"type":"string"},"properties":{"default":{"type":"string","default":"x","format":"uri"}}},
                      "list":{"type":"array","items":{"type":["integer","null"],"exclusiveMinimum":0,"minimum":1}},"any":{"oneOf":[{"type":"string","const":"a"},{"type":"null"}]},"bare":{"type":"array"},
                      "when":{"type":"string","format":"date-time"},"n":{"type":"integer","enum":[1,2]},"e":{"type":"string","enum":["a"]}},"required":["list"],"$defs":{}})") ==
          R"({"type":"object","properties":{"additionalProperties":{"type":"object","properties":{"default":{"type":"string"}}},"list":{"type":"array","items":{"type":"integer","nullable":true,"minimum":1}},)"
          R"("any":{"anyOf":[{"type":"string","enum":["a"]}]},"bare":{"type":"array","items":{"type":"string"}},"when":{"type":"string","format":"date-time"},"n":{"type":"integer"},"e":{"type":"string","enum":["a"]}},"required":["list"]})");
}

TEST_CASE("google: the path and the key")
{
    auto* row = providers::find(google);
    auto request = row->request(asking("tuned/a b?c", ""), {.base_url = "x", .key = "secret", .key_source = {}});
    CHECK(request.path == "/v1beta/models/tuned%2Fa%20b%3Fc:streamGenerateContent?alt=sse");
    CHECK(header(request.headers, "x-goog-api-key") == "secret");
    CHECK(row->request(asking("models/gemini-2.5-flash", ""), {.base_url = "x", .key = {}, .key_source = {}}).path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
}

TEST_CASE("google: recorded answers go back as they came")
{
    auto bytes = recorded_stream(google, "thought-signature-1");
    if (!bytes) return;
    auto body = body_of(google, object({{"model", "gemini-3-pro-preview"}, {"messages", answered("What is the capital of the user country? Call the tool", decode(google, *bytes), object({{"return_value", "Mexico"}}))}}));
    auto& ours = *body.find("contents")->as<Json::Array>();
    auto recorded = recorded_request(google, "thought-signature-2");
    auto& theirs = *recorded.find("contents")->as<Json::Array>();
    REQUIRE(ours.size() == theirs.size());
    CHECK(*ours[0].find("parts") == *theirs[0].find("parts"));
    auto& call = ours[1].find("parts")->as<Json::Array>()->front();
    auto& their_call = theirs[1].find("parts")->as<Json::Array>()->front();
    CHECK(call.find("functionCall")->text("name") == their_call.find("functionCall")->text("name"));
    CHECK(*call.find("functionCall")->find("args") == *their_call.find("functionCall")->find("args"));
    std::string signature(call.text("thoughtSignature"));
    CHECK(bytes->find('"' + signature + '"') != std::string::npos);
    CHECK(signature.size() == their_call.text("thoughtSignature").size());   // the SDK writes + and / otherwise
    auto& answer = *ours[2].find("parts")->as<Json::Array>()->front().find("functionResponse");
    CHECK(answer.text("id") == call.find("functionCall")->text("id"));
    CHECK(*answer.find("response") == *theirs[2].find("parts")->as<Json::Array>()->front().find("functionResponse")->find("response"));

    auto thinking = recorded_stream(google, "thinking-1");
    auto text = body_of(google, object({{"messages", answered("x", decode(google, *thinking), Json())}}));
    auto& parts = *text.find("contents")->as<Json::Array>()->at(1).find("parts")->as<Json::Array>();
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].text("text").starts_with("This is a great question!"));
    CHECK(thinking->find(std::string(parts[0].text("thoughtSignature"))) != std::string::npos);
    CHECK(!parts[1].find("thoughtSignature"));
}
