// The conversation, with a scripted model on the loopback: what a user sees and what the model is sent.
#include "support/server.h"
#include "support/world.h"

#include "base/child.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace ik;
using namespace ik::test;

namespace {

std::vector<std::string> at(const ModelServer& server, std::vector<std::string> more = {})
{
    more.push_back("OPENAI_BASE_URL=" + server.base_url());
    more.push_back("IKIGAI_MODEL=scripted");
    return more;
}

Ran chat(const Home& home, const ModelServer& server, std::vector<std::string> words, std::string input = "")
{
    words.insert(words.begin(), "chat");
    return ikigai(home, std::move(words), std::move(input), at(server));
}

std::vector<Json> lines(const std::string& out)
{
    std::vector<Json> parsed;
    std::string rest = out;
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
        auto json = parse_json(rest.substr(0, end));
        parsed.push_back(json ? *json : Json());
    }
    return parsed;
}

std::string types(const std::vector<Json>& lines)
{
    std::string out;
    for (auto& line : lines)
        out += std::string(line.text("type")) + " ";
    return out;
}

Json messages(const ModelServer& server, std::size_t request) { return *server.requests().at(request).json().find("messages"); }
Json message(const ModelServer& server, std::size_t request, std::size_t n) { return messages(server, request).as<Json::Array>()->at(n); }

// A conversation whose process the test holds.
Child start(const Home& home, const ModelServer& server, std::vector<std::string> words)
{
    words.insert(words.begin(), {ikigai(), "chat"});
    auto env = environment_with(home.env(at(server)));
    auto child = Child::start({.argv = std::move(words), .env = env, .keep_stdin = true, .limit = std::chrono::seconds(30)});
    REQUIRE(child);
    return std::move(*child);
}

void advance(Child& child, std::chrono::milliseconds time = std::chrono::milliseconds(20))
{
    Poll poll;
    child.add_to(poll);
    poll.until(Clock::now() + time);
    poll.wait();
    child.advance(poll);
}

// Until the child has said text, or has ended.
bool hears(Child& child, const std::string& text)
{
    while (child.out.find(text) == std::string::npos && !child.exit)
        advance(child);
    return child.out.find(text) != std::string::npos;
}

void finish(Child& child)
{
    child.hang_up();
    while (!child.exit)
        advance(child);
}

const std::string list_call = call("c1", "bash", R"({"command":"echo found"})");

}

TEST_CASE("chat: one answer, as text")
{
    Home home;
    ModelServer server({stream_of({text("Hel"), text("lo.")})});
    auto ran = chat(home, server, {"-p", "hi"});
    CHECK(ran.out == "Hello.\n");
    CHECK(ran.err == "");
    CHECK(ran.status == 0);
}

TEST_CASE("chat: the model's recorded stream asks for tools, real children run, the envelopes go back")
{
    Home home;
    home.write("a.txt", "alpha\n");
    ModelServer server({stream_of({text("Looking."), list_call, call("c2", "file_read", R"({"file_path":"a.txt"})", 1)}), stream_of({text("Both done.")})});
    auto ran = chat(home, server, {"-p", "look", "--output-format", "stream-json"});
    auto said = lines(ran.out);
    INFO(ran.out << ran.err);
    CHECK(types(said) == "session text tool_call tool_call tool_result tool_result text done ");
    CHECK(ran.status == 0);
    CHECK(said.back().text("text") == "Both done.");
    CHECK(said.back().text("stop_reason") == "end_turn");
    CHECK(*said.back().find("turns") == Json(2));
    CHECK(*said.back().find("tool_calls") == Json(2));
    CHECK(said.back().text("session") == said.front().text("id"));
    CHECK(said.front().text("id").size() == 12);

    REQUIRE(server.requests().size() == 2);
    CHECK(server.connections() == 1);
    auto first = message(server, 1, 3), second = message(server, 1, 4);
    CHECK(first.dump() == R"({"role":"tool","tool_call_id":"c1","content":"{\"tool_success\":true,\"result\":{\"output\":\"found\",\"exit_code\":0}}"})");
    CHECK(second.dump() == R"({"role":"tool","tool_call_id":"c2","content":"{\"tool_success\":true,\"result\":{\"output\":\"alpha\\n\"}}"})");
    CHECK(message(server, 1, 2).text("content") == "Looking.");
}

