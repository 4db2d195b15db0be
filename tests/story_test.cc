// A conversation goes on from its events alone, with any provider.
#include "story.h"

#include "agent/wire.h"
#include "llm/decode.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

const ToolCall list_files{"1", "glob", object({{"pattern", "*.cc"}})};
const ToolCall read_file{"2", "file_read", object({{"file_path", "a.cc"}})};
const Json envelope = object({{"tool_success", true}, {"result", object({{"output", "x"}})}});
const Json opaque = object({{"opaque", object({{"signature", "xyz"}})}, {"provider", "anthropic"}});

struct Telling {
    Session session{{.provider = "openai-chat", .model = "m", .system = "s", .thinking = "", .max_turns = 50}};
    Scribe scribe{StoredEvent{.session = "a", .kind = ""}};
    std::vector<StoredEvent> events;

    Telling& operator<<(const Event& event)
    {
        session.on(event);
        for (auto& e : scribe.after(event, session)) events.push_back(e);
        return *this;
    }
    Telling& operator<<(StoredEvent event) { return events.push_back(std::move(event)), *this; }
    StoredEvent note(std::string kind, std::string content, Json data = {}) { return scribe.note(std::move(kind), std::move(content), std::move(data)); }

    std::string kinds() const
    {
        std::string out;
        for (auto& e : events) out += (out.empty() ? "" : " ") + e.kind;
        return out;
    }
};

// What is stored goes through lines.
Json::Array retold(const Telling& telling)
{
    std::vector<StoredEvent> events;
    for (auto& e : telling.events) {
        auto event = event_of(*parse_json(line_of(e)));
        REQUIRE(event);
        events.push_back(*event);
    }
    return messages_of(events);
}

Json text_of(const char* role, const char* text) { return object({{"role", role}, {"text", text}}); }

}

TEST_CASE("story: the messages of the events are those of the session")
{
    Telling t;
    t << UserSaid{"list"} << ModelThought{"hm"} << ModelKept{opaque} << ModelSaid{"Let "} << ModelSaid{"me"} << ModelCalled{list_files} << ModelCalled{read_file}
      << ModelUsed{{3, 2, 1}} << ModelDone{"tool_use"} << ToolDone{"2", envelope};
    CHECK(t.kinds() == "user usage assistant tool_call tool_call tool_result");
    t << ToolDone{"1", envelope} << ModelSaid{"Done."} << ModelDone{"end_turn"} << UserSaid{"and?"} << ModelSaid{"half"} << Interrupted{} << UserSaid{"go on"}
      << ModelSaid{"x"} << ModelRetried{1, 1, "lost", true} << ModelSaid{"broken"} << ModelFailed{"the line is dead", "NETWORK_ERROR"};
    CHECK(t.kinds() == "user usage assistant tool_call tool_call tool_result tool_result assistant user assistant interrupted user assistant interrupted");
    CHECK(retold(t) == t.session.messages());
    CHECK(t.events[7].content == "Done.");
    CHECK(t.events[7].data.null());
    CHECK(t.events.back().content == "the line is dead");
    for (std::size_t i = 0; i < t.events.size(); ++i) CHECK(t.events[i].seq == static_cast<std::int64_t>(i) + 1);
}

TEST_CASE("story: a call without a result is answered as interrupted, one that was not told in full was never made")
{
    Telling t;
    t << UserSaid{"list"} << ModelSaid{"I look"} << ModelCalled{list_files} << ModelCalled{read_file} << ModelDone{"tool_use"} << ToolDone{"2", envelope};
    auto messages = retold(t);
    REQUIRE(messages.size() == 4);
    CHECK(messages[2].dump() == R"({"role":"tool","id":"1","name":"glob","envelope":{"tool_success":false,"error":"interrupted before there was a result","error_code":"TOOL_CANCELLED"}})");
    CHECK(*messages[3].find("envelope") == envelope);

    t.events.resize(2);   // the kill came between the reply and its calls
    messages = retold(t);
    REQUIRE(messages.size() == 2);
    CHECK(messages[1].dump() == R"({"role":"assistant","parts":[{"text":"I look"}]})");
}

