#include "support/world.h"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

Json glob(std::string pattern) { return call("glob", object({{"pattern", std::move(pattern)}})); }
Json glob(std::string pattern, std::string path) { return call("glob", object({{"pattern", std::move(pattern)}, {"path", std::move(path)}})); }
Json found(std::string output, int count) { return object({{"output", std::move(output)}, {"count", count}}); }
Json failed(std::string error, std::string code) { return object({{"error", std::move(error)}, {"error_code", std::move(code)}}); }

}

TEST_CASE("glob: schema to the letter")
{
    CHECK(run({.argv = {tool("glob"), "--schema"}}).out ==
          R"json({"name":"glob","description":"Find files matching a glob pattern","parameters":{"type":"object","properties":{"pattern":{"type":"string","description":"Glob pattern (e.g., '*.txt', 'src/**/*.c')"},"path":{"type":"string","description":"Directory to search in (default: current directory)"}},"required":["pattern"]}})json");
}

TEST_CASE("glob: paths one a line, and how many")
{
    Folder folder;
    for (auto* name : {"file1.txt", "notes.txt", "file2.txt", "main.c", ".hidden.txt", "src/a.c", "src/b/c.c"})
        folder.write(name, "");
    CHECK(glob("*.txt") == found("file1.txt\nfile2.txt\nnotes.txt", 3));
    CHECK(glob("*.txt", folder.path) == found(folder / "file1.txt" + "\n" + (folder / "file2.txt") + "\n" + (folder / "notes.txt"), 3));
    CHECK(glob("main.c") == found("main.c", 1));
    CHECK(glob("*.none") == found("", 0));
    CHECK(glob("*", "missing") == found("", 0));
    CHECK(glob("*.c", "") == found("main.c", 1));
    CHECK(glob("src/**/*.c") == found("src/a.c\nsrc/b/c.c", 2));
    CHECK(glob("*/") == found("src/", 1));
    CHECK(glob(".*.txt") == found(".hidden.txt", 1));
    CHECK(run({.argv = {tool("glob")}, .input = R"({"pattern":"*.c"})"}).out == R"({"output":"main.c","count":1})");
}

TEST_CASE("glob: names of any bytes")
{
    Folder folder;
    for (auto* name : {"t\xc3\xa9.x", "two\nlines.x", "bad\xff.x"})
        folder.write(name, "");
    CHECK(glob("*.x") == found("bad\uFFFD.x\ntwo\nlines.x\nt\xc3\xa9.x", 3));
    CHECK(glob("t\xc3\xa9.x") == found("t\xc3\xa9.x", 1));
    CHECK(glob("t??.x") == found("t\xc3\xa9.x", 1));   // bytes
}

TEST_CASE("glob: its errors")
{
    Folder folder;
    CHECK(glob("") == failed("Invalid glob pattern", "INVALID_PATTERN"));
    CHECK(glob(std::string(5000, '*')) == failed("Invalid glob pattern", "INVALID_PATTERN"));
    if (sanitized())
        return skip("READ_ERROR: a dynamic program needs a fourth descriptor to start");
    auto ran = sh("ulimit -n 3; exec " + tool("glob"), R"({"pattern":"*"})");
    CHECK(ran.out == R"({"error":"Read error during glob","error_code":"READ_ERROR","hint":".: Too many open files"})");
    CHECK(ran.status == 0);
}

TEST_CASE("glob: folders that cannot be read are skipped")
{
    Folder folder;
    folder.write("closed/x/f.c", "");
    folder.write("open/f.c", "");
    fs::permissions("closed", fs::perms(0311));
    std::string as = is_root() ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    auto ran = sh("exec " + as + tool("glob"), R"({"pattern":"**/*.c"})");
    auto named = sh("exec " + as + tool("glob"), R"({"pattern":"closed/x/*.c"})");
    fs::permissions("closed", fs::perms(0755));
    CHECK(ran.out == R"({"output":"open/f.c","count":1})");
    CHECK(named.out == R"({"output":"closed/x/f.c","count":1})");
}

TEST_CASE("glob and grep: called by hand with bad arguments")
{
    struct { std::string input, error; } table[] = {
        {"", "standard input is empty: expected a JSON object"},
        {"  \n", "standard input is empty: expected a JSON object"},
        {"[]", "arguments must be a JSON object"},
        {"\"*\"", "arguments must be a JSON object"},
        {"{}", "missing required parameter: pattern"},
        {R"({"pattern":null})", "missing required parameter: pattern"},
        {R"({"pattern":5})", "parameter pattern must be a string"},
        {R"({"pattern":"*","path":true})", "parameter path must be a string"},
        {R"({"pattern":"a\u0000b"})", "parameter pattern must not contain a NUL character"},
        {R"({"pattern":"*","path":"a\u0000b"})", "parameter path must not contain a NUL character"},
        {"not JSON", ""},
        {R"({"pattern":"\ud800"})", ""},
        {R"({"pattern":)" + std::string(300000, '['), ""},
        {R"({"pattern":"*"} x)", ""},
        {R"({"pattern":"*")", ""},
    };
    for (std::string command : {"glob", "grep"})
        for (auto& row : table) {
            INFO(command << " " << row.input.substr(0, 80));
            auto ran = run({.argv = {tool(command)}, .input = row.input});
            CHECK(ran.status == 1);
            auto answer = parse_json(ran.out);
            REQUIRE(answer);
            CHECK(answer->text("error_code") == "INVALID_ARG");
            if (!row.error.empty())
                CHECK(answer->text("error") == row.error);
            CHECK(ran.err == command + ": " + std::string(answer->text("error")) + "\n");
        }
}

TEST_CASE("glob and grep: null is absent, unknown members are ignored")
{
    Folder folder;
    folder.write("a.c", "x\n");
    CHECK(call_text("glob", R"({"pattern":"*.c","path":null,"more":[1]})") == found("a.c", 1));
    CHECK(call_text("grep", R"({"pattern":"x","path":null,"glob":null,"more":[1]})") == found("a.c:1: x", 1));
}
