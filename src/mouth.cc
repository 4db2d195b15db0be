#include "mouth.h"

#include "base/text.h"
#include "screen.h"

namespace ik {
namespace {

constexpr int gray = 242, yellow = 179;

}

std::string excerpt(std::string_view text)
{
    auto said = trim(text);
    if (said.empty())
        return "(no output)";
    auto before = static_cast<std::size_t>(said.data() - text.data());   // the first line keeps its indentation: it may be a column's
    text = text.substr(before == 0 ? 0 : text.rfind('\n', before - 1) + 1);
    text = text.substr(0, static_cast<std::size_t>(said.data() + said.size() - text.data()));
    std::size_t end = 0;
    for (int lines = 0; lines < 3 && end != text.npos; ++lines)
        end = text.find('\n', end ? end + 1 : 0);
    auto part = utf8_prefix(text.substr(0, end), 400);
    return std::string(part) + (part.size() < text.size() ? " …" : "");
}

std::string arguments_line(const Json& arguments)
{
    std::string out;
    auto* members = arguments.as<Json::Object>();
    if (!members)
        return arguments.dump();
    for (auto& [name, value] : *members)
        out += (out.empty() ? "" : ", ") + name + "=" + value.dump();
    return out;
}

std::string result_text(const Json& envelope)
{
    auto* result = envelope.find("result");
    const Json& from = result ? *result : envelope;
    for (auto* name : {"error", "output", "content"})
        if (auto* text = from.find(name); text && text->as<std::string>())
            return *text->as<std::string>();
    return from.dump();
}

namespace {

// Bidirectional overrides and isolates: they show one text and mean another.
bool turns_text(std::string_view character)
{
    return (character >= "\u202A" && character <= "\u202E") || (character >= "\u2066" && character <= "\u2069");
}

Json usage_json(const Usage& usage)
{
    return object({{"input_tokens", usage.input}, {"output_tokens", usage.output}, {"cached_tokens", usage.cached}});
}

}

std::string harmless(std::string_view text)
{
    std::string out;
    auto clean = clean_utf8(text);
    for (std::size_t i = 0; i < clean.size(); ++i) {
        auto c = static_cast<unsigned char>(clean[i]);
        auto next = i + 1 < clean.size() ? static_cast<unsigned char>(clean[i + 1]) : 0;
        if (c < 0x20 && c != '\n' && c != '\t') (out += '^') += static_cast<char>(c + 64);
        else if (c == 0x7F) out += "^?";
        else if (c == 0xC2 && next >= 0x80 && next < 0xA0) {   // C1 controls
            out += "\uFFFD";
            ++i;
        } else if (turns_text(std::string_view(clean).substr(i, 3))) {
            out += "\uFFFD";
            i += 2;
        } else out += clean[i];
    }
    return out;
}

std::string Mouth::tinted(int colour, std::string_view text) const
{
    if (!colour_)
        return std::string(text);
    return "\x1b[38;5;" + std::to_string(colour) + "m" + std::string(text) + "\x1b[0m";
}

void Mouth::out(std::string_view bytes)
{
    if (bytes.empty())
        return;
    in_line_ = bytes.back() != '\n';
    if (!lost_ && !write_all(1, bytes))
        lost_ = true;
}

void Mouth::line(const Json& object) { out(object.dump() + "\n"); }

void Mouth::begin_block()
{
    if (in_line_ && !screen_)
        out("\n");
}

void Mouth::say(std::string_view text)
{
    if (screen_) screen_->say(text);
    else out(text);
}

bool Mouth::spoke() const { return screen_ ? screen_->spoke() : spoke_; }
bool Mouth::lost() const { return screen_ ? screen_->lost() : lost_; }

void Mouth::said(std::string_view text)
{
    if (screen_) screen_->said(text);
}

void Mouth::warn(std::string_view sentence)
{
    if (screen_)
        return screen_->warn(sentence);
    if (to_person() && !lost_) {
        begin_block();
        return out(tinted(yellow, harmless(sentence)) + "\n");
    }
    write_all(2, harmless(sentence) + "\n");
}

void Mouth::prompt()
{
    begin_block();
    out("❯ ");
    in_line_ = false;   // what is typed ends the line
}

void Mouth::session(std::string_view id, std::string_view provider, std::string_view model)
{
    if (format_ == Format::stream_json)
        line(object({{"type", "session"}, {"id", id}, {"provider", provider}, {"model", model}}));
}

void Mouth::event(const Event& event)
{
    if (screen_)
        return screen_->event(event);
    if (auto* said = std::get_if<ModelSaid>(&event)) {
        if (format_ == Format::stream_json) line(object({{"type", "text"}, {"text", said->text}}));
        if (format_ == Format::text) out(said->text);
        if (to_person()) {
            if (!spoke_) begin_block();
            out((spoke_ ? "" : "● ") + harmless(said->text));
        }
        spoke_ = true;
    } else if (auto* thought = std::get_if<ModelThought>(&event)) {
        if (format_ == Format::stream_json) line(object({{"type", "thinking"}, {"text", thought->text}}));
    } else if (auto* retried = std::get_if<ModelRetried>(&event)) {
        if (format_ == Format::stream_json) {
            auto said_so = object({{"type", "retry"}, {"attempt", retried->attempt}, {"delay_ms", retried->delay_ms}, {"error", retried->error}});
            if (retried->discard) said_so.set("discard", true);
            line(said_so);
        } else if (retried->discard)
            warn("⚠ connection lost, asking again");
        else
            warn("⚠ " + retried->error + "; asking again in " + std::to_string((retried->delay_ms + 999) / 1000) + " s");
        spoke_ = false;
    } else if (std::holds_alternative<ModelDone>(event) || std::holds_alternative<ModelFailed>(event) || std::holds_alternative<Interrupted>(event))
        spoke_ = false;
}

void Mouth::call(const ToolCall& call)
{
    if (screen_)
        return screen_->call(call);
    if (format_ == Format::stream_json)
        line(object({{"type", "tool_call"}, {"id", call.id}, {"name", call.name}, {"arguments", call.arguments}}));
    if (to_person()) {
        begin_block();
        out(tinted(gray, harmless("→ " + call.name + ": " + arguments_line(call.arguments))) + "\n");
    }
}

void Mouth::result(const ToolCall& call, const Json& envelope, milliseconds duration)
{
    if (screen_)
        return screen_->result(call, envelope, duration);
    if (format_ == Format::stream_json)
        line(object({{"type", "tool_result"}, {"id", call.id}, {"name", call.name}, {"result", envelope}, {"duration_ms", duration.count()}}));
    if (to_person()) {
        begin_block();
        out(tinted(gray, harmless("← " + excerpt(result_text(envelope)))) + "\n");
    }
}

void Mouth::question(const Approval::Question& question, const Preview& preview)
{
    if (screen_)
        return screen_->ask({.preview = preview, .reason = question.reason, .always = question.always, .session = !question.always.empty(), .outside = question.outside});
    begin_block();
    if (!preview.subject.empty()) {
        out(tinted(yellow, "? " + preview.subject + ": " + harmless(question.reason)) + "\n");
        for (auto& line : preview.lines) out("    " + line + "\n");
        out(unified(preview.hunks));
        if (!preview.note.empty()) out(tinted(gray, preview.note) + "\n");
    }
    std::string how = question.outside ? "Run it outside of the sandbox? " : "Allow it? ";
    how += "y once, ";
    if (!question.always.empty()) how += "s this session, a always (" + question.always + "), ";
    out(tinted(yellow, how + "n no, n WHY: ") );
    in_line_ = false;
}

void Mouth::notice(const Json& notice)
{
    if (screen_)
        return screen_->notice(notice);
    if (format_ == Format::stream_json) {
        auto event = object({{"type", "event"}});
        for (auto& [name, value] : *notice.as<Json::Object>())
            event.set(name, value);
        line(event);
    } else
        warn(notice.text("content"));
}

void Mouth::end(const End& end, const Session& session, std::string_view id, std::optional<double> cost)
{
    if (screen_)
        return screen_->end(end);
    if (!end.error.empty()) {
        if (format_ == Format::stream_json)
            line(object({{"type", "error"}, {"error", end.error}, {"error_code", end.error_code}}));
        else if (format_ == Format::text && in_line_)
            out("\n");
        if (format_ != Format::stream_json)
            warn(to_person() ? "✗ " + end.error : "ikigai: " + end.error);
    } else if (to_person() && end.reason == "interrupted")
        warn("✗ cancelled");
    else if (to_person() && end.reason != "end_turn")
        warn("✗ the model stopped: " + end.reason);
    else if (!to_person() && format_ != Format::stream_json && end.reason != "end_turn" && end.reason != "interrupted")
        warn("ikigai: the model stopped: " + end.reason);

    if (format_ == Format::json || format_ == Format::stream_json) {
        auto done = object({{"type", "done"}, {"text", session.answer()}, {"stop_reason", end.reason}, {"turns", session.turns()},
                            {"tool_calls", session.calls()}, {"usage", usage_json(session.usage())}, {"session", id}});
        if (cost) done.set("cost_usd", *cost);
        if (format_ == Format::json && !end.error.empty()) {
            done.set("error", end.error);
            done.set("error_code", end.error_code);
        }
        line(done);
    } else if (in_line_)
        out("\n");
    spoke_ = false;
}

}
