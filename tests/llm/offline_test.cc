#include "llm/offline.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

Json ask(std::string_view said, std::vector<const char*> tools = {"bash", "file_edit", "file_read", "file_write", "glob", "grep"})
{
    Json::Array offered;
    for (auto* name : tools) offered.push_back(object({{"name", name}}));
    return object({{"type", "ask"}, {"tools", offered}, {"messages", Json::Array{object({{"role", "user"}, {"text", said}})}}});
}

// "tool arguments" of the call that a sentence makes, or the words of the answer.
std::string done(const Json& request)
{
    auto lines = providers::offline_answer(request);
    REQUIRE(lines.size() == 2);
    bool calls = lines[0].text("type") == "tool_call";
    CHECK(lines[1].text("reason") == (calls ? "tool_use" : "end_turn"));
    if (calls) CHECK(!lines[0].text("id").empty());
    return calls ? std::string(lines[0].text("name")) + " " + lines[0].find("arguments")->dump() : std::string(lines[0].text("text"));
}

std::string told(std::vector<std::pair<const char*, const char*>> envelopes)
{
    auto request = ask("x");
    auto& messages = *request.find("messages")->as<Json::Array>();
    messages.push_back(object({{"role", "assistant"}, {"parts", Json::Array{}}}));
    for (auto& [name, envelope] : envelopes)
        messages.push_back(object({{"role", "tool"}, {"id", "1"}, {"name", name}, {"envelope", *parse_json(envelope)}}));
    return done(request);
}

struct Row { const char *said, *call; };

}

TEST_CASE("offline: every sentence form and the call it makes")
{
    const Row rows[] = {
        {"run uname -a", R"(bash {"command":"uname -a"})"},
        {"Run \"ls -la\"", R"(bash {"command":"ls -la"})"},
        {"run 'a' 'b'", R"(bash {"command":"'a' 'b'"})"},
        {"run echo  two  spaces", R"(bash {"command":"echo  two  spaces"})"},
        {"please run echo hi", R"(bash {"command":"echo hi"})"},
        {"EXECUTE df -h", R"(bash {"command":"df -h"})"},
        {"! true", R"(bash {"command":"true"})"},
        {"where am I?", R"(bash {"command":"pwd"})"},
        {"What time is it?", R"(bash {"command":"date"})"},
        {"how full is the disk", R"(bash {"command":"df -h"})"},
        {"read notes.txt", R"(file_read {"file_path":"notes.txt"})"},
        {"Can you read \"my notes.txt\"", R"(file_read {"file_path":"my notes.txt"})"},
        {"read the file notes.txt", R"(file_read {"file_path":"notes.txt"})"},
        {"show notes.txt", R"(file_read {"file_path":"notes.txt"})"},
        {"show the file /etc/hosts", R"(file_read {"file_path":"/etc/hosts"})"},
        {"read lines 10 to 20 of notes.txt", R"(file_read {"file_path":"notes.txt","offset":10,"limit":11})"},
        {"show lines 3 to 3 of a", R"(file_read {"file_path":"a","offset":3,"limit":1})"},
        {"read the first 5 lines of notes.txt", R"(file_read {"file_path":"notes.txt","limit":5})"},
        {"show the first 5 lines of notes.txt", R"(file_read {"file_path":"notes.txt","limit":5})"},
        {"read notes.txt from line 7", R"(file_read {"file_path":"notes.txt","offset":7})"},
        {"list", R"(glob {"pattern":"*"})"},
        {"list files", R"(glob {"pattern":"*"})"},
        {"list the files", R"(glob {"pattern":"*"})"},
        {"What is in this folder?", R"(glob {"pattern":"*"})"},
        {"list src", R"(glob {"pattern":"*","path":"src"})"},
        {"list files in src", R"(glob {"pattern":"*","path":"src"})"},
        {"find *.txt", R"(glob {"pattern":"**/*.txt"})"},
        {"find src/*.h", R"(glob {"pattern":"src/*.h"})"},
        {"find *.h in src", R"(glob {"pattern":"**/*.h","path":"src"})"},
        {"search hello", R"(grep {"pattern":"hello","glob":"**/*"})"},
        {"search for \"a.b (c)\"", R"~(grep {"pattern":"a\\.b \\(c\\)","glob":"**/*"})~"},
        {"search for hello in src", R"(grep {"pattern":"hello","glob":"**/*","path":"src"})"},
        {"search hello in *.txt", R"(grep {"pattern":"hello","glob":"**/*.txt"})"},
        {"search hello in notes.txt", R"(grep {"pattern":"hello","glob":"**/notes.txt"})"},
        {"search log in in src", R"(grep {"pattern":"log in","glob":"**/*","path":"src"})"},
        {"search hello in .", R"(grep {"pattern":"hello","glob":"**/*","path":"."})"},
        {"grep ^[a-z]+", R"(grep {"pattern":"^[a-z]+","glob":"**/*"})"},
        {"grep ^a+ in *.conf", R"(grep {"pattern":"^a+","glob":"**/*.conf"})"},
        {"write Hello to notes.txt", R"(file_write {"file_path":"notes.txt","content":"Hello\n"})"},
        {"write \"a letter to you\" to notes.txt", R"(file_write {"file_path":"notes.txt","content":"a letter to you\n"})"},
        {"write a letter to you to notes.txt", R"(file_write {"file_path":"notes.txt","content":"a letter to you\n"})"},
        {"create notes.txt with Grüße 😀", R"(file_write {"file_path":"notes.txt","content":"Grüße 😀\n"})"},
        {"replace old with new in notes.txt", R"(file_edit {"old_string":"old","new_string":"new","file_path":"notes.txt"})"},
        {"Replace \"a with b\" with 'c in d' in \"my notes.txt\"", R"(file_edit {"old_string":"a with b","new_string":"c in d","file_path":"my notes.txt"})"},
        {"replace all a with b in notes.txt", R"(file_edit {"old_string":"a","new_string":"b","file_path":"notes.txt","replace_all":true})"},
    };
    for (auto& row : rows) {
        INFO(row.said);
        CHECK(done(ask(row.said)) == row.call);
    }
}

