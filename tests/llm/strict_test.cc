#include "llm/strict.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

std::string strict(const char* schema)
{
    auto out = providers::strict_schema(*parse_json(schema));
    return out ? out->dump() : "no";
}

}

TEST_CASE("strict schemas: what OpenAI takes")
{
    CHECK(strict(R"({"type":"object"})") == R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"string","description":"d","format":"uri","minLength":2,"default":"x"}},"required":["a"]})") ==
          R"({"type":"object","properties":{"a":{"type":"string","description":"d"}},"required":["a"],"additionalProperties":false})");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}})") ==
          R"({"type":"object","properties":{"a":{"type":["string","null"],"enum":["x","y",null]}},"required":["a"],"additionalProperties":false})");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":["integer","null"]}}}}},"required":["a"]})") ==
          R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":["integer","null"]}},"required":["b"],"additionalProperties":false}}},"required":["a"],"additionalProperties":false})");
    CHECK(strict(R"({"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer","minimum":1}]}}})") ==
          R"({"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}},"required":["a"],"additionalProperties":false})");
}

TEST_CASE("strict schemas: what cannot be said so")
{
    CHECK(strict(R"({"type":"string"})") == "no");
    CHECK(strict(R"({})") == "no");
    CHECK(strict(R"([])") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"object"}}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}})") == "no");
    CHECK(strict(R"({"type":"object","additionalProperties":{"type":"string"}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{},"additionalProperties":true})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{}}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{"$ref":"#/x"}}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"array"}}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":{"type":"string","const":"x"}}})") == "no");
    CHECK(strict(R"({"type":"object","properties":{"a":7}})") == "no");
    CHECK(strict(R"({"type":"object","properties":[]})") == "no");
    CHECK(strict(R"({"type":"object","anyOf":[{"type":"object"}]})") == "no");
}