TEST_CASE("story: after a rewind the events behind it do not count")
{
    Telling t;
    t << UserSaid{"one"} << ModelSaid{"1"} << ModelDone{"end_turn"};
    auto seq = t.events.back().seq;
    t << t.note("mark", "here") << UserSaid{"two"} << ModelSaid{"2"} << ModelDone{"end_turn"} << t.note("rewind", "here", object({{"to", seq}})) << t.note("user", "three");
    auto messages = retold(t);
    REQUIRE(messages.size() == 3);
    CHECK(messages[2] == text_of("user", "three"));
}

TEST_CASE("story: a compaction stands for what came before it, but for what is kept")
{
    Telling t;
    t << UserSaid{"one"} << ModelSaid{"1"} << ModelDone{"end_turn"} << UserSaid{"two"} << ModelSaid{"2"} << ModelDone{"end_turn"};
    auto before = t.events.back().seq;
    t << t.note("compaction", "So far: one.", object({{"keep", 3}})) << t.note("user", "three");
    auto messages = retold(t);
    REQUIRE(messages.size() == 5);
    CHECK(messages[0] == text_of("user", "So far: one."));
    CHECK(messages[1].text("role") == "assistant");   // for models that want turns
    CHECK(messages[2] == text_of("user", "two"));
    CHECK(messages[4] == text_of("user", "three"));

    t << t.note("compaction", "All of it.") << t.note("user", "four");
    CHECK(retold(t) == Json::Array{text_of("user", "All of it."), text_of("user", "four")});
    t << t.note("rewind", "", object({{"to", before}}));
    CHECK(retold(t).size() == 4);
}

TEST_CASE("story: each dialect's recorded conversation goes on in each other dialect")
{
    struct Recording { const char *provider, *name; };
    const char* dialects[] = {"anthropic", "google", "openai-responses", "openai-chat"};
    if (recordings().empty())
        return skip("no recordings of real services here (RECORDINGS names their folder)");
    std::size_t tried = 0;
    for (std::string from : dialects)
        for (auto& entry : std::filesystem::directory_iterator(recordings() + "/" + from)) {
            if (entry.path().extension() != ".sse") continue;
            auto decoding = decode(from, *recorded_stream(from, entry.path().stem()));
            if (decoding.complaint || decoding.all("tool_call").empty()) continue;

            Telling t;
            t << UserSaid{"Question"};
            for (auto& line : decoding.lines)
                if (auto event = model_event(line.dump())) t << *event;
            for (auto& call : decoding.all("tool_call")) t << ToolDone{std::string(call.text("id")), envelope};
            auto messages = retold(t);
            INFO(entry.path().string());
            CHECK(messages == t.session.messages());
            messages.push_back(text_of("user", "Go on."));
            for (std::string to : dialects) {
                auto ask = object({{"type", "ask"}, {"model", "some-model"}, {"system", "s"}, {"messages", messages}, {"tools", Json::Array{}}});
                auto body = body_of(to, ask).dump();
                INFO(to);
                CHECK(body.find("Question") != std::string::npos);
                CHECK(body.find("Go on.") != std::string::npos);
                for (auto& call : decoding.all("tool_call")) {
                    CHECK(body.find(R"("name":")" + std::string(call.text("name")) + "\"") != std::string::npos);
                }
                // What only its own service understands goes to no other.
                if (to != from)
                    for (auto& kept : decoding.all("opaque"))
                        if (auto size = kept.find("data")->dump().size(); size > 200)
                            CHECK(body.find(kept.find("data")->dump().substr(size / 2, 60)) == std::string::npos);
                ++tried;
            }
        }
    CHECK(tried >= 16);
}
