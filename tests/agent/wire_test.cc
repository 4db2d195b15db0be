#include "agent/wire.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

const ToolCall call{"1", "slow", Json::Object{}};

Output said(const std::string& text) { return {parse_json(text), text, {}}; }
std::string envelope(const Ending& ending, const std::string& out, std::string err = "") { return report(call, ending, said(out), std::move(err)).envelope.dump(); }

}

TEST_CASE("wire: every envelope, to the letter")
{
    CHECK(envelope({}, R"({"output":"x","exit_code":0})") == R"({"tool_success":true,"result":{"output":"x","exit_code":0}})");
    CHECK(envelope({.exit = {143, 15}, .timed_out = true, .limit = std::chrono::seconds(30)}, "part", "oops") ==
          R"({"tool_success":false,"error":"Tool 'slow' timed out after 30s","error_code":"TOOL_TIMEOUT","exit_code":null,"stdout":"part","stderr":"oops"})");
    CHECK(envelope({.exit = {-1, 11}}, "", "boom") ==
          R"({"tool_success":false,"error":"Tool 'slow' crashed with exit code 139","error_code":"TOOL_CRASHED","exit_code":139,"stdout":"","stderr":"boom"})");
    CHECK(envelope({}, "{half") ==
          R"({"tool_success":false,"error":"Tool 'slow' returned invalid JSON","error_code":"INVALID_OUTPUT","exit_code":0,"stdout":"{half","stderr":""})");
    CHECK(envelope({}, "") ==
          R"({"tool_success":false,"error":"Tool 'slow' returned no output","error_code":"INVALID_OUTPUT","exit_code":0,"stdout":"","stderr":""})");
    CHECK(not_found(call).dump() == R"({"tool_success":false,"error":"Tool 'slow' not found","error_code":"TOOL_NOT_FOUND"})");
    CHECK(envelope({.exit = {0, 0}, .cancelled = true}, "") ==
          R"({"tool_success":false,"error":"Tool 'slow' was cancelled by the user","error_code":"TOOL_CANCELLED","exit_code":null,"stdout":"","stderr":""})");
    CHECK(envelope({.exit = {0, 0}, .timed_out = true, .limit = std::chrono::milliseconds(1500)}, "").find("after 1.5s") != std::string::npos);
}

TEST_CASE("wire: a failing tool's own report passes, a dying one's does not")
{
    auto own = R"({"error":"no such thing","error_code":"X"})";
    CHECK(envelope({.exit = {1, 0}}, own) == R"({"tool_success":true,"result":{"error":"no such thing","error_code":"X"}})");
    CHECK(envelope({.exit = {-1, 9}}, own).find("TOOL_CRASHED") != std::string::npos);
    CHECK(envelope({.exit = {1, 0}}, R"({"output":"x"})").find("TOOL_CRASHED") != std::string::npos);
    CHECK(envelope({.exit = {1, 0}}, R"({"error":5})").find("TOOL_CRASHED") != std::string::npos);
}

TEST_CASE("wire: events go to the user, not to the model")
{
    auto told = report(call, {}, said(R"({"a":1,"_event":{"kind":"note","content":"hi","data_json":"{\"b\":2}"}})"),
                       "words\n{\"kind\":\"config_required\",\"content\":\"set it\",\"data\":{\"c\":3}}\n{\"no\":\"kind\"}\n");
    CHECK(told.envelope.dump() == R"({"tool_success":true,"result":{"a":1}})");
    REQUIRE(told.notices.size() == 2);
    CHECK(told.notices[0].dump() == R"({"kind":"config_required","content":"set it","data":{"c":3}})");
    CHECK(told.notices[1].dump() == R"({"kind":"note","content":"hi","data":{"b":2}})");
    CHECK(told.words == "words\n{\"no\":\"kind\"}\n");
}

TEST_CASE("wire: model lines")
{
    auto read = [](const char* line) { return model_event(line); };
    CHECK(std::get<ModelSaid>(*read(R"({"type":"text","text":"hi"})")).text == "hi");
    CHECK(std::get<ModelThought>(*read(R"({"type":"thinking","text":"hm"})")).text == "hm");
    CHECK(std::get<ModelCalled>(*read(R"({"type":"tool_call","id":"1","name":"glob","arguments":{"pattern":"*"}})")).call ==
          ToolCall{"1", "glob", object({{"pattern", "*"}})});
    CHECK(std::get<ModelUsed>(*read(R"({"type":"usage","input_tokens":3,"output_tokens":2,"cached_tokens":1})")).usage == Usage{3, 2, 1});
    CHECK(std::get<ModelKept>(*read(R"({"type":"opaque","provider":"google","data":{"x":1}})")).part.dump() == R"({"opaque":{"x":1},"provider":"google"})");
    CHECK(std::get<ModelRetried>(*read(R"({"type":"retry","attempt":2,"delay_ms":1500,"error":"busy","discard":true})")).discard);
    CHECK(std::get<ModelDone>(*read(R"({"type":"done","reason":"end_turn"})")).reason == "end_turn");
    CHECK(std::get<ModelFailed>(*read(R"({"type":"error","error":"no","error_code":"API_ERROR","status":400})")).error_code == "API_ERROR");
    CHECK_FALSE(read(R"({"type":"something new"})"));
    CHECK(std::holds_alternative<ModelFailed>(*read("garbage")));
}
