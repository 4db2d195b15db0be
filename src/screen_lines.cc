#include "screen_lines.h"

#include "base/text.h"
#include "mouth.h"
#include "term/tool_text.h"

#include <algorithm>
#include <cstdio>

namespace ik {
namespace {

using term::Ink;
using term::Line;

constexpr std::size_t most_of_message = 12, most_of_change = 40, most_of_arguments = 400;
constexpr std::size_t most_activities = 4, most_queued = 4;

Line more_lines(std::size_t n) { return {"  … " + std::to_string(n) + (n == 1 ? " more line" : " more lines"), faint_style}; }

Line cut(Line line)
{
    line.cut = true;
    return line;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

Line diff_line(const DiffLine& line)
{
    using enum DiffLine::Kind;
    auto mark = line.kind == added ? "+ " : line.kind == removed ? "- " : "  ";
    auto ink = line.kind == added ? Ink::added : line.kind == removed ? Ink::removed : Ink::faint;
    return {"  " + (mark + line.text), {.ink = ink}};
}

// Where a cut went through an escape sequence, its begin goes too.
std::string_view without_half_sequence(std::string_view text)
{
    auto escape = text.rfind('\x1b');
    bool whole = escape == text.npos || text.find_first_not_of("0123456789;:[", escape + 1) != text.npos;
    return whole ? text : text.substr(0, escape);
}

std::string seconds_of(Clock::duration time)
{
    return spoken_time(std::max(std::chrono::seconds(0), std::chrono::floor<std::chrono::seconds>(time)));
}

std::string time_of(const Activity& activity, Clock::time_point now)
{
    if (activity.until)
        return "in " + seconds_of(*activity.until - now + std::chrono::milliseconds(999));
    auto age = now - activity.since;
    auto out = seconds_of(age);
    if (activity.limit && age >= *activity.limit * 3 / 4) out += " of " + seconds_of(*activity.limit);
    return out;
}

std::string figures_text(const Figures& figures)
{
    auto out = " · " + spoken_count(figures.usage.input) + " in, " + spoken_count(figures.usage.output) + " out";
    if (figures.cost) {
        char money[32];
        std::snprintf(money, sizeof money, *figures.cost < 0.1 ? " · $%.4f" : " · $%.2f", *figures.cost);
        out += money;
    }
    return out;
}

}

std::vector<Line> user_lines(std::string_view text)
{
    std::vector<Line> out;
    auto lines = split(text, '\n');
    auto shown = lines.size() <= most_of_message ? lines.size() : std::size_t(3);
    for (std::size_t i = 0; i < shown; ++i) {
        Line line(i == 0 ? "❯ " : "  ", {.ink = Ink::prompt});
        out.push_back(std::move(line.add(lines[i], {.bold = true})));
    }
    if (shown < lines.size()) out.push_back(more_lines(lines.size() - shown));
    return out;
}

std::vector<Line> preview_lines(const Preview& preview, std::size_t most)
{
    std::vector<Line> all;
    for (auto& line : preview.lines) all.push_back(Line("    " + line));
    for (auto& hunk : preview.hunks) {
        all.push_back(Line("  " + hunk.head(), faint_style));
        for (auto& line : hunk.lines) all.push_back(diff_line(line));
    }
    if (all.size() > most) {
        auto left = all.size() - most;
        all.resize(most);
        all.push_back(more_lines(left));
    }
    if (!preview.note.empty()) all.push_back(Line("  (" + preview.note + ")", faint_style));
    return all;
}

std::vector<Line> call_lines(const ToolCall& call, const Preview& preview)
{
    std::vector<Line> out;
    bool change = !preview.hunks.empty();
    auto words = change ? "file_path=" + Json(call.arguments.text("file_path")).dump() : arguments_line(call.arguments);
    auto part = utf8_prefix(words, most_of_arguments);
    out.push_back(Line("→ " + call.name + ": ", faint_style).add(part, faint_style).add(part.size() < words.size() ? " …" : "", faint_style));
    if (change)
        for (auto& line : preview_lines(preview, most_of_change)) out.push_back(std::move(line));
    return out;
}

std::vector<Line> result_lines(const Json& envelope)
{
    auto text = excerpt(result_text(envelope));
    std::vector<Line> out;
    for (auto& line : term::tool_lines(without_half_sequence(text), faint_style))
        out.push_back(std::move(Line(out.empty() ? "← " : "  ", faint_style).add(line)));
    return out;
}

std::vector<Line> warning_lines(std::string_view sentence, std::string_view sign)
{
    bool has_one = sentence.starts_with("⚠") || sentence.starts_with("✗");
    auto text = has_one || sign.empty() ? std::string(sentence) : std::string(sign) + " " + std::string(sentence);
    std::vector<Line> out;
    for (auto line : split(trim(text), '\n')) out.push_back(Line(line, warning_style));
    return out;
}

Line question_line(const Question& question)
{
    Line out(question.outside ? "⚠ Run " + question.preview.subject + " outside of the sandbox?" : "⚠ Allow " + question.preview.subject + "?", {.ink = Ink::warning, .bold = true});
    if (!question.reason.empty()) out.add(" " + question.reason, warning_style);
    return out;
}

Line answers_line(const Question& question)
{
    Line out("  ");
    auto offer = [&](std::string_view key, std::string_view words) {
        out.add(out.text.size() > 2 ? " · " : "", faint_style).add(key, {.ink = Ink::prompt}).add(" ").add(words);
    };
    offer("y", "once");
    if (question.session) offer("s", "this session");
    offer("n", "no");
    offer("w", "no, and why");
    if (!question.always.empty()) offer("a", "always: " + exposed(question.always));   // last, since it may be long
    out.add("  ");
    return out;
}

char answer_of(char key, const Question& question)
{
    auto answer = key >= 'A' && key <= 'Z' ? static_cast<char>(key + 32) : key;
    bool offered = answer == 'y' || answer == 'n' || answer == 'w' || (answer == 's' && question.session) || (answer == 'a' && !question.always.empty());
    return offered ? answer : '\0';
}

std::vector<Line> status_lines(std::span<const Activity> activities, const std::optional<Figures>& figures, std::string_view model_does, Clock::time_point now)
{
    std::vector<Line> out;
    for (auto& activity : activities.first(std::min(activities.size(), most_activities))) {
        auto what = activity.what.empty() ? std::string(model_does) : first_line(activity.what);
        bool first = out.empty();   // what holds for all of them is said there
        auto words = term::fitting(what, 60);
        auto text = std::string(words) + (words.size() < what.size() ? "…" : "") + " · " + time_of(activity, now);
        if (activity.stoppable && first) text += " · Esc to stop";
        if (figures && first) text += figures_text(*figures);
        out.push_back(cut({text, faint_style}));
    }
    if (activities.size() > most_activities)
        out.push_back(cut({"and " + std::to_string(activities.size() - most_activities) + " more", faint_style}));
    return out;
}

std::vector<Line> queue_lines(std::span<const std::string> messages)
{
    std::vector<Line> out;
    auto first = messages.size() - std::min(messages.size(), most_queued);
    if (first) out.push_back(cut({"  " + std::to_string(first) + " more wait", faint_style}));
    for (auto& message : messages.subspan(first)) {
        auto line = first_line(message);
        out.push_back(cut({"› " + line + (line.size() < message.size() ? " …" : ""), faint_style}));
    }
    return out;
}

std::string spoken_time(std::chrono::seconds time)
{
    auto s = time.count();
    if (s < 60) return std::to_string(s) + " s";
    if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
    return std::to_string(s / 3600) + " h " + std::to_string(s % 3600 / 60) + " min";
}

std::string spoken_count(std::int64_t n)
{
    if (n < 1000) return std::to_string(n);
    auto tenths = n < 1'000'000 ? n / 100 : n / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + (n < 1'000'000 ? "k" : "M");
}

}
