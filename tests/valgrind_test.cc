// Every tool, and what else a conversation is made of, under valgrind: no byte is read that was not written, nothing
// that was allocated is lost, no descriptor is left open. Done by `make valgrind`, which builds a program that is
// not static: of such a one valgrind sees the allocations.
#include "base/text.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace ik;
using namespace ik::test;
using namespace std::chrono_literals;

namespace {

using Strings = std::vector<std::string>;

std::string checked(const std::string& path)
{
    auto* folder = std::getenv("IKIGAI_MEMCHECK");
    REQUIRE(folder);
    return std::string(folder) + "/" + path;
}

// What valgrind says of one process. Of those that became another program there is no sum, and those that were forked
// hold what their parent held.
void check_report(const std::string& path, const std::string& report, bool is_child)
{
    INFO(report);
    auto sum = report.find("ERROR SUMMARY: ");
    if (sum != report.npos) CHECK(report.substr(sum).starts_with("ERROR SUMMARY: 0 errors"));
    if (!is_child) return;
    CHECK(sum != report.npos);
    for (auto& line : split(report, '\n'))
        if (line.find("Open file descriptor ") != line.npos) CHECK_THAT(std::string(line), Catch::EndsWith(": " + path));   // the report's own
}

// The program's answer; its memory and its descriptors are checked.
Ran under_valgrind(const Home& home, const Strings& words, const std::string& input = "", const Strings& env = {})
{
    Folder reports;
    std::filesystem::current_path(home.path);
    Strings argv{"/usr/bin/valgrind", "--log-file=" + reports / "%p", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=definite",
                 "--errors-for-leak-kinds=definite", "--track-fds=yes"};
    argv.insert(argv.end(), words.begin(), words.end());
    auto ran = run({.argv = std::move(argv), .input = input, .env = home.env(env), .limit = 120s});
    CHECK_FALSE(ran.timed_out);
    int children = 0;
    for (auto& file : std::filesystem::directory_iterator(reports.path)) {
        auto report = reports.read(file.path().filename());
        bool is_child = report.find("Parent PID: " + std::to_string(getpid()) + "\n") != report.npos;
        check_report(file.path(), report, is_child);
        children += is_child;
    }
    CHECK(children == 1);
    return ran;
}

struct Call {
    std::string tool, input, in_answer;
    int status = 0;
    Strings env = {};
};

void check(const Home& home, const Call& call)
{
    INFO(call.tool << " " << call.input.substr(0, 300));
    auto ran = under_valgrind(home, {checked("libexec/ikigai/" + call.tool)}, call.input, call.env);
    INFO(ran.out.substr(0, 2000) << ran.err.substr(0, 2000));
    CHECK(ran.status == call.status);
    CHECK(ran.out.find(call.in_answer) != ran.out.npos);
}

std::string repeated(std::string_view text, int times)
{
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
}

}

TEST_CASE("valgrind: what each tool says of itself", "[.valgrind]")
{
    Home home;
    for (auto& file : std::filesystem::directory_iterator(checked("libexec/ikigai")))
        for (auto* option : {"--schema", "--help", "--man"}) {
            auto ran = under_valgrind(home, {file.path(), option});
            CHECK(ran.status == 0);
            CHECK(ran.out.size() > 100);
        }
}