TEST_CASE("chat: calls of one turn run at once and are answered in order")
{
    Home home;
    // Each waits for what the other one does: one after the other would never end.
    ModelServer server({stream_of({call("c1", "bash", R"({"command":"touch one; while ! [ -e two ]; do sleep 0.01; done; echo first"})"),
                                   call("c2", "bash", R"({"command":"touch two; while ! [ -e one ]; do sleep 0.01; done; echo second"})", 1)}),
                        stream_of({text("ok")})});
    CHECK(chat(home, server, {"-p", "go"}).out == "ok\n");
    CHECK(message(server, 1, 3).text("content").find("first") != std::string_view::npos);
    CHECK(message(server, 1, 4).text("content").find("second") != std::string_view::npos);
}

TEST_CASE("chat: the first request is small, and says where it comes from")
{
    Home home;
    ModelServer server({stream_of({text("ok")}), stream_of({text("ok")})});
    chat(home, server, {"-p", "hi"});
    chat(home, server, {"-p", "hi", "--tools", "bash,file_edit,file_read,file_write,glob,grep"});
    CHECK(server.requests().at(0).body.size() <= 5600);
    CHECK(server.requests().at(1).body.size() < 4096);
    auto json = server.requests().at(0).json();
    CHECK(json.find("tools")->as<Json::Array>()->size() == built_in_tools().size());
    CHECK(json.text("model") == "scripted");
    CHECK(message(server, 0, 0).text("content").find("folder " + home.path) != std::string_view::npos);
    CHECK(message(server, 0, 1).dump() == R"({"role":"user","content":"hi"})");
}

TEST_CASE("chat: piped input is added to the message; json is one object")
{
    Home home;
    ModelServer server({stream_of({text("ok")}), stream_of({text("ok")})});
    auto ran = chat(home, server, {"-p", "explain", "--output-format", "json"}, "line one\nline two\n");
    CHECK(message(server, 0, 1).text("content") == "explain\n\nline one\nline two\n");
    auto said = lines(ran.out);
    REQUIRE(said.size() == 1);
    CHECK(said[0].text("type") == "done");
    CHECK(said[0].text("text") == "ok");
    chat(home, server, {"-p", ""}, "only this");
    CHECK(message(server, 1, 1).text("content") == "only this");
}

TEST_CASE("chat: which tools are offered, and the system text")
{
    Home home;
    home.write("sys.txt", "from a file");
    ModelServer server({stream_of({text("ok")}), stream_of({text("ok")}), stream_of({text("ok")})});
    chat(home, server, {"-p", "x", "--tools", "bash,file-read", "--system", "be brief"});
    CHECK(server.requests().at(0).json().find("tools")->as<Json::Array>()->size() == 2);
    CHECK(message(server, 0, 0).text("content") == "be brief");
    chat(home, server, {"-p", "x", "--system-file", "sys.txt"});
    CHECK(message(server, 1, 0).text("content") == "from a file");
    ikigai(home, {"chat", "-p", "x"}, "", at(server, {"IKIGAI_LIBEXEC_DIR=/no/such/folder"}));
    CHECK_FALSE(server.requests().at(2).json().find("tools"));
}

