// Discovery, as `ikigai discover` shows it.
#include "agent/registry.h"

#include "support/world.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

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

// What names() shows of the built-in tools; and the same word for each of them.
std::string all_built_in()
{
    std::string out;
    for (auto& name : built_in_tools()) out += name + " ";
    return out;
}
std::string for_each_built_in(const std::string& word)
{
    std::string out;
    for (auto n = built_in_tools().size(); n > 0; --n) out += word + " ";
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
    CHECK(names(found) == all_built_in());
    CHECK(names(found, "origin") == for_each_built_in("system"));
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
    CHECK(names(found) == all_built_in());
    CHECK(names(found, "origin") == for_each_built_in("builtin"));
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

TEST_CASE("discover: what others can change is not asked, and why")
{
    Home home;
    auto marks = [](const std::string& name) { return "#!/bin/sh\ntouch ran-" + name + "\necho '{\"name\":\"" + name + "\"}'\n"; };
    home.tool("good", script("good"));
    home.tool("open", marks("open"));
    home.tool("group", marks("group"));
    home.write("elsewhere/target", marks("linked"), 0755);
    std::filesystem::create_symlink("../../elsewhere/target", home / ".ikigai/tools/linked");
    std::filesystem::create_symlink(home / ".ikigai/tools/good2", home / ".ikigai/tools/zlink");
    home.tool("good2", script("good2"));
    REQUIRE(chmod((home / ".ikigai/tools/open").c_str(), 0757) == 0);
    REQUIRE(chmod((home / "elsewhere").c_str(), 0777) == 0);
    REQUIRE(chmod((home / ".ikigai/tools/group").c_str(), 0775) == 0);
    if (is_root())
        REQUIRE(chown((home / ".ikigai/tools/group").c_str(), 0, 65534) == 0);
    std::vector<std::string> alone{"IKIGAI_LIBEXEC_DIR=/no/such/folder"};
    auto found = discover(home, alone);
    CHECK(reason(found, "open") == home / ".ikigai/tools/open is writable by others");
    CHECK(reason(found, "linked") == home / "elsewhere is writable by others");
    if (is_root())
        CHECK(reason(found, "group") == home / ".ikigai/tools/group is writable by group nogroup (65534)");
    CHECK(names(found).starts_with("good good2 "));
    CHECK_FALSE(home.exists("ran-open"));
    CHECK_FALSE(home.exists("ran-linked"));

    if (is_root()) {
        REQUIRE(chown((home / ".ikigai/tools/good").c_str(), 65534, 65534) == 0);
        CHECK(reason(discover(home, alone), "good").find(".ikigai/tools/good belongs to nobody (65534)") != std::string::npos);
    }
    REQUIRE(chmod((home / ".ikigai/tools").c_str(), 01777) == 0);   // sticky, but others may add to it
    found = discover(home, alone);
    CHECK(names(found) == "");
    CHECK(reason(found, "tools") == home / ".ikigai/tools is writable by others");
    CHECK(ikigai(home, {"discover"}, "", alone).err == "Debug: the tools in " + home / ".ikigai/tools are not used (" + home / ".ikigai/tools is writable by others)\n");
}

TEST_CASE("discover: a system folder in somebody else's hands is not looked at; the program has its own tools nevertheless")
{
    Home home;
    home.write("theirs/libexec/ikigai/evil", "#!/bin/sh\ntouch ran-evil\necho '{\"name\":\"evil\"}'\n", 0755);
    std::filesystem::create_directories(home / "theirs/bin");
    std::filesystem::copy_file(ikigai(), home / "theirs/bin/ikigai");
    if (is_root())
        REQUIRE(chown((home / "theirs").c_str(), 65534, 65534) == 0);
    else
        REQUIRE(chmod((home / "theirs").c_str(), 0777) == 0);
    auto ran = run({.argv = {home / "theirs/bin/ikigai", "discover", "--json"}, .env = home.env()});
    auto found = *parse_json(ran.out);
    CHECK(names(found) == all_built_in());
    CHECK(names(found, "origin") == for_each_built_in("builtin"));
    CHECK(reason(found, "ikigai").starts_with(home / "theirs "));
    CHECK_FALSE(home.exists("ran-evil"));
}

TEST_CASE("discover: the array that a provider would get")
{
    Home home;
    home.tool("mine", "#!/bin/sh\necho '{\"name\":\"mine\",\"description\":\"d\",\"parameters\":{\"a\":{\"type\":\"string\",\"required\":true}}}'\n");
    auto offered = [&](const char* provider) { return ikigai(home, {"discover", "--format", provider}, "", {"IKIGAI_LIBEXEC_DIR=/no/such/folder"}).out; };
    auto schema = std::string(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"])");
    CHECK(offered("openai-chat").find(R"([{"type":"function","function":{"name":"mine","description":"d","parameters":)" + schema) == 0);
    CHECK(offered("openai-responses").find(R"([{"type":"function","name":"mine","description":"d","parameters":)" + schema) == 0);
    CHECK(offered("anthropic").find(R"([{"name":"mine","description":"d","input_schema":)" + schema) == 0);
    CHECK(offered("google").find(R"([{"functionDeclarations":[{"name":"mine","description":"d","parameters":)" + schema) == 0);
    auto ran = ikigai(home, {"discover", "--format", "gogle"});
    CHECK(ran.status == 2);
    CHECK(ran.err == "ikigai: no provider offers tools as gogle. Did you mean: google?\n");
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
