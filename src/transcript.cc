#include "transcript.h"

#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

// What a person reads of an event. A style without a word is shown without a heading.
struct Style { std::string_view kind, heading, mark; };
constexpr Style styles[] = {
    {"user", "User", "❯"}, {"assistant", "Assistant", "●"}, {"tool_call", "", "→"}, {"tool_result", "", "←"}, {"command", "", "❯"},
    {"mark", "", "⚑"}, {"compaction", "Summary", "⚠"}, {"config_required", "", "⚠"}, {"interrupted", "", "✗"},
};

const Style* style_of(std::string_view kind)
{
    auto found = std::ranges::find(styles, kind, &Style::kind);
    return found == std::end(styles) ? nullptr : found;
}

ToolCall call_of(const StoredEvent& e)
{
    auto* arguments = e.data.find("arguments");
    return {std::string(e.data.text("id")), std::string(e.data.text("name")), arguments ? *arguments : Json()};
}

const Json& envelope_of(const StoredEvent& e)
{
    auto* envelope = e.data.find("envelope");
    return envelope ? *envelope : e.data;
}

// The text of an event, as long as it is.
std::string text_of(const StoredEvent& e)
{
    if (e.kind == "tool_call") {
        auto call = call_of(e);
        return call.name + " " + call.arguments.dump();
    }
    if (e.kind == "tool_result") {
        auto& envelope = envelope_of(e);
        auto* result = envelope.find("result");
        auto& from = result ? *result : envelope;
        for (auto* name : {"error", "output", "content"})
            if (auto* text = from.find(name); text && text->as<std::string>())
                return *text->as<std::string>();
        return from.dump();
    }
    if (e.kind == "interrupted")
        return e.content.empty() ? "cancelled" : e.content;
    return e.content;
}

std::string escaped(std::string_view text)
{
    std::string out;
    for (char c : harmless(text)) {
        if (c == '&') out += "&amp;";
        else if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '"') out += "&quot;";
        else if (c == '\'') out += "&#39;";
        else out += c;
    }
    return out;
}

// A fence that the text cannot end.
std::string fenced(std::string_view text)
{
    std::size_t longest = 2, run = 0;
    for (char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    std::string fence(longest + 1, '`');
    return fence + "\n" + std::string(text) + (text.ends_with('\n') ? "" : "\n") + fence + "\n\n";
}

std::string facts(const SessionRow& row)
{
    std::string out = row.id;
    for (auto& text : {row.created, row.folder, row.model})
        if (!text.empty()) out += " · " + text;
    return out + (row.tokens ? " · " + std::to_string(row.tokens) + " tokens" : "");
}

std::string title_of(const SessionRow& row) { return row.title.empty() ? "Session " + row.id : row.title; }

constexpr std::string_view page_head = R"(<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; --back: #fff; --text: #222; --dim: #666; --box: #f3f3f3; --warn: #8a6d00; }
@media (prefers-color-scheme: dark) { :root { --back: #1b1b1b; --text: #ddd; --dim: #999; --box: #262626; --warn: #d7af5f; } }
body { background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; }
header p, time { color: var(--dim); font-size: 85%; }
article { margin: 1em 0; } article > p, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
article.user { border-left: 3px solid var(--dim); padding-left: .8em; }
details, pre { background: var(--box); border-radius: 4px; padding: .4em .6em; font-size: 90%; }
summary { color: var(--dim); cursor: pointer; } .interrupted, .config_required, .compaction { color: var(--warn); }
</style>
)";

}

void retell(Mouth& mouth, std::span<const StoredEvent> events)
{
    for (auto& e : events) {
        auto line = [&](std::string_view mark) { mouth.say(std::string(mark) + " " + harmless(e.content) + "\n"); };
        if (e.kind == "user" || e.kind == "command")
            line("❯");
        else if (e.kind == "assistant" && !e.content.empty()) {
            mouth.event(ModelSaid{e.content});
            if (!e.content.ends_with('\n')) mouth.say("\n");
            mouth.event(ModelDone{});
        } else if (e.kind == "tool_call")
            mouth.call(call_of(e));
        else if (e.kind == "tool_result")
            mouth.result({std::string(e.data.text("id")), "", {}}, envelope_of(e), milliseconds(0));
        else if (e.kind == "interrupted")
            mouth.warn("✗ " + text_of(e));
        else if (e.kind == "config_required" || e.kind == "compaction")
            mouth.warn("⚠ " + e.content);
        else if (e.kind == "mark")
            line("⚑");
    }
}

std::string as_lines(std::span<const StoredEvent> events)
{
    std::string out;
    for (auto& e : events)
        (out += line_of(e)) += '\n';
    return out;
}

std::string as_markdown(const SessionRow& row, std::span<const StoredEvent> events)
{
    std::string out = "# " + title_of(row) + "\n\n" + facts(row) + "\n\n", heading;
    for (auto& e : events) {
        auto* style = style_of(e.kind);
        auto text = clean_utf8(text_of(e));
        if (!style || text.empty())
            continue;
        if (!style->heading.empty() && (heading != style->heading || e.kind == "user"))
            out += "## " + (heading = style->heading) + "\n\n";
        if (e.kind == "tool_call" || e.kind == "tool_result")
            out += std::string(style->mark) + "\n\n" + fenced(text);
        else
            out += (style->heading.empty() ? std::string(style->mark) + " " : "") + text + "\n\n";
    }
    return out;
}

std::string as_html(const SessionRow& row, std::span<const StoredEvent> events)
{
    auto title = escaped(title_of(row));
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" + title + "</title>\n" + std::string(page_head)
                    + "<header><h1>" + title + "</h1><p>" + escaped(facts(row)) + "</p></header>\n";
    for (auto& e : events) {
        auto* style = style_of(e.kind);
        auto text = text_of(e);
        if (!style || text.empty())
            continue;
        out += "<article class=\"" + std::string(style->kind) + "\">";
        if (e.kind == "tool_call")
            out += "<pre>→ " + escaped(text) + "</pre>";
        else if (e.kind == "tool_result")
            out += "<details><summary>← " + escaped(utf8_prefix(text.substr(0, text.find('\n')), 120)) + "</summary><pre>" + escaped(text) + "</pre></details>";
        else
            out += "<p>" + std::string(style->mark) + " " + escaped(text) + "</p>";
        out += "</article>\n";
    }
    return out + "</html>\n";
}

}
