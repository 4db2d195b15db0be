// Discovery, as `ikigai discover` shows it.
#include "agent/registry.h"

#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

std::string script(const std::string& name, const std::string& description = "d")
{
    return "#!/bin/sh\necho '{\"name\":\"" + name + "\",\"description\":\"" + description + "\"}'\n";
}

Json discover(const Home& home, std::vector<std::string> env = {}, std::vector<std::string> words = {"discover", "--json"})
{
    auto ran = ikigai(home, std::move(words), "", std::move(env));
    INFO(ran.out << ran.err);
    REQUIRE(ran.status == 0);
    return *parse_json(ran.out);
}

std::string names(const Json& discovered, std::string_view member = "name")
{
    std::string out;
    for (auto& tool : *discovered.find("tools")->as<Json::Array>())
        out += std::string(tool.text(member)) + " ";
    return out;
}

std::string reason(const Json& discovered, const std::string& file)
{
    for (auto& skipped : *discovered.find("skipped")->as<Json::Array>())
        if (skipped.text("path").ends_with("/" + file))
            return std::string(skipped.text("reason"));
    return "(not skipped)";
}

}

TEST_CASE("discover: the built-in tools, sorted, with their schemas to the letter")
{
    Home home;
    auto found = discover(home);
    CHECK(names(found) == "bash file_edit file_read file_write glob grep web_fetch ");
    CHECK(names(found, "origin") == "system system system system system system system ");
    auto& first = found.find("tools")->as<Json::Array>()->front();
    CHECK(first.find("schema")->dump() == run({.argv = {test::tool("bash"), "--schema"}}).out);
    CHECK(found.find("skipped")->dump() == "[]");
}

TEST_CASE("discover: the binary copied alone has its tools")
{
    Home home;
    std::filesystem::copy_file(ikigai(), home / "ikigai");
    auto ran = run({.argv = {home / "ikigai", "discover", "--json"}, .env = home.env()});
    auto found = *parse_json(ran.out);
    CHECK(names(found) == "bash file_edit file_read file_write glob grep web_fetch ");
    CHECK(names(found, "origin") == "builtin builtin builtin builtin builtin builtin builtin ");
    CHECK(run({.argv = {home / "ikigai", "run", "bash", R"({"command":"echo hi"})"}, .env = home.env()}).out ==
          "{\"tool_success\":true,\"result\":{\"output\":\"hi\",\"exit_code\":0}}\n");
}

TEST_CASE("discover: a later folder replaces, and a project needs trust")
{
    Home home;
    Folder project;
    home.tool("mine", script("bash", "user"));
    project.write(".ikigai/tools/theirs", script("bash", "project"), 0755);
    auto description = [](const Json& found) { return found.find("tools")->as<Json::Array>()->front().find("schema")->text("description"); };
    CHECK(description(discover(home)) == "user");
    CHECK(description(discover(home, {}, {"discover", "--json", "--trust"})) == "project");
    CHECK(description(discover(home, {"IKIGAI_LIBEXEC_DIR=/no/such/folder"})) == "user");
    CHECK(names(discover(home, {"IKIGAI_LIBEXEC_DIR=/no/such/folder"})) == "bash ");
}