TEST_CASE("valgrind: the tools for files and commands", "[.valgrind]")
{
    Home home;
    home.write("a.txt", "one\ntwo\nthree\n");
    home.write("big.txt", repeated("a line of text with a needle in it, and more\n", 40'000));
    home.write("deep/er/b.c", "int main() {}\n");
    home.write("binary", std::string("\0\xff\xfe\x80", 4));
    for (int i = 0; i < 300; ++i) home.write("many/" + std::to_string(i) + ".c", "int n" + std::to_string(i) + ";\n");
    const Call calls[] = {
        {"bash", R"({"command":"echo out; echo err >&2; exit 3"})", R"("exit_code":3)"},
        {"bash", R"({"command":"no-such-command"})", "not found"},
        {"bash", R"({"command":"cat big.txt"})", "needle"},
        {"bash", R"({"command":5})", "INVALID_ARG", 1},
        {"file-read", R"({"file_path":"a.txt","offset":2,"limit":1})", "two"},
        {"file-read", R"({"file_path":"big.txt"})", "needle"},
        {"file-read", R"({"file_path":"binary"})", "output"},
        {"file-read", R"({"file_path":"missing"})", "FILE_NOT_FOUND"},
        {"file-write", R"({"file_path":"new/c.txt","content":"hello"})", "error"},
        {"file-write", R"({"file_path":"c.txt","content":"hello"})", "bytes"},
        {"file-write", R"({"file_path":"d.txt","content":")" + repeated("0123456789 \\u00e4", 50'000) + "\"}", "bytes"},
        {"file-edit", R"({"file_path":"a.txt","old_string":"two","new_string":"2"})", "replacements"},
        {"file-edit", R"({"file_path":"a.txt","old_string":"absent","new_string":"2"})", "NOT_FOUND"},
        {"file-edit", R"({"file_path":"big.txt","old_string":"line","new_string":"row","replace_all":true})", "40000"},
        {"glob", R"({"pattern":"**/*.c"})", "deep/er/b.c"},
        {"glob", R"({"pattern":"*","path":"missing"})", R"("count":0)"},
        {"grep", R"({"pattern":"n[0-9]{2};","glob":"many/*.c"})", "n77"},
        {"grep", R"({"pattern":"needle"})", "needle"},
        {"grep", R"({"pattern":"(x|y)*\\1nothing|^int [mn]","glob":"**/*.c"})", "main"},
        {"grep", R"({"pattern":"("})", "INVALID_PATTERN"},
        {"grep", "{", "INVALID_ARG", 1},
    };
    for (auto& call : calls) check(home, call);
    CHECK(home.read("c.txt") == "hello");
}

TEST_CASE("valgrind: the tools for the web", "[.valgrind]")
{
    Home home;
    const Strings html{"Content-Type: text/html; charset=iso-8859-1"}, json{"Content-Type: application/json"};
    std::string page = "<html><title>T</title><body><h1>Head\xe9</h1><table><tr><td>a<td>b</table>" + repeated("<div><p>words <b>bold <a href='/x?y'>link</a><ul><li>one<li>two</ul>", 1500);
    const std::string brave = R"({"web":{"results":[{"title":"First","url":"https://a.example/","description":"<strong>words</strong>"}]}})",
                      google = R"({"items":[{"title":"First","link":"https://a.example/","snippet":"words"}]})";
    ModelServer server({{.pieces = {page}, .headers = html}, {.status = 404, .pieces = {"no"}, .headers = html},
                        {.pieces = {brave}, .headers = json}, {.status = 401, .pieces = {"{}"}, .headers = json},
                        {.pieces = {google}, .headers = json}, {.status = 429, .pieces = {"{}"}, .headers = json}});
    auto origin = "http://127.0.0.1:" + std::to_string(server.port());
    const Call calls[] = {
        {"web-fetch-tool", R"({"url":")" + origin + R"(/page"})", "# Head\u00e9", 0, {"IKIGAI_WEB_ALLOW_PRIVATE=1"}},
        {"web-fetch-tool", R"({"url":")" + origin + R"(/none"})", "404", 0, {"IKIGAI_WEB_ALLOW_PRIVATE=1"}},
        {"web-search-brave-tool", R"({"query":"words"})", "https://a.example/", 0, {"BRAVE_API_KEY=k", "IKIGAI_BRAVE_URL=" + origin}},
        {"web-search-brave-tool", R"({"query":"words"})", "AUTH_INVALID", 0, {"BRAVE_API_KEY=k", "IKIGAI_BRAVE_URL=" + origin}},
        {"web-search-google-tool", R"({"query":"words"})", "https://a.example/", 0, {"GOOGLE_SEARCH_API_KEY=k", "GOOGLE_SEARCH_ENGINE_ID=e", "IKIGAI_GOOGLE_SEARCH_URL=" + origin}},
        {"web-search-google-tool", R"({"query":"words"})", "RATE_LIMIT", 0, {"GOOGLE_SEARCH_API_KEY=k", "GOOGLE_SEARCH_ENGINE_ID=e", "IKIGAI_GOOGLE_SEARCH_URL=" + origin}},
        {"web-fetch-tool", R"({"url":"http://169.254.169.254/"})", "error"},
        {"web-search-brave-tool", R"({"query":"words"})", "AUTH_MISSING", 1},
        {"web-search-google-tool", R"({"query":"words"})", "AUTH_MISSING", 1},
    };
    for (auto& call : calls) check(home, call);
}

TEST_CASE("valgrind: a conversation, its model and its store", "[.valgrind]")
{
    Home home;
    home.write("a.txt", "one\n");
    auto program = checked("bin/ikigai");
    CHECK(under_valgrind(home, {program, "run", "file_read", R"({"file_path":"a.txt"})"}).out.find("one") != std::string::npos);
    CHECK(under_valgrind(home, {program, "run", "nothing", "{}"}).out.find("TOOL_NOT_FOUND") != std::string::npos);
    CHECK(under_valgrind(home, {program, "discover", "--json"}).out.find("file_read") != std::string::npos);
    CHECK(under_valgrind(home, {program, "config", "--json"}).status == 0);

    ModelServer server({stream_of({call("c1", "file_read", R"({"file_path":"a.txt"})")}), stream_of({text("It says **one**.")})});
    Strings service{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + server.base_url()};
    auto ran = under_valgrind(home, {program, "--model", "m", "-p", "What is in a.txt?"}, "", service);
    CHECK(ran.status == 0);
    CHECK(ran.out == "It says **one**.\n");
    CHECK(under_valgrind(home, {program, "sessions", "list"}).out.find("What is in a.txt?") != std::string::npos);

    auto asked = under_valgrind(home, {program, "llm"}, R"({"type":"ask","provider":"offline","messages":[{"role":"user","text":"hello"}]})" "\n");
    CHECK(asked.out.find(R"("type":"done")") != asked.out.npos);
    auto stored = under_valgrind(home, {program, "store"}, R"({"type":"event","session":"0123456789ab","seq":1,"kind":"user","content":"said"})" "\n" R"({"type":"search","query":"said"})" "\n");
    CHECK(stored.out.find(R"("type":"found")") != stored.out.npos);
}
