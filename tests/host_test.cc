// The host against tools that misbehave. Every one is an ordinary executable in the home of a user.
#include "support/world.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace ik;
using namespace ik::test;

namespace {

std::string schema(const std::string& name, const std::string& parameters = "{}")
{
    return "[ \"$1\" = --schema ] && { echo '{\"name\":\"" + name + "\",\"description\":\"d\",\"parameters\":" + parameters + "}'; exit; }\n";
}

// A tool of shell: its schema, then what it does with the arguments on its stdin.
void add(const Home& home, const std::string& name, const std::string& body, const std::string& parameters = "{}")
{
    home.tool(name, "#!/bin/sh\n" + schema(name, parameters) + body + "\n");
}

Json envelope_of(const Ran& ran)
{
    UNSCOPED_INFO(ran.status << " " << ran.out.substr(0, 3000) << " " << ran.err);
    auto json = parse_json(ran.out);
    return json ? *json : Json();
}

Json call(const Home& home, const std::string& name, std::vector<std::string> more = {}, const std::string& arguments = "{}")
{
    std::vector<std::string> words{"run", name, arguments};
    words.insert(words.end(), more.begin(), more.end());
    return envelope_of(ikigai(home, words));
}

const std::vector<std::string> soon{"--timeout", "0.3"};

}

TEST_CASE("host: a tool's answer is wrapped")
{
    Home home;
    add(home, "echo_back", "cat", R"({"text":{"type":"string","required":true}})");
    CHECK(ikigai(home, {"run", "echo_back", R"({"text":"é"})"}).out == "{\"tool_success\":true,\"result\":{\"text\":\"é\"}}\n");
    CHECK(ikigai(home, {"run", "echo_back"}, R"({"text":"é"})").out == "{\"tool_success\":true,\"result\":{\"text\":\"é\"}}\n");
    CHECK(ikigai(home, {"run", "bash", R"({"command":"exit 3"})"}).out == "{\"tool_success\":true,\"result\":{\"output\":\"\",\"exit_code\":3}}\n");
}

TEST_CASE("host: arguments are checked before anything runs")
{
    Home home;
    add(home, "strict", "touch ran; cat", R"({"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n"]})");
    CHECK(ikigai(home, {"run", "strict", "{}"}).out ==
          "{\"tool_success\":false,\"error\":\"Tool 'strict': missing required parameter: n\",\"error_code\":\"INVALID_PARAMS\"}\n");
    CHECK(ikigai(home, {"run", "strict", R"({"n":"x"})"}).out ==
          "{\"tool_success\":false,\"error\":\"Tool 'strict': parameter n must be an integer\",\"error_code\":\"INVALID_PARAMS\"}\n");
    CHECK(ikigai(home, {"run", "strict", "[]"}).status == 1);
    CHECK_FALSE(home.exists("ran"));
    CHECK(ikigai(home, {"run", "strict", R"({"n":1,"s":null})"}).out == "{\"tool_success\":true,\"result\":{\"n\":1}}\n");
    CHECK(home.exists("ran"));
}

TEST_CASE("host: arguments that are no JSON, and a tool that there is not")
{
    Home home;
    auto ran = ikigai(home, {"run", "bash", "{nope"});
    CHECK(ran.status == 2);
    CHECK(ran.err.find("the arguments of bash: Invalid JSON") != std::string::npos);
    CHECK(ikigai(home, {"run", "nope", "{}"}).out == "{\"tool_success\":false,\"error\":\"Tool 'nope' not found\",\"error_code\":\"TOOL_NOT_FOUND\"}\n");
    CHECK(ikigai(home, {"run", "nope", "{}"}).status == 1);
    CHECK(ikigai(home, {"run", "file-read", R"({"file_path":"/dev/null/x"})"}).status == 0);   // it answered, with an error of its own
}

TEST_CASE("host: a tool that prints 10 MB before it reads 10 MB")
{
    Home home;
    add(home, "loud", R"sh(printf '{"x":"'; head -c 10000000 /dev/zero | tr '\0' y; printf '","in":%s}' "$(wc -c)")sh");
    auto envelope = envelope_of(ikigai(home, {"run", "loud"}, "{\"pad\":\"" + std::string(10'000'000, 'p') + "\"}"));
    CHECK(*envelope.find("tool_success") == Json(true));
    CHECK(*envelope.find("result")->find("in") == Json(10'000'010));
}

