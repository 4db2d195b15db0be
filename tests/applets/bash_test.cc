#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {
Json bash(std::string command) { return call("bash", object({{"command", std::move(command)}})); }
Json said(std::string output, int code) { return object({{"output", std::move(output)}, {"exit_code", code}}); }
}

TEST_CASE("bash: schema to the letter")
{
    CHECK(run({.argv = {tool("bash"), "--schema"}}).out ==
          R"({"name":"bash","description":"Execute a shell command and return output","parameters":{"type":"object","properties":{"command":{"type":"string","description":"Shell command to execute"}},"required":["command"]}})");
}

TEST_CASE("bash: output and exit codes")
{
    Folder folder;
    CHECK(bash("echo hello") == said("hello", 0));
    CHECK(bash("echo a; echo b >&2; echo c") == said("a\nb\nc", 0));
    CHECK(bash("printf 'x\\n\\n'") == said("x\n", 0));
    CHECK(bash("") == said("", 127));
    CHECK(bash("exit 42") == said("", 42));
    CHECK(bash("kill -SEGV $$") == said("", 139));
    CHECK(bash("printf 'a\\000b'") == said(std::string("a\0b", 3), 0));
    CHECK(bash("printf 'a\\377b'") == said("a\uFFFDb", 0));
    CHECK(bash("cat") == said("", 0));
    auto missing = bash("no-such-command-here");
    CHECK(*missing.find("exit_code") == Json(127));
    CHECK(missing.text("output").find("not found") != std::string_view::npos);
    CHECK(bash("readlink /proc/$$/fd/0") == said("/dev/null", 0));
}

TEST_CASE("bash: a background child does not hold the answer")
{
    auto before = std::chrono::steady_clock::now();
    auto answer = bash("sleep 30 & echo $!");
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
    CHECK(*answer.find("exit_code") == Json(0));
    sh("kill " + std::string(answer.text("output")));
}

TEST_CASE("bash: on SIGTERM it answers with what there is")
{
    Folder folder;
    auto ran = run({.argv = {tool("bash")}, .input = R"({"command":"echo early; touch up; sleep 30"})", .limit = std::chrono::milliseconds(700)});
    CHECK(ran.timed_out);
    CHECK(ran.out == R"({"output":"early","exit_code":143})");
    CHECK(ran.status == 0);
}

TEST_CASE("bash: a named output file is kept, and not known to the command")
{
    Folder folder;
    auto ran = run({.argv = {tool("bash")}, .input = R"({"command":"echo kept; echo ${IKIGAI_OUTPUT-unset}"})", .env = {"IKIGAI_OUTPUT=" + (folder / "out")}});
    CHECK(ran.out == R"({"output":"kept\nunset","exit_code":0})");
    CHECK(folder.read("out") == "kept\nunset\n");
}

TEST_CASE("bash: the shell dies with the applet")
{
    Folder folder;
    auto ran = sh("( echo '{\"command\":\"echo $$ > pid; exec sleep 300\"}' | exec " + tool("bash") + " ) >/dev/null & "
                  "while ! [ -s pid ]; do sleep 0.02; done; pid=$(cat pid); kill -9 $(ps -o ppid= -p $pid); "
                  "for i in $(seq 100); do kill -0 $pid 2>/dev/null || { echo gone; exit; }; sleep 0.05; done");
    CHECK(ran.out == "gone\n");
}

TEST_CASE("bash: less memory than its arguments take is an answer")
{
    if (sanitized()) return skip("a sanitizer needs more address space");
    Folder folder;
    folder.write("input", object({{"command", ": " + std::string(30'000'000, 'x')}}).dump());
    for (auto* room : {"40000", "60000"}) {
        INFO(room);
        auto ran = sh(std::string("ulimit -v ") + room + "; exec " + tool("bash") + " < input");
        CHECK(ran.out == R"({"error":"Out of memory","error_code":"OUT_OF_MEMORY"})");
        CHECK((ran.err.empty() || ran.err == "bash: Out of memory\n"));
        CHECK(ran.status == (ran.err.empty() ? 0 : 1));
    }
    auto ran = sh("ulimit -v 60000; exec " + ikigai() + " run bash < input");
    CHECK(ran.err.find("ikigai: out of memory\n") != std::string::npos);
    CHECK(ran.status != 0);
}
