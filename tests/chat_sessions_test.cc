// Conversations that are kept: gone on with, branched, exported; and what happens when they cannot be kept.
#include "support/server.h"
#include "support/world.h"

#include "base/child.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace ik;
using namespace ik::test;

namespace {

struct Scene {
    explicit Scene(std::vector<Reply> replies) : server(std::move(replies)) {}

    std::vector<std::string> env() const { return {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"}; }
    Ran print(const std::string& text, std::vector<std::string> words = {}) const
    {
        words.insert(words.begin(), {"chat", "-p", text});
        return ikigai(home, std::move(words), "", env());
    }
    Ran talk(const std::string& script, std::vector<std::string> words = {}) const
    {
        words.insert(words.begin(), "chat");
        return ikigai(home, std::move(words), script, env());
    }

    // Who said what, in the request: "system user assistant tool".
    std::string roles(std::size_t request) const
    {
        std::string out;
        auto asked = server.requests().at(request).json();
        for (auto& message : *asked.find("messages")->as<Json::Array>()) out += std::string(message.text("role")) + " ";
        return out;
    }
    std::string last_words(std::size_t request, std::size_t from_end = 1) const
    {
        auto asked = server.requests().at(request).json();
        auto& messages = *asked.find("messages")->as<Json::Array>();
        return std::string(messages.at(messages.size() - from_end).text("content"));
    }

    Home home;
    ModelServer server;
};

Reply says(const std::string& words) { return stream_of({text(words)}); }
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}

TEST_CASE("kept: -c goes on with the last conversation of the folder, tool calls and all")
{
    Scene scene({stream_of({call("c1", "bash", R"({"command":"echo one"})")}), says("First."), says("Second."), says("Else.")});
    CHECK(scene.print("begin").status == 0);
    CHECK(scene.print("go on", {"-c"}).out == "Second.\n");
    CHECK(scene.roles(2) == "system user assistant tool assistant user ");
    CHECK(holds(scene.last_words(2, 3), "one"));
    CHECK(scene.last_words(2, 2) == "First.");
    CHECK(scene.print("something else").status == 0);
    CHECK(scene.roles(3) == "system user ");
}

TEST_CASE("kept: a conversation is named by the beginning of its id, or by its own name")
{
    Scene scene({says("First."), says("Second."), says("Third.")});
    CHECK(scene.print("one", {"--session", "nightly"}).status == 0);
    CHECK(scene.print("two", {"--session", "nightly"}).status == 0);
    CHECK(scene.roles(1) == "system user assistant user ");
    CHECK(scene.print("three", {"-r", "night"}).status == 0);
    CHECK(scene.roles(2) == "system user assistant user assistant user ");
    auto unknown = scene.print("four", {"-r", "zzz"});
    CHECK(unknown.status == 2);
    CHECK(unknown.err == "ikigai: no session's id begins with zzz\n");
    CHECK(scene.print("five", {"-r"}).status == 2);
    CHECK(scene.print("six", {"--session", "../up"}).status == 2);
    CHECK(scene.server.requests().size() == 3);
}

TEST_CASE("kept: nothing with --no-save, and nothing to go on with is said")
{
    Scene scene({says("First.")});
    CHECK(scene.print("one", {"--no-save"}).status == 0);
    CHECK_FALSE(scene.home.exists(".local/state/ikigai/sessions.db"));
    auto none = scene.print("two", {"-c"});
    CHECK(none.status == 2);
    CHECK(holds(none.err, "No conversation has been kept in this folder"));
}

TEST_CASE("kept: a call that was cut off is answered as interrupted when the conversation goes on")
{
    Scene scene({stream_of({call("c1", "bash", R"({"command":"touch started; sleep 100"})")}), says("Second.")});
    auto env = environment_with(scene.home.env(scene.env()));
    auto child = Child::start({.argv = {ikigai(), "chat", "-p", "begin"}, .env = env, .no_stdin = true});
    REQUIRE(child);
    REQUIRE(eventually([&] { return scene.home.exists("started"); }));
    kill(child->id(), SIGKILL);
    wait_for(*child);
    REQUIRE(eventually([&] { return holds(ikigai(scene.home, {"sessions", "show", "--json"}, "", {}).err + ikigai(scene.home, {"sessions"}, "", {}).out, "begin"); }));
    CHECK(scene.print("go on", {"-c"}).out == "Second.\n");
    CHECK(scene.roles(1) == "system user assistant tool user ");
    CHECK(holds(scene.last_words(1, 2), "TOOL_CANCELLED"));
}

TEST_CASE("kept: back before a message, back to a mark, a copy, and a new one")
{
    Scene scene({says("A."), says("B."), says("C."), says("D."), says("E."), says("F.")});
    auto ran = scene.talk("one\n/mark here\ntwo\n/rewind\nthree\n/rewind here\nfour\n/fork\nfive\n/new\nsix\n/rewind 9\n/rewind nowhere\n");
    INFO(ran.out);
    CHECK(ran.status == 0);
    CHECK(scene.roles(1) == "system user assistant user ");            // two, after one
    CHECK(scene.roles(2) == "system user assistant user ");            // three, instead of two
    CHECK(scene.last_words(2) == "three");
    CHECK(scene.roles(3) == "system user assistant user ");            // four, instead of three
    CHECK(scene.roles(4) == "system user assistant user assistant user ");
    CHECK(scene.roles(5) == "system user ");
    CHECK(holds(ran.out, "Back before \"two\""));
    CHECK(holds(ran.out, "There are not so many messages to go back"));
    CHECK(holds(ran.out, "There is no mark 'nowhere'"));
    // Nothing is deleted: each branch is there.
    auto kept = ikigai(scene.home, {"sessions", "list", "--json"}, "", {});
    auto all = parse_json(kept.out);
    REQUIRE(all);
    CHECK(all->as<Json::Array>()->size() == 5);
}

TEST_CASE("kept: it is exported from within, and a file that is there stays")
{
    Scene scene({says("# Answer")});
    auto ran = scene.talk("one <b>\n/export html page.html\n/export page.html\n/export jsonl x.jsonl\n/export\n");
    INFO(ran.out);
    CHECK(holds(ran.out, "Written: page.html\n"));
    CHECK(holds(ran.out, "page.html is there already\n"));
    CHECK(holds(scene.home.read("page.html"), "one &lt;b&gt;"));
    CHECK(holds(scene.home.read("x.jsonl"), "\"kind\":\"user\""));
    CHECK(scene.talk("/export\n").out == "Nothing has been said yet\n");
}

TEST_CASE("kept: going on prints the conversation as it looked")
{
    Scene scene({stream_of({call("c1", "bash", R"({"command":"echo one"})")}), says("First."), says("Second.")});
    scene.talk("begin\n");
    auto ran = scene.talk("go on\n", {"-c"});
    CHECK(ran.out == "❯ begin\n→ bash: command=\"echo one\"\n← one\n● First.\n● Second.\n");
}

TEST_CASE("kept: a disk that takes nothing is said once, and the conversation goes on")
{
    Scene scene({says("First."), says("Second.")});
    scene.home.write(".local/state/ikigai", "a file, where the folder should be");
    auto ran = scene.talk("one\ntwo\n");
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(scene.roles(1) == "system user assistant user ");
    auto first = ran.out.find("The conversation is not kept: ");
    CHECK(first != ran.out.npos);
    CHECK(ran.out.find("The conversation is not kept: ", first + 1) == ran.out.npos);
    CHECK(holds(ran.out, "could not be kept: all of it is in "));
}

TEST_CASE("kept: the store may be killed, and everything is there")
{
    auto command = "inner=$(ps -o ppid= -p $PPID | tr -d ' '); pkill -9 -P $inner -f 'ikigai store' && echo killed";
    Scene scene({stream_of({call("c1", "bash", object({{"command", command}}).dump())}), says("First."), says("Second.")});
    CHECK(holds(scene.talk("one\ntwo\n").out, "← killed\n"));
    auto shown = ikigai(scene.home, {"sessions", "list", "--json"}, "", {});
    auto rows = parse_json(shown.out);
    REQUIRE(rows);
    REQUIRE(rows->as<Json::Array>()->size() == 1);
    auto id = std::string(rows->as<Json::Array>()->front().text("id"));
    auto text = ikigai(scene.home, {"sessions", "show", id}, "", {}).out;
    CHECK(holds(text, "● First.\n"));
    CHECK(holds(text, "● Second.\n"));
}

TEST_CASE("kept: the last message is asked again, of another model")
{
    Scene scene({says("A."), says("B.")});
    auto ran = scene.talk("one\n/model other\n/thinking low\n/retry\n/cost\n/thinking much\n/system Be brief.\n");
    INFO(ran.out);
    CHECK(scene.roles(1) == "system user ");
    CHECK(scene.last_words(1) == "one");
    CHECK(scene.server.requests().at(1).json().text("model") == "other");
    CHECK(holds(ran.out, " tokens in ("));
    CHECK(holds(ran.out, "There is no level 'much'"));
    CHECK(holds(ran.out, "Be brief.\n"));
    CHECK(scene.talk("/retry\n").out == "Nothing has been said yet\n");
}

TEST_CASE("kept: long outputs go after 30 days")
{
    Scene scene({says("A.")});
    scene.home.write(".local/state/ikigai/outputs/old/x.txt", "x");
    scene.home.write(".local/state/ikigai/outputs/young/x.txt", "x");
    sh("touch -d '31 days ago' .local/state/ikigai/outputs/old");
    scene.talk("one\n");
    CHECK_FALSE(scene.home.exists(".local/state/ikigai/outputs/old"));
    CHECK(scene.home.exists(".local/state/ikigai/outputs/young/x.txt"));
}