TEST_CASE("chat: exit codes")
{
    Home home;
    SECTION("a refusal of the service: 1, its own sentence once, on stderr")
    {
        ModelServer server({refusal(401, "Incorrect API key provided")});
        auto ran = chat(home, server, {"-p", "x"});
        CHECK(ran.status == 1);
        CHECK(ran.out == "");
        CHECK(ran.err.starts_with("ikigai: Incorrect API key provided"));
        CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    }
    SECTION("nobody listens: 1")
    {
        auto ran = ikigai(home, {"chat", "-p", "x", "--base-url", "http://127.0.0.1:" + std::to_string(closed_port()) + "/v1", "--model", "m"});
        CHECK(ran.status == 1);
        CHECK(ran.err.find("127.0.0.1") != std::string::npos);
    }
    SECTION("no provider: 2, and what to set")
    {
        auto ran = ikigai(home, {"chat", "-p", "x"});
        CHECK(ran.status == 2);
        CHECK(ran.err.find("OPENAI_API_KEY") != std::string::npos);
    }
    SECTION("bad words: 2")
    {
        CHECK(ikigai(home, {"chat", "--nonsense"}).status == 2);
        CHECK(ikigai(home, {"chat", "-p", "x", "--output-format", "xml"}).status == 2);
        CHECK(ikigai(home, {"chat", "-p", "x", "--provider", "nobody"}).status == 2);
        CHECK(ikigai(home, {"chat", "-p", "x", "--system-file", "/no/such/file", "--provider", "offline"}).err == "ikigai: Cannot open file: /no/such/file\n");
        CHECK(ikigai(home, {"frobnicate"}).err == "ikigai: unknown command: frobnicate. See ikigai --help.\n");
        CHECK(ikigai(home, {"frobnicate"}).status == 2);
        CHECK(ikigai(home, {"grpe"}).err == "ikigai: unknown command: grpe. Did you mean: grep? See ikigai --help.\n");
    }
    SECTION("too many turns: 3")
    {
        ModelServer server({stream_of({list_call}), stream_of({list_call}), stream_of({list_call})});
        auto ran = chat(home, server, {"-p", "x", "--max-turns", "2"});
        CHECK(ran.status == 3);
        CHECK(server.requests().size() == 2);
    }
    SECTION("out of time: 3, with its tools ended")
    {
        ModelServer server({stream_of({call("c1", "bash", R"({"command":"echo $$ > pid; exec sleep 300"})")})});
        auto ran = chat(home, server, {"-p", "x", "--timeout", "1"});
        CHECK(ran.status == 3);
        CHECK(ran.err.find("time limit of 1 s") != std::string::npos);
        CHECK_FALSE(runs(static_cast<pid_t>(std::stoi(home.read("pid")))));
    }
    SECTION("cut short by the model's own limit: 1, with what there is")
    {
        ModelServer server({Reply{.pieces = {event(R"({"choices":[{"index":0,"delta":{"content":"half"}}]})"), event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"length"}]})"), event("[DONE]")}}});
        auto ran = chat(home, server, {"-p", "x"});
        CHECK(ran.status == 1);
        CHECK(ran.out == "half\n");
        CHECK(ran.err.find("max_tokens") != std::string::npos);
    }
    SECTION("stdout that cannot be written: 1")
    {
        ModelServer server({stream_of({text("hello")})});
        auto ran = run({.argv = {"/bin/sh", "-c", "'" + ikigai() + "' chat -p x >/dev/full"}, .env = home.env(at(server))});
        CHECK(ran.status == 1);
        CHECK(ran.err == "ikigai: the answer could not be written to standard output\n");
    }
}

TEST_CASE("chat: a tool that fails, is missing or is called wrongly is the model's to deal with")
{
    Home home;
    ModelServer server({stream_of({call("c1", "nope", "{}"), call("c2", "bash", R"({"command":5})", 1), call("c3", "bash", "not json", 2)}), stream_of({text("sorry")})});
    CHECK(chat(home, server, {"-p", "x"}).out == "sorry\n");
    CHECK(message(server, 1, 3).text("content") == R"({"tool_success":false,"error":"Tool 'nope' not found","error_code":"TOOL_NOT_FOUND"})");
    CHECK(message(server, 1, 4).text("content") == R"({"tool_success":false,"error":"Tool 'bash': parameter command must be a string","error_code":"INVALID_PARAMS"})");
    CHECK(message(server, 1, 5).text("content").find("INVALID_PARAMS") != std::string_view::npos);
}

TEST_CASE("chat: a tool goes into the background while it runs, and the model is told when it has ended")
{
    Home home;
    ModelServer server({stream_of({call("c1", "bash", R"({"command":"echo early; touch up; while ! [ -e go ]; do sleep 0.01; done; echo late"})")}),
                        stream_of({text("It goes on.")}), stream_of({text("I see.")})});
    auto env = home.env(at(server));
    env.push_back("PATH=/usr/bin:/bin");
    auto started = Child::start({.argv = {ikigai(), "chat"}, .env = env, .keep_stdin = true, .limit = std::chrono::seconds(30)});
    REQUIRE(started);
    auto& child = *started;
    auto turn = [&] {
        Poll poll;
        child.add_to(poll);
        poll.until(Clock::now() + std::chrono::milliseconds(20));
        poll.wait();
        child.advance(poll);
    };
    auto shows = [&](const char* words) { return eventually([&] { turn(); return child.out.find(words) != std::string::npos; }); };
    child.say("start it\n");
    REQUIRE(eventually([&] { turn(); return home.exists("up"); }));
    child.say("/ps\n");
    CHECK(shows("s of 30 s"));
    child.say("/bg\n");
    CHECK(shows("bash goes on in the background as 1"));
    CHECK(shows("It goes on."));
    child.say("/ps\n");
    CHECK(shows(", in the background"));
    home.write("go", "");
    CHECK(shows("In the background, 1 (bash) has ended"));
    child.say("and now?\n");
    child.hang_up();
    CHECK(shows("I see."));
    while (!child.exit) turn();
    INFO(child.out);
    CHECK(message(server, 1, 3).text("content").find("\"background\":1,\"output_so_far\":\"early\\n\"") != std::string_view::npos);
    CHECK(message(server, 2, 5).text("content").find("in the background as number 1, has ended") != std::string_view::npos);
    CHECK(message(server, 2, 5).text("content").find("early\\nlate") != std::string_view::npos);
    CHECK(message(server, 2, 6).text("content") == "and now?");
}