TEST_CASE("offline: its own examples are understood")
{
    auto examples = providers::offline_examples();
    CHECK(examples.size() >= 12);
    for (auto example : examples) {
        INFO(example);
        CHECK(providers::offline_answer(ask(example))[0].text("type") == "tool_call");
    }
}

TEST_CASE("offline: anything else is explained")
{
    for (auto* said : {"help", "", "hello", "run", "read", "replace a in b", "read lines x to y of", "write to", "read the docs and tell me about them", "list everything you know"}) {
        INFO(said);
        auto words = done(ask(said));
        CHECK(words.find("offline") != std::string::npos);
        CHECK(words.find("OPENAI_API_KEY") != std::string::npos);
        CHECK(words.find("read notes.txt") != std::string::npos);
    }
    CHECK(done(Json(Json::Object())).find("offline") != std::string::npos);
}

TEST_CASE("offline: only tools that the conversation has")
{
    CHECK(done(ask("run ls", {"glob"})).find("bash") != std::string::npos);
    CHECK(done(ask("run ls", {})).find("does not have") != std::string::npos);
}

TEST_CASE("offline: what came back, in words")
{
    auto has = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
    CHECK(has(told({{"bash", R"({"tool_success":true,"result":{"output":"hello\nyou","exit_code":0}})"}}), "    hello\n    you\n"));
    CHECK(has(told({{"bash", R"({"tool_success":true,"result":{"output":"","exit_code":3}})"}}), "exit code 3"));
    CHECK(has(told({{"bash", R"({"tool_success":false,"error":"Tool 'bash' timed out after 30s","error_code":"TOOL_TIMEOUT"})"}}), "Tool 'bash' timed out after 30s"));
    CHECK(has(told({{"file_edit", R"({"tool_success":true,"result":{"error":"String not found in file","error_code":"NOT_FOUND","hint":"the file has CRLF line ends"}})"}}),
              "String not found in file (the file has CRLF line ends)"));
    auto two = told({{"glob", R"({"tool_success":true,"result":{"output":"a","count":1}})"}, {"grep", R"({"tool_success":true,"result":{"output":"b","count":1}})"}});
    CHECK(has(two, "    a\n"));
    CHECK(has(two, "    b\n"));
    std::string many;
    for (int i = 0; i < 100; ++i) many += "line\\n";
    auto cut = told({{"file_read", ("{\"tool_success\":true,\"result\":{\"output\":\"" + many + "\"}}").c_str()}});
    CHECK(has(cut, "… 60 more lines"));
}
