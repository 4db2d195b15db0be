// screen_lines: how what happens looks to a person: calls, results, questions, what runs. Lines as values; knows no
// terminal and no clock but the one that it is given.
#pragma once

#include "agent/session.h"
#include "base/poll.h"
#include "preview.h"
#include "term/style.h"
#include "term/width.h"

#include <span>

namespace ik {

// Something that goes on now.
struct Activity {
    std::string what;                              // "bash: make test"; empty: the model has been asked
    Clock::time_point since = {};
    std::optional<milliseconds> limit = {};        // shown when it is near
    std::optional<Clock::time_point> until = {};   // instead of since: how long it will be yet, for a pause
    bool stoppable = true;                         // by Esc

    friend bool operator==(const Activity&, const Activity&) = default;
};

// Of the conversation so far.
struct Figures {
    Usage usage;
    std::optional<double> cost;   // in US dollars

    friend bool operator==(const Figures&, const Figures&) = default;
};

// What a person is to decide.
struct Question {
    Preview preview;
    std::string reason;           // why it is asked; may be empty
    std::string always;           // the rule that "always" would set; empty: it is not offered
    bool session = true;          // "for this session" is offered
    bool outside = false;         // it is to run outside of the sandbox
};

inline constexpr term::Style faint_style{.ink = term::Ink::faint}, warning_style{.ink = term::Ink::warning};

// A message of the person: of many lines only the first.
std::vector<term::Line> user_lines(std::string_view text);

// A file's change instead of the arguments, where the preview has one.
std::vector<term::Line> call_lines(const ToolCall&, const Preview&);
std::vector<term::Line> result_lines(const Json& envelope);

// A sentence with the sign before it, unless it has one.
std::vector<term::Line> warning_lines(std::string_view sentence, std::string_view sign = "⚠");

// most: lines; what is more is counted.
std::vector<term::Line> preview_lines(const Preview&, std::size_t most);

// The question without its preview: what is asked, then the answers.
term::Line question_line(const Question&);
term::Line answers_line(const Question&);

// The answer that a key is: one of "ysanw", or 0.
char answer_of(char key, const Question&);

// thinking: what the model does, if it has been asked.
std::vector<term::Line> status_lines(std::span<const Activity>, const std::optional<Figures>&, std::string_view model_does, Clock::time_point now);

std::vector<term::Line> queue_lines(std::span<const std::string> messages);

std::string spoken_time(std::chrono::seconds);   // "12 s", "2 min 5 s", "1 h 2 min"
std::string spoken_count(std::int64_t);          // "940", "1.2k", "3.4M"

}
