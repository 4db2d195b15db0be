#include "base/json.h"

#include "base/spool.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {
std::string again(const char* text) { return parse_json(text)->dump(); }
std::string why(const Json& schema, const char* value)
{
    auto ok = validate(schema, *parse_json(value));
    return ok ? "" : ok.error().message;
}
}

TEST_CASE("json: what is read is what is written")
{
    for (auto* text : {R"({"b":1,"a":[true,false,null,-5,"x"],"c":{}})", R"([])", R"("é 😀 \" \\ \n \u0001")", "0.1", "1e+30", "9007199254740993", "2.0"})
        CHECK(again(text) == text);
    CHECK(again(R"("\u00e9\ud83d\ude00\/")") == R"("é😀/")");
    CHECK(Json("a\xFF" "b\xC3").dump() == "\"a\uFFFDb\uFFFD\"");
    CHECK(Json(std::string("\0\x1F", 2)).dump() == R"("\u0000\u001F")");
}

TEST_CASE("json: bad input is an error, never a crash")
{
    for (auto text : {std::string(""), std::string("{"), std::string("{} x"), std::string("{}\0", 3), std::string("\"\\ud800\""), std::string("\"\xFF\""),
                      std::string("nul"), std::string("{\"a\":}"), std::string(300'000, '['), std::string("\"a\nb\"")})
        CHECK_FALSE(parse_json(text));
    CHECK(parse_json(std::string(300'000, '[')).error().message == "Invalid JSON: nested too deeply");
    std::string deep;
    for (int i = 0; i < 300'000; ++i) deep += "{\"a\":";
    CHECK_FALSE(parse_json(deep));
}

TEST_CASE("json: a spool is checked without being built")
{
    auto check = [](std::string_view text) { Spool spool(16); spool.append(text); return static_cast<bool>(check_json(spool)); };
    CHECK(check(R"({"a":[1,2,{"b":"a longer string than the memory of the spool"}]} )"));
    CHECK_FALSE(check(R"({"a":[1,2,{"b":"a longer string than the memory of the spool"}]} x)"));
    CHECK_FALSE(check(R"({"a":[1,2,{"b":"a longer string than the memory of the spool")"));
}

TEST_CASE("json: arguments are checked against a schema, in words")
{
    auto schema = *parse_json(R"({"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1},
        "mode":{"type":"string","enum":["a","b"]},"pattern":{"type":"string","pattern":"^x"},"files":{"type":"array","items":{"type":"object",
        "properties":{"name":{"type":"string"}},"required":["name"]}},"either":{"type":["string","null"]}},"required":["path"],"additionalProperties":false})");
    CHECK(why(schema, R"({"path":"x","limit":2,"mode":"a","files":[{"name":"n"}],"either":null})") == "");
    CHECK(why(schema, R"({"path":"x","limit":2.0,"pattern":"y"})") == "");
    CHECK(why(schema, R"({})") == "missing required parameter: path");
    CHECK(why(schema, R"({"path":5})") == "parameter path must be a string");
    CHECK(why(schema, R"({"path":"x","limit":"3"})") == "parameter limit must be an integer");
    CHECK(why(schema, R"({"path":"x","limit":0})") == "parameter limit must be at least 1");
    CHECK(why(schema, R"({"path":"x","mode":"c"})") == R"(parameter mode must be one of ["a","b"])");
    CHECK(why(schema, R"({"path":"x","files":[{"name":"a"},{}]})") == "missing required parameter: files[1].name");
    CHECK(why(schema, R"({"path":"x","either":5})") == "parameter either must be a string or a null");
    CHECK(why(schema, R"("text")") == "the arguments must be an object");
    CHECK(why(schema, R"({"path":"x","more":1})") != "");
}

TEST_CASE("json: what looks like a pattern inside data does no harm")
{
    for (auto* schema : {R"({"properties":{"a":{"default":{"pattern":"("}}}})", R"({"properties":{"a":{"enum":[{"pattern":"("}]}}})",
                         R"({"definitions":{"type":"string","pattern":"("}})"})
        CHECK(validate(*parse_json(schema), object({{"b", "x"}})));
}