TEST_CASE("host: tools that read nothing, fill stderr, or leave a child with the pipes")
{
    Home home;
    add(home, "deaf", "echo '{}'");
    CHECK(envelope_of(ikigai(home, {"run", "deaf"}, "{\"pad\":\"" + std::string(1'000'000, 'p') + "\"}")).dump() == R"({"tool_success":true,"result":{}})");
    add(home, "moaning", "head -c 5000000 /dev/zero | tr '\\0' e >&2; echo '{\"ok\":true}'");
    CHECK(call(home, "moaning").dump() == R"({"tool_success":true,"result":{"ok":true}})");
    add(home, "parent", "sleep 300 & echo \"{\\\"left\\\":$!}\"");
    auto left = call(home, "parent");
    REQUIRE(left.find("result"));
    CHECK_FALSE(runs(static_cast<pid_t>(*left.find("result")->find("left")->as<std::int64_t>())));   // ended with ikigai
}

TEST_CASE("host: the time limit, also for a tool that ignores SIGTERM")
{
    Home home;
    add(home, "slow", "echo part; echo words >&2; sleep 300");
    CHECK(call(home, "slow", soon).dump() ==
          R"({"tool_success":false,"error":"Tool 'slow' timed out after 0.3s","error_code":"TOOL_TIMEOUT","exit_code":null,"stdout":"part\n","stderr":"words\n"})");
    add(home, "stubborn", "trap '' TERM; while :; do sleep 0.1; done");
    CHECK(call(home, "stubborn", soon).text("error_code") == "TOOL_TIMEOUT");
    add(home, "stopped", "kill -STOP $$");
    CHECK(call(home, "stopped", soon).text("error_code") == "TOOL_TIMEOUT");
    auto kept = call(home, "bash", soon, R"({"command":"echo early; sleep 300"})");
    CHECK(kept.text("stdout") == R"({"output":"early","exit_code":143})");
}

TEST_CASE("host: crashes and broken answers")
{
    Home home;
    add(home, "segv", "echo half; kill -SEGV $$");
    CHECK(call(home, "segv").dump() ==
          R"({"tool_success":false,"error":"Tool 'segv' crashed with exit code 139","error_code":"TOOL_CRASHED","exit_code":139,"stdout":"half\n","stderr":""})");
    add(home, "silent", "exit 0");
    CHECK(call(home, "silent").dump() ==
          R"({"tool_success":false,"error":"Tool 'silent' returned no output","error_code":"INVALID_OUTPUT","exit_code":0,"stdout":"","stderr":""})");
    add(home, "half", "printf '{\"a\":'");
    CHECK(call(home, "half").text("error") == "Tool 'half' returned invalid JSON");
    add(home, "failing", "echo '{\"error\":\"no\",\"error_code\":\"X\"}'; exit 1");
    CHECK(call(home, "failing").dump() == R"({"tool_success":true,"result":{"error":"no","error_code":"X"}})");
    add(home, "wrong", "echo oops >&2; exit 7");
    CHECK(call(home, "wrong").text("error") == "Tool 'wrong' crashed with exit code 7");
    CHECK(call(home, "wrong").text("stderr") == "oops\n");
}

TEST_CASE("host: bytes that are not UTF-8 are shown as such")
{
    Home home;
    add(home, "latin", "printf '{\"a\":\"caf\\351\"}'");
    CHECK(call(home, "latin").dump() == R"({"tool_success":true,"result":{"a":"caf)" "\uFFFD" R"("}})");
}

TEST_CASE("host: a tool that vanishes after it was found")
{
    Home home;
    home.tool("vanishing", "#!/bin/sh\n" + schema("vanishing") + "echo '{}'\n");
    home.tool("remover", "#!/bin/sh\n[ \"$1\" = --schema ] && { while [ -e \"$HOME/.ikigai/tools/vanishing\" ] && ! [ -e \"$HOME/asked\" ]; do sleep 0.01; done; "
                         "rm -f \"$HOME/.ikigai/tools/vanishing\"; echo '{\"name\":\"remover\"}'; exit; }\n");
    home.tool("vanishing", "#!/bin/sh\n[ \"$1\" = --schema ] && { echo '{\"name\":\"vanishing\"}'; touch \"$HOME/asked\"; exit; }\n");
    auto envelope = call(home, "vanishing");
    CHECK(envelope.text("error_code") == "TOOL_CRASHED");
    CHECK(envelope.text("error").find("cannot be started") != std::string::npos);
}

TEST_CASE("host: events reach the user and not the model")
{
    Home home;
    add(home, "asking", R"(echo '{"kind":"config_required","content":"Set the key","data":{"k":1}}' >&2; echo words >&2; echo '{"a":1,"_event":{"kind":"note","content":"Look"}}')");
    auto ran = ikigai(home, {"run", "asking", "{}"});
    CHECK(ran.out == "{\"tool_success\":true,\"result\":{\"a\":1}}\n");
    CHECK(ran.err == "words\nSet the key\nLook\n");
}

