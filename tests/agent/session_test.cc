#include "agent/session.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

const ToolCall list_files{"1", "glob", object({{"pattern", "*.cc"}})};
const ToolCall read_file{"2", "file_read", object({{"file_path", "a.cc"}})};
const Json envelope = object({{"tool_success", true}, {"result", object({{"output", ""}})}});

Session session_after(std::initializer_list<Event> events, std::int64_t max_turns = 50)
{
    Session session({.provider = "openai-chat", .model = "m", .system = "s", .thinking = "", .max_turns = max_turns});
    for (auto& event : events)
        session.on(event);
    return session;
}

Json said(const char* text) { return object({{"role", "user"}, {"text", text}}); }
Json told(const ToolCall& call) { return object({{"role", "tool"}, {"id", call.id}, {"name", call.name}, {"envelope", envelope}}); }
Json part(const ToolCall& c) { return object({{"call", object({{"id", c.id}, {"name", c.name}, {"arguments", c.arguments}})}}); }

const Json* asked(const Effects& effects)
{
    REQUIRE(effects.size() == 1);
    REQUIRE(std::holds_alternative<Ask>(effects[0]));
    return std::get<Ask>(effects[0]).request.find("messages");
}

}

TEST_CASE("session: a question is asked at once")
{
    auto effects = session_after({}).on(UserSaid{"hello"});
    REQUIRE(effects.size() == 1);
    CHECK(std::get<Ask>(effects[0]).request.dump() ==
          R"({"type":"ask","provider":"openai-chat","model":"m","system":"s","messages":[{"role":"user","text":"hello"}],"tools":[]})");
}

TEST_CASE("session: tool calls wait for the end of the reply, then all run")
{
    auto session = session_after({UserSaid{"list"}, ModelCalled{list_files}, ModelCalled{read_file}});
    CHECK(session.on(ModelDone{"tool_use"}) == Effects{Run{list_files}, Run{read_file}});
    CHECK(session.busy());
    CHECK_FALSE(session.asking());
}

TEST_CASE("session: the next request waits for the last envelope, and has them in the order of the calls")
{
    auto session = session_after({UserSaid{"list"}, ModelSaid{"Let "}, ModelSaid{"me"}, ModelCalled{list_files}, ModelCalled{read_file}, ModelDone{"tool_use"}});
    CHECK(session.on(ToolDone{"2", envelope}).empty());
    auto effects = session.on(ToolDone{"1", envelope});
    CHECK(*asked(effects) == Json::Array{said("list"),
                                         object({{"role", "assistant"}, {"parts", Json::Array{object({{"text", "Let me"}}), part(list_files), part(read_file)}}}),
                                         told(list_files), told(read_file)});
    CHECK(session.turns() == 2);
    CHECK(session.calls() == 2);
}

TEST_CASE("session: an answer ends the turn")
{
    auto session = session_after({UserSaid{"hi"}, ModelThought{"hm"}, ModelSaid{"Hello"}, ModelUsed{{3, 2, 1}}});
    CHECK(session.on(ModelDone{"end_turn"}) == Effects{End{"end_turn", "", ""}});
    CHECK_FALSE(session.busy());
    CHECK(session.answer() == "Hello");
    CHECK(session.usage() == Usage{3, 2, 1});
    CHECK(session.messages().back().dump() == R"({"role":"assistant","parts":[{"thinking":"hm"},{"text":"Hello"}]})");
}

TEST_CASE("session: opaque parts stay in their place")
{
    auto opaque = object({{"opaque", object({{"signature", "xyz"}})}, {"provider", "anthropic"}});
    auto session = session_after({UserSaid{"hi"}, ModelThought{"hm"}, ModelKept{opaque}, ModelSaid{"Hello"}, ModelDone{"end_turn"}});
    CHECK((*session.messages().back().find("parts")->as<Json::Array>())[1] == opaque);
}

