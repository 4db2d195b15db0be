// The half of the screen that is told what to show.
#include "screen.h"

#include "base/text.h"

#include <algorithm>

namespace ik {

using term::Line;

namespace {

constexpr std::size_t most_of_printed_preview = 2000;

bool ends_with(std::span<const Line> lines, std::span<const Line> end)
{
    return !end.empty() && end.size() <= lines.size() && std::ranges::equal(lines.last(end.size()), end);
}

}

void Screen::said(std::string_view text)
{
    if (!plain_) print(user_lines(text));   // else it stands there already
}

void Screen::event(const Event& event)
{
    if (auto* text = std::get_if<ModelSaid>(&event)) {
        spoken_.feed(text->text);
        spoke_ = true;
        last_call_.clear();
        model_does_ = "answering";
        want();
    } else if (std::holds_alternative<ModelThought>(event)) {
        if (std::exchange(model_does_, "thinking…") != "thinking…") want();
    } else if (auto* retried = std::get_if<ModelRetried>(&event)) {
        auto pause = std::to_string((retried->delay_ms + 999) / 1000);
        warn(retried->discard ? "connection lost, asking again" : retried->error + "; asking again in " + pause + " s");
        spoke_ = false;
        model_does_ = "waiting for the model";
    } else if (std::holds_alternative<ModelDone>(event) || std::holds_alternative<ModelFailed>(event) || std::holds_alternative<Interrupted>(event)) {
        end_text();
        spoke_ = false;
        model_does_ = "waiting for the model";
    }
}

void Screen::call(const ToolCall& call)
{
    auto lines = call_lines(call, preview_of(call));
    print(lines);
    last_call_ = std::move(lines);
}

void Screen::result(const ToolCall&, const Json& envelope, milliseconds) { print(result_lines(envelope)); }

void Screen::notice(const Json& notice) { warn(notice.text("content")); }

void Screen::warn(std::string_view sentence) { print(warning_lines(sentence)); }

void Screen::say(std::string_view text)
{
    std::vector<Line> lines;
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (auto line : split(text, '\n')) lines.push_back(Line(line));
    print(std::move(lines));
}

void Screen::end(const End& end)
{
    end_text();
    if (!end.error.empty()) print(warning_lines("✗ " + end.error));
    else if (end.reason == "interrupted") print(warning_lines("✗ cancelled"));
    else if (end.reason != "end_turn") print(warning_lines("✗ the model stopped: " + end.reason));
    spoke_ = false;
    if (!plain_) print({Line()});   // between two messages
}

void Screen::status(std::vector<Activity> activities, std::optional<Figures> figures)
{
    if (activities == activities_ && figures == figures_)
        return;
    if (activities_.empty() && !activities.empty()) next_tick_ = Clock::now() + tick;
    activities_ = std::move(activities);
    figures_ = figures;
    want();
}

void Screen::queue(std::vector<std::string> messages)
{
    if (std::exchange(queue_, std::move(messages)) != queue_) want();
}

void Screen::candidates(std::vector<term::Candidate> candidates)
{
    obey(editor_.offer(std::move(candidates)));
}

void Screen::ask(Question question)
{
    end_text();
    auto rows = static_cast<std::size_t>(std::max(view_.size().rows - 8, 4));
    question_ = Asked{.question = std::move(question), .preview = {}, .why = {}};
    auto preview = preview_lines(question_->question.preview, most_of_printed_preview);
    if (ends_with(last_call_, preview))
        ;   // it stands right above, with the call
    else if (preview.size() <= rows && !plain_)
        question_->preview = std::move(preview);
    else {   // too long to stand above the prompt: it can be scrolled to
        preview.insert(preview.begin(), Line("→ " + question_->question.preview.subject, faint_style));
        print(std::move(preview));
    }
    hint_.clear();
    want();
}

void Screen::ask_no_more()
{
    question_.reset();
    want();
}

}