TEST_CASE("chat: a connection that is lost in the middle of an answer")
{
    Home home;
    Reply broken{.pieces = {event(text("Hel"))}, .ending = Reply::cut};
    SECTION("text that was printed cannot be taken back: 1")
    {
        ModelServer server({broken, stream_of({text("Hello")})});
        auto ran = chat(home, server, {"-p", "x"});
        CHECK(ran.status == 1);
        CHECK(ran.out == "Hel\n");
        CHECK(ran.err.starts_with("ikigai: "));
        CHECK(server.requests().size() == 1);
    }
    SECTION("a stream of objects says what to discard, an object alone never held it")
    {
        ModelServer server({broken, stream_of({text("Hello")}), broken, stream_of({text("Hello")})});
        auto ran = chat(home, server, {"-p", "x", "--output-format", "stream-json"});
        auto said = lines(ran.out);
        CHECK(types(said) == "session text retry text done ");
        CHECK(*said.at(2).find("discard") == Json(true));
        CHECK(said.back().text("text") == "Hello");
        CHECK(lines(chat(home, server, {"-p", "x", "--output-format", "json"}).out).at(0).text("text") == "Hello");
    }
    SECTION("a person keeps the piece and is told")
    {
        ModelServer server({broken, stream_of({text("Hello")})});
        CHECK(chat(home, server, {}, "x\n").out == "● Hel\n⚠ connection lost, asking again\n● Hello\n");
    }
}

TEST_CASE("chat: line by line")
{
    Home home;
    ModelServer server({stream_of({text("Let me look."), list_call}), stream_of({text("It says found.")}), stream_of({text("Bye.")})});
    auto ran = chat(home, server, {}, "what is there?\n\nthanks\n/tool\n/tool bash\n/tool x\n/nope\n/hlep\n/refresh\n/quit\nnever\n");
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.out == R"(● Let me look.
→ bash: command="echo found"
← found
● It says found.
● Bye.
Available tools:
  bash               Execute a shell command and return output
  file_edit          Edit a file by replacing exact text matches. You must read the file before editing.
  file_read          Read contents of a file
  file_write         Write content to a file (creates or overwrites)
  glob               Find files matching a glob pattern
  grep               Search for pattern in files using regular expressions
  web_fetch          Fetch a URL and return its content as markdown
  web_search_brave   Search the web with Brave Search: current pages from an independent index
  web_search_google  Search the web with a Google Programmable Search Engine
bash - Execute a shell command and return output

Parameters:
  command (string, required)
    Shell command to execute
Tool 'x' not found. Run /tool to see available tools.
Unknown command: /nope. /help lists them.
Unknown command: /hlep. Did you mean: /help? /help lists them.
Refreshing tools...
Tools refreshed. )" + std::to_string(built_in_tools().size()) + R"( tools available.
)");
    CHECK(messages(server, 2).as<Json::Array>()->size() == 6);
}

TEST_CASE("chat: what comes from a tool or the model cannot drive the terminal")
{
    Home home;
    ModelServer server({stream_of({text("\x1b]52;c;eA==\x07 \u009b31m \u202e"), call("c1", "bash", R"({"command":"printf '\\\\033[2J'"})")}), stream_of({text("ok")})});
    auto ran = chat(home, server, {}, "go\n");
    CHECK(ran.out.find('\x1b') == std::string::npos);
    CHECK(ran.out.find('\x07') == std::string::npos);
    CHECK(ran.out.find("\u202e") == std::string::npos);
    CHECK(ran.out.find("^[]52") != std::string::npos);
}

TEST_CASE("chat: the built-in provider shows the whole path without a key")
{
    Home home;
    home.write("notes.txt", "one\ntwo\n");
    auto ran = ikigai(home, {"chat"}, "read notes.txt\n");
    CHECK(ran.status == 0);
    CHECK(ran.err.find("offline") != std::string::npos);
    CHECK(ran.out.find("→ file_read: file_path=\"notes.txt\"") != std::string::npos);
    CHECK(ran.out.find("two") != std::string::npos);
}