TEST_CASE("host: what a tool is told of the world")
{
    Home home;
    add(home, "env", R"sh(printf '{"e":"%s"}' "$(env | grep -E 'KEY|TOKEN|IKIGAI|NO_COLOR|PAGER|HIDDEN' | sort | tr '\n' ' ')")sh");
    auto ran = ikigai(home, {"run", "env", "{}"}, "", {"OPENAI_API_KEY=sk-secret", "GITHUB_TOKEN=t", "HIDDEN=ghp_abc", "PAGER=less"});
    CHECK(ran.out.find("secret") == std::string::npos);
    CHECK(ran.out.find("GITHUB") == std::string::npos);
    CHECK(ran.out.find("ghp_") == std::string::npos);
    CHECK(ran.out.find("NO_COLOR=1 PAGER=cat") != std::string::npos);
    CHECK(ran.out.find("IKIGAI_TOOL=env") != std::string::npos);
    add(home, "terminal", R"(if ( : </dev/tty ) 2>/dev/null; then echo '{"tty":true}'; else echo '{"tty":false}'; fi)");
    CHECK(call(home, "terminal").dump() == R"({"tool_success":true,"result":{"tty":false}})");
}

TEST_CASE("host: a long answer is cut in the middle, its whole text is in a file")
{
    Home home;
    add(home, "long", R"(printf '{"n":1,"text":"begin'; head -c 300000 /dev/zero | tr '\0' x; printf '\\u00e9end","list":["short"]}')");
    auto ran = ikigai(home, {"run", "long", "{}"});
    CHECK(ran.out.size() <= 51201);
    auto envelope = envelope_of(ran);
    auto text = std::string(envelope.find("result")->text("text"));
    CHECK(text.starts_with("beginxxx"));
    CHECK(text.ends_with("xxxéend"));
    auto path = text.substr(text.find("is in ") + 6, text.find("]\n") - text.find("is in ") - 6);
    auto whole = sh("wc -c < '" + path + "'; tail -c 5 '" + path + "'; stat -c %a '" + path + "'");
    CHECK(whole.out == "300010\néend600\n");
    CHECK(*envelope.find("result")->find("n") == Json(1));
    CHECK(envelope.find("result")->find("list")->dump() == R"(["short"])");
}

TEST_CASE("host: many small members are kept in a file")
{
    Home home;
    add(home, "many", R"(printf '['; i=0; while [ $i -lt 20000 ]; do printf '%d,' $i; i=$((i+1)); done; printf '0]')");
    auto envelope = call(home, "many");
    REQUIRE(envelope.find("result"));
    CHECK(*envelope.find("result")->find("truncated") == Json(true));
    auto path = std::string(envelope.find("result")->text("path"));
    CHECK(sh("head -c 6 '" + path + "'").out == "[0,1,2");
}

TEST_CASE("host: output without end is stopped")
{
    Home home;
    add(home, "endless", R"(printf '{"a":"'; exec yes)");
    auto envelope = call(home, "endless");
    CHECK(envelope.text("error_code") == "TOOL_OUTPUT_LIMIT");
    CHECK(envelope.dump().size() <= 51200);
}

TEST_CASE("host: 200 MB of output in little memory")
{
    if (sanitized())
        return skip("sanitizers need memory of their own");
    Home home;
    add(home, "huge", R"(printf '{"a":"'; head -c 200000000 /dev/zero | tr '\0' x; printf '"}')");
    // The sum of the peaks of the outer and the inner process.
    auto ran = run({.argv = {"/bin/sh", "-c", "'" + ikigai() + "' run huge '{}' >answer & pid=$!; peak=0; while kill -0 $pid 2>/dev/null; do sum=0; for p in $pid $(pgrep -P $pid -x ikigai); do "
                  "k=$(awk '/VmHWM/{print $2}' /proc/$p/status 2>/dev/null); sum=$((sum + ${k:-0})); done; [ $sum -gt $peak ] && peak=$sum; sleep 0.05; done; wait $pid; echo $? $peak"}, .env = home.env()});
    INFO(ran.out << ran.err);
    auto space = ran.out.find(' ');
    REQUIRE(space != std::string::npos);
    CHECK(ran.out.substr(0, space) == "0");
    CHECK(std::stoi(ran.out.substr(space + 1)) < 30'000);
    CHECK(std::stoi(ran.out.substr(space + 1)) > 0);
}