TEST_CASE("discover: every reason to skip a tool")
{
    Home home;
    home.tool("hangs", "#!/bin/sh\ntrap '' TERM\nsleep 300\n");
    home.tool("fails", "#!/bin/sh\nexit 3\n");
    home.tool("dies", "#!/bin/sh\nkill -KILL $$\n");
    home.tool("quiet", "#!/bin/sh\n");
    home.tool("broken", "#!/bin/sh\necho '{\"name\":'\n");
    home.tool("list", "#!/bin/sh\necho '[]'\n");
    home.tool("nameless", "#!/bin/sh\necho '{}'\n");
    home.tool("odd", "#!/bin/sh\necho '{\"name\":\"a b\"}'\n");
    home.tool("endless", "#!/bin/sh\nyes\n");
    home.tool("noscript", "#!/no/such/interpreter\n");
    home.tool("text", "not a program at all\n");
    home.tool("twin1", script("twin"));
    home.tool("twin2", script("twin"));
    home.tool("deep", "#!/bin/sh\nprintf '{\"name\":\"deep\",\"parameters\":'; head -c 300000 /dev/zero | tr '\\0' '['\n");
    home.write(".ikigai/tools/.hidden", script("hidden"), 0755);
    home.write(".ikigai/tools/backup~", script("backup"), 0755);
    home.write(".ikigai/tools/old.bak", script("old"), 0755);
    home.write(".ikigai/tools/note.txt", "no program", 0644);
    auto before = std::chrono::steady_clock::now();
    auto found = discover(home, {"IKIGAI_LIBEXEC_DIR=/no/such/folder"});
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
    CHECK(reason(found, "hangs") == "timeout");
    CHECK(reason(found, "fails") == "exit 3");
    CHECK(reason(found, "dies") == "signal 9");
    CHECK(reason(found, "quiet") == "no output");
    CHECK(reason(found, "broken") == "invalid JSON");
    CHECK(reason(found, "deep") == "invalid JSON");
    CHECK(reason(found, "list") == "invalid schema: not an object");
    CHECK(reason(found, "nameless") == "invalid schema: no name");
    CHECK(reason(found, "odd") == "invalid schema: the name is not 1 to 64 letters, digits, _");
    CHECK(reason(found, "endless") == "invalid schema: longer than 1 MiB");
    CHECK(reason(found, "noscript") == "not executable");
    CHECK(reason(found, "text") == "not executable");
    CHECK(reason(found, "twin2").starts_with("invalid schema: the name twin is taken by "));
    for (auto* other : {".hidden", "backup~", "old.bak", "note.txt"})
        CHECK(reason(found, other) == "(not skipped)");
    CHECK(names(found) == "twin ");
    auto ran = ikigai(home, {"discover"}, "", {"IKIGAI_LIBEXEC_DIR=/no/such/folder"});
    CHECK(ran.err.find("Debug: tool 'fails' schema failed (exit 3)\n") != std::string::npos);
    CHECK(sh("pgrep -f '[/]" + home.path.substr(1) + "'").out == "");
}

TEST_CASE("discover: no tools at all")
{
    Home home;
    CHECK(ikigai(home, {"discover"}, "", {"IKIGAI_LIBEXEC_DIR=/no/such/folder"}).out == "No tools available\n");
    CHECK(discover(home, {"IKIGAI_LIBEXEC_DIR=/no/such/folder"}).dump() == R"({"tools":[],"skipped":[]})");
}

TEST_CASE("discover: a hundred tools are asked at once")
{
    Home home;
    for (int i = 0; i < 100; ++i)
        home.tool("t" + std::to_string(i), "#!/bin/sh\nsleep 0.3\necho '{\"name\":\"t" + std::to_string(i) + "\"}'\n");
    auto found = discover(home, {"IKIGAI_LIBEXEC_DIR=/no/such/folder"});
    auto skipped = found.find("skipped")->as<Json::Array>()->size();
    if (!sanitized())
        CHECK(skipped == 0);
    CHECK(found.find("tools")->as<Json::Array>()->size() + skipped == 100);
}

TEST_CASE("schema: the flat form becomes the standard one, every keyword travels")
{
    auto flat = *parse_json(R"({"name":"x","description":"d","parameters":{"command":{"type":"string","description":"c","required":true,"minLength":2},
        "n":{"type":"integer","required":false}},"returns":{"type":"object"}})");
    CHECK(standard_schema(flat)->dump() ==
          R"({"name":"x","description":"d","parameters":{"type":"object","properties":{"command":{"type":"string","description":"c","minLength":2},"n":{"type":"integer"}},"required":["command"]}})");
    CHECK(standard_schema(*parse_json(R"({"name":"x"})"))->dump() == R"({"name":"x","description":"","parameters":{"type":"object","properties":{}}})");
    CHECK(standard_schema(*parse_json(R"({"name":"x","parameters":{"type":{"type":"string","required":true}}})"))->find("parameters")->dump() ==
          R"({"type":"object","properties":{"type":{"type":"string"}},"required":["type"]})");
    CHECK(standard_schema(*parse_json(R"({"name":"x","parameters":{"type":"object","properties":{"a":{"enum":[1]}},"additionalProperties":false}})"))->find("parameters")->dump() ==
          R"({"type":"object","properties":{"a":{"enum":[1]}},"additionalProperties":false})");
    for (auto* bad : {"[]", "{}", R"({"name":5})", R"({"name":""})", R"({"name":"x","parameters":[]})", R"({"name":"x","parameters":{"a":"string"}})",
                      R"({"name":"x","parameters":{"type":"object","properties":[]}})"})
        CHECK_FALSE(standard_schema(*parse_json(bad)));
}
