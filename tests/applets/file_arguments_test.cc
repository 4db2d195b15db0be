// What the three file tools say to arguments that they cannot use.
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

// `rest` is what a tool needs besides file_path, to be complete.
struct Tool { std::string name, rest; };
const std::vector<Tool> tools = {{"file-read", ""}, {"file-write", R"(,"content":"x")"}, {"file-edit", R"(,"old_string":"x","new_string":"y")"}};

struct Case { std::string input, message; };   // a message that ends in "…" is compared up to there

std::vector<Case> cases_of(const Tool& tool)
{
    std::string nested(300'000, '[');
    std::vector<Case> cases = {
        {"", "standard input is empty: expected a JSON object"},
        {" \n", "standard input is empty: expected a JSON object"},
        {"file.txt", "Invalid JSON: …"},
        {R"({"file_path":"a")" + tool.rest, "Invalid JSON: …"},
        {R"({"file_path":"a")" + tool.rest + "} {}", "Invalid JSON: …"},
        {"[]", "arguments must be a JSON object"},
        {"null", "arguments must be a JSON object"},
        {"\"a\"", "arguments must be a JSON object"},
        {"{}", "missing required parameter: file_path"},
        {R"({"file_path":null)" + tool.rest + "}", "missing required parameter: file_path"},
        {R"({"file_path":7)" + tool.rest + "}", "parameter file_path must be a string"},
        {R"({"file_path":["a"])" + tool.rest + "}", "parameter file_path must be a string"},
        {R"({"file_path":"a\u0000b")" + tool.rest + "}", "parameter file_path must not contain a NUL character"},
        {R"({"file_path":"\ud800")" + tool.rest + "}", "Invalid JSON: …"},
        {"{\"file_path\":\"\xff\"" + tool.rest + "}", "Invalid JSON: …"},
        {nested, "Invalid JSON: …"},
        {R"({"file_path":)" + nested, "Invalid JSON: …"},
        {nested + std::string(300'000, ']'), "Invalid JSON: …"},
    };
    if (tool.name == "file-read") {
        cases.push_back({R"({"file_path":"a","offset":"2"})", "parameter offset must be an integer"});
        cases.push_back({R"({"file_path":"a","limit":1.5})", "parameter limit must be an integer"});
        cases.push_back({R"({"file_path":"a","limit":1e300})", "parameter limit must be an integer"});
    }
    if (tool.name == "file-write") {
        cases.push_back({R"({"file_path":"a"})", "missing required parameter: content"});
        cases.push_back({R"({"file_path":"a","content":{}})", "parameter content must be a string"});
    }
    if (tool.name == "file-edit") {
        cases.push_back({R"({"file_path":"a","new_string":"x"})", "missing required parameter: old_string"});
        cases.push_back({R"({"file_path":"a","old_string":"x"})", "missing required parameter: new_string"});
        cases.push_back({R"({"file_path":"a","old_string":"x","new_string":"y","replace_all":"yes"})", "parameter replace_all must be a boolean"});
    }
    return cases;
}

}

TEST_CASE("file tools: unusable arguments")
{
    Folder folder;
    for (auto& each : tools)
        for (auto& [input, message] : cases_of(each)) {
            auto ran = run({.argv = {tool(each.name)}, .input = input});
            auto answer = parse_json(ran.out);
            INFO(each.name << " " << input.substr(0, 100) << " -> " << ran.out << ran.err);
            REQUIRE(answer);
            std::string error(answer->text("error"));
            if (message.ends_with("…"))
                CHECK(error.starts_with(message.substr(0, message.size() - 3)));
            else
                CHECK(error == message);
            CHECK(*answer == object({{"error", error}, {"error_code", "INVALID_ARG"}}));
            CHECK(ran.err == each.name + ": " + error + "\n");
            CHECK(ran.status == 1);
        }
    CHECK(std::filesystem::is_empty("."));
}

TEST_CASE("file tools: their pages are valid mdoc")
{
    for (auto& each : tools)
        CHECK(sh(tool(each.name) + " --man | mandoc -Tlint -W warning | grep -v 'unexpected section'").out.empty());
}
