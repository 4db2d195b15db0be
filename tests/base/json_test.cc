#include "base/json.h"

#include "base/spool.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

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

TEST_CASE("json: a number is read to its last digit")
{
    for (auto* text : {"[9.222337203683372e+27]", "[0.1]", "[123456789.12345679]", "[5e-324]", "[1.7976931348623157e+308]", "[-9223372036854775808]"})
        CHECK(parse_json(text)->dump() == text);
    std::mt19937_64 dice(1);
    for (int i = 0; i < 100'000; ++i) {
        auto bits = dice();
        double number = 0;
        std::memcpy(&number, &bits, sizeof number);
        auto text = Json(number).dump();
        if (std::isfinite(number) && (*parse_json(text) != Json(number) || parse_json(text)->dump() != text)) FAIL(text);
    }
}

TEST_CASE("json: numbers at the edges")
{
    CHECK(*parse_json("9223372036854775807") == Json(INT64_MAX));
    CHECK(*parse_json("9223372036854775808") == Json(9223372036854775808.0));
    CHECK(*parse_json("-0") == Json(0));
    CHECK(parse_json("-0.0")->dump() == "-0.0");
    CHECK(*parse_json("1e2") == Json(100.0));
    for (auto* small : {"1e-400", "0e-400", "-1e-99999999999"}) CHECK(*parse_json(small) == Json(0.0));
    for (auto* large : {"9e308", "1e400", "-1e309"}) CHECK(parse_json(large).error().message == "Invalid JSON: Number too big to be stored in double.");
    for (auto* none : {"01", "+1", ".5", "1.", "1e", "0x1", "-", "1 2", "NaN", "Infinity"}) CHECK(!parse_json(none));
    CHECK(parse_json(R"({"a":1,"b":[2,3.5],"c":-4})")->dump() == R"({"a":1,"b":[2,3.5],"c":-4})");
}

TEST_CASE("json: depth is bounded in arrays, objects and what people write")
{
    for (auto [open, inside, close] : {std::array{"[", "1", "]"}, std::array{R"({"a":)", "1", "}"}}) {
        auto nested = [&](int depth) {
            std::string out, end;
            for (int i = 0; i < depth; ++i) out += open, end += close;
            return out + inside + end;
        };
        CHECK(parse_json(nested(max_json_depth)));
        CHECK(!parse_json(nested(max_json_depth + 1)));
        CHECK(!parse_json(nested(200'000)));
        CHECK(parse_written(nested(max_json_depth)));
        CHECK(!parse_written(nested(200'000)));
    }
}