TEST_CASE("session: a reply that was cut runs no call")
{
    auto session = session_after({UserSaid{"list"}, ModelSaid{"a"}, ModelCalled{list_files}});
    CHECK(session.on(ModelDone{"max_tokens"}) == Effects{End{"max_tokens", "", ""}});
    CHECK(session.messages().back().dump() == R"({"role":"assistant","parts":[{"text":"a"}]})");
}

TEST_CASE("session: pause sends the turn back")
{
    auto session = session_after({UserSaid{"go"}, ModelSaid{"half"}});
    auto effects = session.on(ModelDone{"pause"});
    CHECK(asked(effects)->as<Json::Array>()->size() == 2);
}

TEST_CASE("session: a failure ends the turn and keeps what was said")
{
    auto session = session_after({UserSaid{"go"}, ModelSaid{"half"}, ModelCalled{list_files}});
    CHECK(session.on(ModelFailed{"no route", "NETWORK_ERROR"}) == Effects{End{"error", "no route", "NETWORK_ERROR"}});
    CHECK(session.messages().back().dump() == R"({"role":"assistant","parts":[{"text":"half"}]})");
    CHECK_FALSE(session.busy());
}

TEST_CASE("session: a retried reply begins again")
{
    auto session = session_after({UserSaid{"go"}, ModelSaid{"half"}, ModelCalled{list_files}, ModelRetried{1, 1000, "reset", true}, ModelSaid{"whole"}});
    CHECK(session.on(ModelDone{"end_turn"}) == Effects{End{"end_turn", "", ""}});
    CHECK(session.answer() == "whole");
    CHECK(session.messages().back().dump() == R"({"role":"assistant","parts":[{"text":"whole"}]})");
}

TEST_CASE("session: an interruption of the model keeps what was said")
{
    auto session = session_after({UserSaid{"go"}, ModelSaid{"half"}});
    CHECK(session.on(Interrupted{}) == Effects{Cancel{}, End{"interrupted", "", ""}});
    CHECK(session.messages().size() == 2);
    CHECK_FALSE(session.busy());
}

TEST_CASE("session: an interruption of tools waits until every call is answered, and asks no more")
{
    auto session = session_after({UserSaid{"go"}, ModelCalled{list_files}, ModelCalled{read_file}, ModelDone{"tool_use"}, ToolDone{"1", envelope}});
    CHECK(session.on(Interrupted{}) == Effects{Cancel{}});
    CHECK(session.on(Interrupted{}).empty());
    CHECK(session.on(ToolDone{"2", envelope}) == Effects{End{"interrupted", "", ""}});
    CHECK(session.messages().size() == 4);
}

TEST_CASE("session: no more requests a message than allowed")
{
    auto session = session_after({UserSaid{"go"}, ModelCalled{list_files}, ModelDone{"tool_use"}}, 1);
    auto effects = session.on(ToolDone{"1", envelope});
    REQUIRE(effects.size() == 1);
    CHECK(std::get<End>(effects[0]).reason == "max_turns");
    CHECK_FALSE(session.busy());
    CHECK(session.messages().size() == 3);
}

TEST_CASE("session: a note is told with the next question, after the answers of the tools or before what the user says")
{
    auto session = session_after({UserSaid{"list"}, ModelCalled{list_files}, ModelDone{"tool_use"}});
    CHECK(session.on(Noted{"a has ended"}).empty());
    auto effects = session.on(ToolDone{"1", envelope});
    CHECK(*asked(effects) == Json::Array{said("list"), object({{"role", "assistant"}, {"parts", Json::Array{part(list_files)}}}), told(list_files), said("a has ended")});
    session.on(ModelSaid{"ok"});
    session.on(ModelDone{"end_turn"});
    CHECK(session.on(Noted{"b has ended"}).empty());
    CHECK_FALSE(session.busy());
    effects = session.on(UserSaid{"go on"});
    auto& messages = *asked(effects)->as<Json::Array>();
    REQUIRE(messages.size() == 7);
    CHECK(messages[5] == said("b has ended"));
    CHECK(messages[6] == said("go on"));
}
