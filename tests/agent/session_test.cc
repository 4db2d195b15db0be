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

namespace {

const std::string long_text(4000, 'x');

// Two turns of about 1,000 tokens each, and a window that they nearly fill.
Session nearly_full(bool compact = true)
{
    Session session({.provider = "p", .model = "m", .system = "s", .thinking = "", .window = 2800, .compact = compact});
    for (int i = 0; i < 2; ++i)
        for (const Event& event : {Event(UserSaid{long_text}), Event(ModelSaid{"ok"}), Event(ModelDone{"end_turn"})}) session.on(event);
    return session;
}

template <class T> const T* effect(const Effects& effects)
{
    for (auto& each : effects)
        if (auto* found = std::get_if<T>(&each)) return found;
    return nullptr;
}

}

TEST_CASE("session: tokens are the service's figure and an estimate of what came since")
{
    auto session = session_after({UserSaid{"hello"}});
    auto estimated = session.tokens();
    CHECK(estimated > 0);
    CHECK(estimated < 40);
    session.on(ModelUsed{{500, 20, 400}});
    session.on(ModelSaid{"hi"});
    session.on(ModelDone{"end_turn"});
    CHECK(session.tokens() == 520);
    session.on(UserSaid{std::string(400, 'x')});
    CHECK(session.tokens() > 600);
    CHECK(session.tokens() < 640);
    session.on(ModelUsed{{3, 2, 0}});   // of a server that counts only what is new to it
    session.on(ModelDone{"end_turn"});
    CHECK(session.tokens() > 600);
}

TEST_CASE("session: before the window is full a summary is asked for, and the turn goes on with it")
{
    auto session = nearly_full();
    auto effects = session.on(UserSaid{"now " + std::string(1000, 'y')});
    REQUIRE(effects.size() == 2);
    CHECK(effect<SayCompacting>(effects)->tokens == session.tokens());
    CHECK(effect<Ask>(effects)->request.find("tools")->as<Json::Array>()->empty());
    CHECK(session.compacting());
    CHECK(session.messages().size() == 5);
    CHECK(session.on(ModelSaid{"lost"}).empty());
    CHECK(session.on(ModelRetried{1, 1000, "reset", true}).empty());
    CHECK(session.on(ModelSaid{"SUM"}).empty());
    CHECK(session.on(ModelUsed{{10, 5, 0}}).empty());
    effects = session.on(ModelDone{"end_turn"});
    REQUIRE(effects.size() == 2);
    auto& done = *effect<Compacted>(effects);
    CHECK(done.summary.text("summary") == "SUM");
    CHECK(done.kept_from == 3);
    CHECK(done.after < done.before);
    CHECK(done.after == session.tokens());
    CHECK(*effect<Ask>(effects)->request.find("messages") == session.messages());
    CHECK(session.messages().back().text("text").substr(0, 4) == "now ");
    CHECK(session.turns() == 1);
    CHECK(session.usage() == Usage{10, 5, 0});
    session.on(ModelSaid{"Hello"});
    CHECK(session.on(ModelDone{"end_turn"}) == Effects{End{"end_turn", "", ""}});
    CHECK(session.answer() == "Hello");
}

TEST_CASE("session: what goes wrong with a summary ends the turn and keeps the conversation as it was")
{
    for (const Event& event : {Event(ModelFailed{"no route", "NETWORK_ERROR"}), Event(ModelDone{"end_turn"}), Event(Interrupted{})}) {
        auto session = nearly_full();
        session.on(UserSaid{"now " + std::string(1000, 'y')});
        REQUIRE(session.compacting());
        auto before = session.messages();
        auto effects = session.on(event);
        REQUIRE(effect<End>(effects));
        CHECK((effect<Cancel>(effects) != nullptr) == std::holds_alternative<Interrupted>(event));
        CHECK(session.messages() == before);
        CHECK_FALSE(session.busy());
        CHECK_FALSE(session.compacting());
    }
}

TEST_CASE("session: without compaction a full window is the service's to complain about")
{
    auto session = nearly_full(false);
    CHECK(effect<Ask>(session.on(UserSaid{"now"}))->request.find("messages")->as<Json::Array>()->size() == 5);
    auto effects = session.on(ModelFailed{"too long", "CONTEXT_OVERFLOW"});
    CHECK(effects == Effects{End{"error", "too long", "CONTEXT_OVERFLOW"}});
    CHECK(effect<SayCompacting>(session.on(CompactionWanted{""})));   // but it may be asked for
}

TEST_CASE("session: an overflow is compacted and asked once more, in smaller pieces where the summary overflows too")
{
    auto session = session_after({UserSaid{std::string(40'000, 'x')}, ModelSaid{"ok"}, ModelDone{"end_turn"}, UserSaid{"now"}});
    const Event overflow = ModelFailed{"too long", "CONTEXT_OVERFLOW"};
    auto first = session.on(overflow);
    REQUIRE(effect<Ask>(first));
    auto second = session.on(overflow);
    REQUIRE(effect<Ask>(second));
    CHECK(effect<Ask>(second)->request.dump().size() < effect<Ask>(first)->request.dump().size());
    Effects effects;
    for (int i = 0; i < 50 && !effect<Compacted>(effects); ++i) {
        session.on(ModelSaid{"SUM"});
        effects = session.on(ModelDone{"end_turn"});
    }
    REQUIRE(effect<Ask>(effects));
    CHECK(session.on(overflow) == Effects{End{"error", "too long", "CONTEXT_OVERFLOW"}});
}
