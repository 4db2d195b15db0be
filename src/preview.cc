#include "preview.h"

#include "base/file.h"
#include "base/text.h"

namespace ik {
namespace {

constexpr std::size_t longest = 1 << 20;

// One line: a newline in it would begin another.
std::string one_line(std::string_view text)
{
    std::string out;
    for (char c : exposed(text)) c == '\n' ? void(out += "^J") : c == '\t' ? void(out += "^I") : void(out += c);
    return out;
}

void add_lines(Preview& out, std::string_view text)
{
    for (auto line : split(text, '\n')) out.lines.push_back(exposed(line));
}

struct Content {
    std::string text;
    std::string note;     // why there is none
    bool there = true;
};

Content content_of(const std::string& path)
{
    auto file = open_file(path);
    if (!file)
        return {"", file.error().code == code::file_not_found ? "" : file.error().message, file.error().code != code::file_not_found};
    auto text = read_up_to(*file, path, longest + 1);
    if (!text) return {"", text.error().message, true};
    Content out{std::move(*text), "", true};
    auto size = out.text.size();
    if (size > longest)
        out.note = "the file is larger than 1 MB (" + std::to_string(stamp_of(*file).size) + " bytes): its change is not shown";
    else if (out.text.find('\0') != std::string::npos)
        out.note = "the file is no text (" + std::to_string(size) + " bytes): its change is not shown";
    return out;
}

void show_change(Preview& out, std::string_view before, std::string_view after)
{
    if (after.size() > longest || after.find('\0') != after.npos) {
        out.note = (after.size() > longest ? "the new content is larger than 1 MB (" : "the new content is no text (") + std::to_string(after.size()) + " bytes)";
        return;
    }
    out.hunks = diff(before, after);
    for (auto& hunk : out.hunks)
        for (auto& line : hunk.lines) line.text = exposed(line.text);
    if (out.hunks.empty() && out.note.empty())
        out.note = "nothing changes";
}

Preview of_write(const ToolCall& call, Preview out)
{
    auto path = std::string(call.arguments.text("file_path"));
    auto now = content_of(path);
    out.note = now.note;
    if (!now.there) out.note = "a new file";
    if (!now.note.empty()) {
        add_lines(out, call.arguments.text("content"));
        return out;
    }
    show_change(out, now.text, call.arguments.text("content"));
    return out;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to, bool all)
{
    std::string out;
    for (std::size_t at = 0;;) {
        auto next = text.find(from, at);
        out += text.substr(at, next - at);
        if (next == text.npos || out.size() > 2 * longest)
            return out;
        out += to;
        at = next + from.size();
        if (!all)
            return out += text.substr(at);
    }
}

// Where the edit cannot be made, what it would put for what: the tool will say that it failed.
Preview of_edit(const ToolCall& call, Preview out)
{
    auto before = call.arguments.text("old_string"), after = call.arguments.text("new_string");
    auto now = content_of(std::string(call.arguments.text("file_path")));
    auto* all = call.arguments.find("replace_all");
    out.note = now.there ? now.note : "there is no such file";
    if (out.note.empty() && (before.empty() || now.text.find(before) == std::string::npos))
        out.note = "the file does not have the text that is to be replaced";
    if (!out.note.empty())
        show_change(out, before, after);
    else
        show_change(out, now.text, replaced(now.text, before, after, all && *all == Json(true)));
    return out;
}

}

Preview preview_of(const ToolCall& call)
{
    Preview out{.subject = one_line(call.name), .lines = {}, .hunks = {}, .note = ""};
    auto* members = call.arguments.as<Json::Object>();
    auto is_text = [&](const char* name) { return members && call.arguments.find(name) && call.arguments.find(name)->as<std::string>(); };
    if (call.name == "bash" && is_text("command")) {
        add_lines(out, call.arguments.text("command"));
        return out;
    }
    bool write = call.name == "file_write" && is_text("content"), edit = call.name == "file_edit" && is_text("old_string") && is_text("new_string");
    if ((write || edit) && is_text("file_path")) {
        out.subject += " " + one_line(call.arguments.text("file_path"));
        return write ? of_write(call, std::move(out)) : of_edit(call, std::move(out));
    }
    add_lines(out, call.arguments.dump());
    return out;
}

}
