#include "store/keeper.h"

#include "base/text.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace ik::test {

Keeper::Keeper(const std::string& file, bool outlives_us)
    : child([&] {
          std::signal(SIGPIPE, SIG_IGN);   // a store that is killed does not take us with it
          auto started = Child::start({.argv = {ikigai(), "store", "--file", file}, .keep_stdin = true, .outlives_us = outlives_us});
          REQUIRE(started);
          return std::move(*started);
      }())
{}

void Keeper::step(std::chrono::milliseconds longest)
{
    Poll poll;
    child.add_to(poll);
    poll.until(Clock::now() + longest);
    poll.wait();
    child.advance(poll);
    while (auto line = take_line(child.out))
        if (auto json = parse_json(*line)) answers.push_back(*json);
}

std::vector<Json> Keeper::ask(const std::string& line, const std::string& last_type)
{
    auto before = answers.size();
    say(line + "\n");
    auto there = [&] {
        for (auto i = before; i < answers.size(); ++i)
            if (answers[i].text("type") == last_type || answers[i].text("type") == "error") return true;
        return false;
    };
    for (auto end = Clock::now() + std::chrono::seconds(60); !there() && !child.exit && Clock::now() < end;) step();
    CHECK(there());
    return {answers.begin() + static_cast<std::ptrdiff_t>(before), answers.end()};
}

bool Keeper::heard(std::string_view type, std::int64_t seq)
{
    auto there = [&] {
        for (auto& answer : answers)
            if (answer.text("type") == type && answer.find("seq") && *answer.find("seq") == Json(seq)) return true;
        return false;
    };
    for (auto end = Clock::now() + std::chrono::seconds(30); !there() && !child.exit && Clock::now() < end;) step();
    return there();
}

int Keeper::finish()
{
    child.hang_up();
    child.advance(Poll());
    while (!child.exit) step();
    while (auto line = take_line(child.out))
        if (auto json = parse_json(*line)) answers.push_back(*json);
    return child.exit->status();
}

std::string event_line(const std::string& session, std::int64_t seq, const std::string& kind, const std::string& content, const std::string& more)
{
    auto line = object({{"type", "event"}, {"session", session}, {"seq", seq}, {"kind", kind}, {"content", content}}).dump();
    if (!more.empty()) line.insert(line.size() - 1, "," + more);
    return line + "\n";
}

std::vector<StoredEvent> loaded(const std::string& file, const std::string& session)
{
    Keeper keeper(file);
    std::vector<StoredEvent> out;
    for (auto& answer : keeper.ask(R"({"type":"load","session":")" + session + "\"}", "loaded"))
        if (answer.text("type") == "event") out.push_back(*event_of(answer));
    CHECK(keeper.finish() == 0);
    return out;
}

Json first(const std::vector<Json>& answers, std::string_view type)
{
    for (auto& answer : answers)
        if (answer.text("type") == type) return answer;
    return {};
}

}