TEST_CASE("chat: the tools of a project run only with trust")
{
    Home home;
    Folder project;
    project.write(".ikigai/tools/mark", "#!/bin/sh\ntouch marked\necho '{\"name\":\"mark\"}'\n", 0755);
    auto ran = ikigai(home, {"chat", "-p", "help", "--provider", "offline"});
    CHECK(ran.err.find("The tools in .ikigai/tools are not used without --trust (see ikigai trust)") != std::string::npos);
    CHECK_FALSE(project.exists("marked"));
    CHECK(ikigai(home, {"chat", "-p", "help", "--provider", "offline", "--trust"}).err == "");
    CHECK(project.exists("marked"));
}

TEST_CASE("chat: a signal ends everything, and the exit status says so")
{
    Home home;
    for (int number : {SIGINT, SIGTERM, SIGHUP}) {
        ModelServer server({stream_of({call("c1", "bash", R"({"command":"echo $$ > pid; sleep 300"})")})});
        auto child = start(home, server, {"-p", "x", "--output-format", "stream-json"});
        child.hang_up();
        CHECK(hears(child, "tool_call"));
        CHECK(eventually([&] { return home.read("pid").ends_with('\n'); }));
        auto tool = static_cast<pid_t>(std::stoi(home.read("pid")));
        kill(child.id(), number);
        finish(child);
        CHECK(child.exit->signal == number);
        CHECK_FALSE(runs(tool));
        std::filesystem::remove(home / "pid");
    }
}

TEST_CASE("chat: an interruption at the keys stops the tools, keeps what was said, and the conversation goes on")
{
    Home home;
    ModelServer server({stream_of({text("Wait."), call("c1", "bash", R"({"command":"echo early; touch up; sleep 300"})")}), stream_of({text("Fine.")})});
    auto child = start(home, server, {});
    child.say("go\n");
    CHECK(hears(child, "→ bash"));
    CHECK(eventually([&] { return home.exists("up"); }));
    kill(child.id(), SIGINT);
    CHECK(hears(child, "✗ cancelled"));
    child.say("and now?\n");
    CHECK(hears(child, "Fine."));
    finish(child);
    CHECK(child.exit->status() == 0);
    auto envelope = parse_json(message(server, 1, 3).text("content"));
    REQUIRE(envelope);
    CHECK(envelope->text("error") == "Tool 'bash' was cancelled by the user");
    CHECK(envelope->text("error_code") == "TOOL_CANCELLED");
    CHECK(envelope->text("stdout") == R"({"output":"early","exit_code":143})");
}

TEST_CASE("chat: an interruption of the model keeps what it said")
{
    Home home;
    auto held = stream_of({text("Half of it"), text(" never comes")});
    held.hold_before = 1;
    ModelServer server({held, stream_of({text("Again.")})});
    auto child = start(home, server, {});
    child.say("go\n");
    CHECK(hears(child, "Half of it"));
    kill(child.id(), SIGINT);
    CHECK(hears(child, "✗ cancelled"));
    child.say("more\n");
    CHECK(hears(child, "Again."));
    finish(child);
    CHECK(message(server, 1, 2).text("content") == "Half of it");
}

TEST_CASE("chat: a model process that dies is said, and the next message starts another")
{
    Home home;
    auto held = stream_of({text("Half"), text("gone")});
    held.hold_before = 1;
    ModelServer server({held, stream_of({text("Back.")})});
    auto child = start(home, server, {});
    child.say("go\n");
    CHECK(hears(child, "Half"));
    auto inner = sh("pgrep -P " + std::to_string(child.id())).out;
    sh("pkill -KILL -P " + std::string(inner.substr(0, inner.find('\n'))));
    CHECK(hears(child, "the model process ended unexpectedly (signal 9)"));
    child.say("more\n");
    CHECK(hears(child, "Back."));
    finish(child);
}

TEST_CASE("chat: the same call with the same result is told at the third time and stops the turn at the fifth")
{
    Home home;
    std::vector<Reply> replies;
    for (int i = 1; i <= 6; ++i) replies.push_back(stream_of({call("c" + std::to_string(i), "bash", R"({"command":"echo same"})")}));
    ModelServer server(replies);
    auto ran = chat(home, server, {"-p", "go", "--output-format", "stream-json"});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 1);
    CHECK(server.requests().size() == 5);
    auto content = [&](std::size_t n) { return std::string(messages(server, 4).as<Json::Array>()->at(n).text("content")); };
    CHECK(content(5).find("hint") == std::string::npos);
    CHECK(content(7).find(R"("hint":"This is the third time with the same result: )") != std::string::npos);
    auto said = lines(ran.out);
    CHECK(said[said.size() - 2].text("error_code") == "TOOL_REPEATED");
    CHECK(said.back().text("stop_reason") == "error");
    CHECK(*said.back().find("tool_calls") == Json(5));
}
