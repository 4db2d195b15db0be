// What a conversation has to do with those that were kept: the part of chat.h that is about them.
#include "chat.h"

#include "base/text.h"
#include "transcript.h"

#include <charconv>
#include <unistd.h>

namespace ik {
namespace {

constexpr int most_choices = 20;
constexpr std::size_t most_retold = 1500;   // events; a longer conversation would keep its person waiting

std::string line_of(std::size_t number, const SessionRow& row)
{
    return "  " + std::to_string(number) + "  " + row.updated.substr(0, 16) + "  " + row.id + "  " + row.folder + "  " + (row.title.empty() ? "(nothing said)" : row.title)
         + (row.tokens ? "  (" + std::to_string(row.tokens) + " tokens)" : "") + "\n";
}

}

void Chat::greet() { mouth_.session(keeper_.id(), options_.provider, options_.model); }

// Where the conversation is to go on with one that was kept: it is asked for before anything is said.
void Chat::look_for_kept()
{
    looking_ = options_.choose || options_.resume || !options_.id.empty();
    if (options_.choose)
        resume("");
    else if (options_.resume && options_.resume->empty())
        keeper_.ask_latest(here().folder);
    else if (options_.resume)
        keeper_.ask_load(*options_.resume);
    else if (!options_.id.empty())
        keeper_.ask_load(options_.id);
}

void Chat::resume(const std::string& id)
{
    choosing_ = id.empty();
    if (choosing_) keeper_.ask_list("", most_choices);
    else keeper_.ask_load(id);
}

void Chat::list_sessions() { keeper_.ask_list(here().folder, most_choices); }

void Chat::begin_anew()
{
    keeper_.begin(new_id());
    session_.resume({});
}

void Chat::go_back(std::string kind, std::int64_t seq)
{
    if (seq <= 0)
        return begin_anew();
    keeper_.branch(std::move(kind), new_id(), seq);
    session_.resume(keeper_.messages());
}

void Chat::go_on_with(const SessionRow& row, std::vector<StoredEvent> events)
{
    if (options_.format == Format::person) {
        auto left_out = events.size() > most_retold ? events.size() - most_retold : 0;
        if (left_out)
            mouth_.say("(" + std::to_string(left_out) + " earlier events: ikigai sessions show " + row.id + ")\n");
        retell(mouth_, std::span(events).subspan(left_out));
    }
    keeper_.resume(row, std::move(events));
    session_.resume(keeper_.messages());
}

void Chat::hear_keeper()
{
    while (auto notice = keeper_.take_notice()) {
        mouth_.warn(*notice);
        prompted_ = false;
    }
    auto answer = keeper_.take_answer();
    if (!answer)
        return;
    prompted_ = false;
    bool asked_at_start = std::exchange(looking_, false);
    bool may_be_new = asked_at_start && !options_.id.empty() && !options_.resume;
    if (answer->loaded)
        go_on_with(*answer->loaded, std::move(answer->events));
    else if (!answer->sessions.empty()) {
        std::string out;
        for (std::size_t i = 0; i < answer->sessions.size(); ++i) out += line_of(i + 1, answer->sessions[i]);
        mouth_.say(harmless(out));
        if (std::exchange(choosing_, false)) {
            choices_ = std::move(answer->sessions);
            mouth_.say("Which one? Its number, or nothing: ");
        }
    } else if (!may_be_new) {
        auto why = answer->error.empty() ? std::string("No conversation has been kept") + (options_.resume ? " in this folder" : "") : answer->error;
        if (asked_at_start && options_.print)
            return give_up({"error", why, std::string(code::usage)}, 2);
        mouth_.warn(why);
    }
    if (asked_at_start) greet();
}

void Chat::choose(std::string_view word)
{
    auto choices = std::exchange(choices_, {});
    std::size_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    if (number >= 1 && number <= choices.size())
        keeper_.ask_load(choices[number - 1].id);
    else if (!word.empty())
        mouth_.warn("There is no number " + std::string(word) + " in the list");
}

}
