#include "agent/loop_guard.h"

#include "agent/wire.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

Json answered(const char* output) { return object({{"tool_success", true}, {"result", object({{"output", output}})}}); }
ToolCall list(const char* id, Json arguments = object({{"pattern", "*"}, {"path", "."}})) { return {id, "glob", std::move(arguments)}; }

bool told(const Json& envelope) { return envelope.find("hint"); }
bool stopped(const Json& envelope) { return envelope.text("error_code") == "TOOL_REPEATED"; }

}

TEST_CASE("loop guard: the third time is told, the fifth stops")
{
    LoopGuard guard;
    CHECK(guard.judged(list("1"), answered("a")) == answered("a"));
    CHECK(guard.judged(list("2"), answered("a")) == answered("a"));
    auto third = guard.judged(list("3"), answered("a"));
    CHECK(third.text("hint").starts_with("This is the third time with the same result: "));
    CHECK(*third.find("result") == *answered("a").find("result"));
    CHECK(guard.judged(list("4"), answered("a")).text("hint").starts_with("This is the 4th time"));
    CHECK(guard.judged(list("5"), answered("a")).dump() ==
          R"({"tool_success":false,"error":"Tool 'glob' was called with the same arguments and gave the same result five times: the turn is stopped","error_code":"TOOL_REPEATED"})");
}

TEST_CASE("loop guard: another result, other arguments, another tool are something else")
{
    LoopGuard guard;
    for (auto* output : {"a", "b", "c", "d", "e", "f"}) CHECK_FALSE(told(guard.judged(list("1"), answered(output))));
    for (auto* pattern : {"1", "2", "3", "4", "5"}) CHECK_FALSE(told(guard.judged(list("1", object({{"pattern", pattern}})), answered("a"))));
    for (auto* tool : {"one", "two", "three", "four"}) CHECK_FALSE(told(guard.judged({"1", tool, Json::Object{}}, answered("a"))));
}

TEST_CASE("loop guard: the order of members does not make other arguments")
{
    LoopGuard guard;
    guard.judged(list("1"), answered("a"));
    guard.judged(list("2", object({{"path", "."}, {"pattern", "*"}})), answered("a"));
    CHECK(told(guard.judged(list("3"), answered("a"))));
}

TEST_CASE("loop guard: a circle of several calls is stopped too")
{
    LoopGuard guard;
    int rounds = 0;
    for (bool stop = false; !stop && rounds < 20; ++rounds)
        for (auto* pattern : {"a", "b", "c"})
            stop = stopped(guard.judged(list("1", object({{"pattern", pattern}})), answered(""))) || stop;
    CHECK(rounds == 5);
}

TEST_CASE("loop guard: the same tests after different edits are told, but not stopped")
{
    LoopGuard guard;
    bool was_told = false;
    for (int i = 0; i < 10; ++i) {
        guard.judged({"1", "file_edit", object({{"new_string", std::to_string(i)}})}, answered("Replaced"));
        auto envelope = guard.judged({"2", "bash", object({{"command", "make check"}})}, answered("failed"));
        CHECK_FALSE(stopped(envelope));
        was_told = was_told || told(envelope);
    }
    CHECK(was_told);
}

TEST_CASE("loop guard: a result in a file of its own is the same result")
{
    LoopGuard guard;
    auto kept = [](const std::string& id) { return answered(("… the whole text is in /s/outputs/5/" + id + "-output.txt").c_str()); };
    guard.judged(list("call_1"), kept("call_1"));
    guard.judged(list("call_2"), kept("call_2"));
    CHECK(told(guard.judged(list("call_3"), kept("call_3"))));
}

TEST_CASE("loop guard: a new turn begins at nothing")
{
    LoopGuard guard;
    for (int i = 0; i < 2; ++i) guard.judged(list("1"), answered("a"));
    guard.begin_turn();
    CHECK_FALSE(told(guard.judged(list("1"), answered("a"))));
}

TEST_CASE("session: a call that was repeated too often ends the turn, after every call is answered")
{
    Session session({.provider = "p", .model = "m", .system = "", .thinking = ""});
    for (auto& event : std::initializer_list<Event>{UserSaid{"go"}, ModelCalled{list("1")}, ModelCalled{list("2")}, ModelDone{"tool_use"}})
        session.on(event);
    CHECK(session.on(ToolDone{"1", failure("TOOL_REPEATED", "Enough")}).empty());
    CHECK(session.on(ToolDone{"2", answered("a")}) == Effects{End{"error", "Enough", "TOOL_REPEATED"}});
    CHECK_FALSE(session.busy());
    CHECK(session.messages().size() == 4);
    CHECK(session.on(UserSaid{"again"}).size() == 1);
}
