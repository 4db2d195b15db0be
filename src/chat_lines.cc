// What a conversation has to do with standard input, read line by line: the part of chat.h that is about a pipe, or a person
// at a terminal whose cursor stays where it is.
#include "chat.h"

#include "base/text.h"
#include "commands.h"
#include "preview.h"

#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t max_typed = 32 << 20;     // bytes on stdin that are one message

// An answer to a question, with what is said besides; nothing where it is none.
std::pair<std::optional<Approval::Answer>, std::string_view> answer_in(std::string_view line, bool always_offered)
{
    using enum Approval::Answer;
    constexpr std::pair<std::string_view, Approval::Answer> words[] = {
        {"y", once}, {"yes", once}, {"s", session}, {"session", session}, {"a", always}, {"always", always}, {"n", no}, {"no", no},
    };
    auto end = line.find_first_of(" :,");
    auto row = std::ranges::find(words, lower(line.substr(0, end)), [](auto& each) { return std::string(each.first); });
    if (row == std::end(words) || (!always_offered && (row->second == session || row->second == always)))
        return {};
    auto rest = end == line.npos ? "" : line.substr(end);
    return {row->second, trim(rest.substr(std::min(rest.find_first_not_of(" :,"), rest.size())))};
}

}

void Chat::hear_keyboard()
{
    char buffer[65536];
    auto n = read_some(0, buffer, sizeof buffer);
    hint_at_.reset();
    if (n > 0 && typed_.size() < max_typed) {
        typed_.append(buffer, static_cast<std::size_t>(n));
        hinted_ = false;
        return;
    }
    if (n > 0)
        return give_up({"error", "standard input is longer than 32 MB", ""}, 2);
    keyboard_open_ = false;
    if (calls_.question())
        happen(Interrupted{});   // nobody can answer any more
    if (options_.print)
        say_message(typed_.empty() ? *options_.print : *options_.print + (options_.print->empty() ? "" : "\n\n") + clean_utf8(std::exchange(typed_, {})));
    else if (!typed_.empty() && typed_.back() != '\n')
        typed_ += '\n';
    if (prompted_)
        mouth_.say("\n");
}

// What was typed before a person could read the question is no answer to it.
void Chat::ask_person()
{
    auto* question = calls_.question();
    if (!question || asked_)
        return;
    asked_ = true;
    held_ += std::exchange(typed_, {});
    mouth_.question(*question, preview_of(question->call));
}

void Chat::hear_answer()
{
    if (screen_) {   // which tells of an answer by itself
        if (asked_ && !calls_.question()) screen_->ask_no_more(), asked_ = false;
        return;
    }
    while (asked_ && calls_.question()) {
        auto line = take_line(typed_);
        if (!line)
            return;
        auto [answer, word] = answer_in(trim(*line), !calls_.question()->always.empty());
        if (!answer) {
            mouth_.question(*calls_.question(), {});
            continue;
        }
        asked_ = false;
        calls_.answer(*answer, clean_utf8(word));
        ask_person();
    }
    if (asked_)
        asked_ = false;   // it was settled otherwise
    if (!calls_.question())
        typed_ = std::exchange(held_, {}) + typed_;
}

// Commands that are for the time while something runs. At a terminal they overtake what was typed before.
void Chat::obey_at_once()
{
    if (options_.print || leaving_ || idle())
        return;
    std::string kept;
    auto later = std::exchange(typed_, {});
    while (auto line = take_line(later)) {
        if (!kept.empty() && !isatty(0)) {
            kept += *line + "\n";
            break;
        }
        auto text = trim(*line);
        if (is_for_any_time(text)) {
            mouth_.begin_block();
            run_command(*this, text);
        } else
            kept += *line + "\n";
    }
    typed_ = kept + later + typed_;
}

}
