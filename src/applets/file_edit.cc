// file_edit: one text for another in a file, byte for byte, in little memory.
#include "applets/applet.h"

#include "base/file.h"
#include "base/replacement.h"
#include "base/text.h"

#include <cstring>
#include <unistd.h>

namespace ik {
namespace {

struct Args {
    std::string file_path, old_string, new_string;
    bool replace_all = false;
};

constexpr Param<Args> params[] = {
    {"file_path", &Args::file_path, "Absolute or relative path to file"},
    {"old_string", &Args::old_string, "Exact text to find and replace", true},
    {"new_string", &Args::new_string, "Text to replace old_string with", true},
    {"replace_all", &Args::replace_all, "Replace all occurrences (default: false, fails if not unique)"},
};

constexpr Example examples[] = {
    {"One line for another", R"({"file_path":"abc.txt","old_string":"b\n","new_string":"x\n"})", R"({"output":"Replaced 1 occurrence in abc.txt","replacements":1})"},
    {"Every line end", R"({"file_path":"abc.txt","old_string":"\n","new_string":";","replace_all":true})", R"({"output":"Replaced 3 occurrences in abc.txt","replacements":3})"},
};

constexpr std::size_t chunk_size = 1 << 18;

struct Source {
    Fd fd;
    const std::string& path;

    Status rewind() const
    {
        if (lseek(fd.get(), 0, SEEK_SET) < 0)
            return file_error(Doing::reading, path);
        return Done{};
    }
};

// Changes bytes in place before they are searched; the number of bytes that are left.
using Filter = std::size_t (*)(char* bytes, std::size_t size);

std::size_t as_it_is(char*, std::size_t size) { return size; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::size_t without_blanks(char* bytes, std::size_t size) { return static_cast<std::size_t>(std::remove_if(bytes, bytes + size, is_blank) - bytes); }

std::size_t in_lower_case(char* bytes, std::size_t size)
{
    std::transform(bytes, bytes + size, bytes, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return size;
}

std::string filtered(std::string text, Filter filter)
{
    text.resize(filter(text.data(), text.size()));
    return text;
}

std::size_t find(std::string_view text, std::string_view needle)
{
    auto* at = static_cast<const char*>(memmem(text.data(), text.size(), needle.data(), needle.size()));
    return at ? static_cast<std::size_t>(at - text.data()) : text.npos;
}

// Reads the whole file through a window: between(bytes) for what is not part of a match, in pieces,
// match() for each occurrence, from the left and not overlapping. Both return a Status.
template <class Between, class Match>
Status scan(const Source& file, std::string_view needle, Filter filter, Between between, Match match)
{
    if (auto ready = file.rewind(); !ready)
        return ready;
    std::vector<char> window(std::max(chunk_size, 2 * needle.size()));
    std::size_t held = 0;   // bytes at the window's start in which a match may have begun
    for (;;) {
        auto size = read_file(file.fd, file.path, window.data() + held, window.size() - held);
        if (!size)
            return size.error();
        std::string_view text(window.data(), held + filter(window.data() + held, *size));
        for (auto at = find(text, needle); at != text.npos; at = find(text, needle)) {
            if (auto done = between(text.substr(0, at)); !done)
                return done;
            if (auto done = match(); !done)
                return done;
            text.remove_prefix(at + needle.size());
        }
        held = *size == 0 ? 0 : std::min(text.size(), needle.size() - 1);
        if (auto done = between(text.substr(0, text.size() - held)); !done)
            return done;
        if (*size == 0)
            return Done{};
        std::memmove(window.data(), text.data() + text.size() - held, held);
    }
}

Result<std::int64_t> occurrences(const Source& file, std::string_view needle)
{
    std::int64_t count = 0;
    auto between = [](std::string_view) -> Status { return Done{}; };
    auto match = [&]() -> Status { ++count; return Done{}; };
    if (auto done = scan(file, needle, as_it_is, between, match); !done)
        return done.error();
    return count;
}

// The line where needle is first.
std::optional<std::int64_t> line_of(const Source& file, std::string_view needle, Filter filter)
{
    std::int64_t line = 1;
    bool found = false;
    auto between = [&](std::string_view bytes) -> Status {
        if (!found)
            line += std::ranges::count(bytes, '\n');
        return Done{};
    };
    auto match = [&]() -> Status { found = true; return Done{}; };
    if (!scan(file, needle, filter, between, match) || !found)
        return {};
    return line;
}

// ---- Why a text was not found

std::string with_crlf(std::string_view text)
{
    std::string out;
    for (char c : text) {
        if (c == '\n' && !out.ends_with('\r'))
            out += '\r';
        out += c;
    }
    return out;
}

// The file from the start of a line on, at most size bytes.
std::string text_from_line(const Source& file, std::int64_t line, std::size_t size)
{
    if (!file.rewind())
        return {};
    std::vector<char> chunk(chunk_size);
    std::string out;
    while (out.size() < size) {
        auto n = read_file(file.fd, file.path, chunk.data(), chunk.size());
        if (!n || *n == 0)
            return out;
        std::string_view bytes(chunk.data(), *n);
        for (; line > 1 && !bytes.empty(); --line) {
            auto end = bytes.find('\n');
            if (end == bytes.npos) {
                bytes = {};
                break;
            }
            bytes.remove_prefix(end + 1);
        }
        out += bytes.substr(0, size - out.size());
    }
    return out;
}

// A text without its blanks, and where each of its bytes was.
struct Stripped {
    std::string text;
    std::vector<std::size_t> at;

    explicit Stripped(std::string_view from)
    {
        for (std::size_t i = 0; i < from.size(); ++i)
            if (!is_blank(from[i])) {
                text += from[i];
                at.push_back(i);
            }
    }
};

// The blanks before and after one byte; the end of from counts as one.
std::string_view blanks_before(std::string_view from, std::size_t at)
{
    auto start = at;
    while (start > 0 && is_blank(from[start - 1]))
        --start;
    return from.substr(start, at - start);
}

std::string_view blanks_after(std::string_view from, std::size_t at)
{
    auto end = at;
    while (end < from.size() && is_blank(from[end]))
        ++end;
    return from.substr(at, end - at);
}

std::string kind_of_difference(std::string_view there, std::string_view asked, bool at_start, bool at_end)
{
    auto has = [](std::string_view text, char c) { return text.find(c) != text.npos; };
    if (has(there, '\r') != has(asked, '\r')) return has(there, '\r') ? " (a carriage return)" : " (no carriage return)";
    if (has(there, '\t') && has(asked, ' ') && !has(asked, '\t')) return " (tabs for spaces)";
    if (has(there, ' ') && has(asked, '\t') && !has(there, '\t')) return " (spaces for tabs)";
    if (at_end) return " (at its end)";
    if (at_start) return " (its indentation)";
    return "";
}

// The first line where text, which holds old but for its blanks, has others than old.
std::string difference(std::string_view text, std::string_view old, std::int64_t line)
{
    Stripped there(text), asked(old);
    auto first = find(there.text, asked.text);
    if (first == std::string_view::npos)
        return {};
    line += std::count(there.text.begin(), there.text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
    auto say = [&](std::string_view a, std::string_view b, bool at_start, bool at_end) {
        return "line " + std::to_string(line) + " differs only in white space" + kind_of_difference(a, b, at_start, at_end);
    };
    for (std::size_t i = 0; i < asked.text.size(); ++i) {
        auto at = there.at[first + i];
        auto a = blanks_before(text, at), b = blanks_before(old, asked.at[i]);
        bool at_start = at == a.size() || text[at - a.size() - 1] == '\n';
        if (i == 0 ? !a.ends_with(b) : a != b)
            return say(a, b, at_start, asked.text[i] == '\n');
        line += asked.text[i] == '\n';
    }
    auto at = there.at[first + asked.text.size() - 1] + 1;
    auto a = blanks_after(text, at), b = blanks_after(old, asked.at.back() + 1);
    if (a.starts_with(b))
        return {};   // the file is another one by now
    return say(a, b, text[at - 1] == '\n', at + a.size() == text.size() || text[at + a.size()] == '\n');
}

std::string white_space_hint(const Source& file, const std::string& old)
{
    auto needle = filtered(old, without_blanks);
    if (trim(needle).empty())
        return {};
    auto line = line_of(file, needle, without_blanks);
    if (!line)
        return {};
    return difference(text_from_line(file, *line, 4 * old.size() + (1 << 20)), old, *line);
}

std::string case_hint(const Source& file, const std::string& old)
{
    auto line = line_of(file, filtered(old, in_lower_case), in_lower_case);
    return line ? "found with a different case at line " + std::to_string(*line) : "";
}

std::string why_not_found(const Source& file, const std::string& old)
{
    if (auto crlf = with_crlf(old); crlf != old)
        if (auto times = occurrences(file, crlf); times && *times)
            return "the file has CRLF line ends";
    auto hint = white_space_hint(file, old);
    return hint.empty() ? case_hint(file, old) : hint;
}

// ---- The edit

Status replace(const Source& file, const Args& args, const Stamp& stamp)
{
    auto fresh = Replacement::begin(args.file_path);
    if (!fresh)
        return fresh.error();
    fresh->only_if(stamp);
    auto copied = scan(file, args.old_string, as_it_is,
                       [&](std::string_view bytes) { return fresh->append(bytes); },
                       [&] { return fresh->append(args.new_string); });
    return copied ? fresh->commit() : copied;
}

Status run(const Args& args, Answer& answer)
{
    if (args.old_string.empty())
        return Error{code::invalid_arg, "old_string cannot be empty"};
    if (args.old_string == args.new_string)
        return Error{code::invalid_arg, "old_string and new_string are identical"};
    auto fd = open_file(args.file_path);
    if (!fd)
        return fd.error();

    Source file{std::move(*fd), args.file_path};
    auto stamp = stamp_of(file.fd);
    auto found = occurrences(file, args.old_string);
    if (!found)
        return found.error();
    auto count = *found;
    if (!args.replace_all && count == 0)
        return Error{code::not_found, "String not found in file", why_not_found(file, args.old_string)};
    if (!args.replace_all && count > 1)
        return Error{code::not_unique, "String found " + std::to_string(count) + " times, use replace_all to replace all"};
    if (count > 0)
        if (auto done = replace(file, args, stamp); !done)
            return done;
    answer.member("output", "Replaced " + std::to_string(count) + (count == 1 ? " occurrence in " : " occurrences in ") + base_name(args.file_path));
    answer.member("replacements", count);
    return Done{};
}

}

constinit const Applet applets::file_edit = applet<Args, params, run>({
    .name = "file_edit",
    .summary = "Edit a file by replacing exact text matches. You must read the file before editing.",
    .details = "The text is compared byte for byte, and every other byte of the file stays as it is.\n"
               "Matches are counted from the start and do not overlap.\n"
               "That the file was read before is advice and is not checked.\n"
               ".Pp\n"
               "Without\n.Va replace_all\nthere must be exactly one match.\n"
               "With it, any number will do; where there is none, the file is not touched.\n"
               "Where nothing was found, the answer's\n.Va hint\nsays why, if that can be told:\n"
               "other line ends, other white space, another case.\n"
               ".Pp\n"
               "The file is replaced safely, as\n.Xr ikigai-file-write 1\ndescribes, with its exception for what must be overwritten in place.\n"
               "A file that somebody else changes at the same time is left to them.",
    .errors = ".It Dv FILE_NOT_FOUND\nThere is no such file.\n"
              ".It Dv PERMISSION_DENIED\nThe file may not be read or written.\n"
              ".It Dv NOT_FOUND\nThe text is not in the file.\n"
              ".It Dv NOT_UNIQUE\nThe text is in the file several times.\n"
              ".It Dv OPEN_FAILED\nThe file cannot be opened for another reason.\n"
              ".It Dv READ_FAILED\nReading failed, or this is no regular file.\n"
              ".It Dv NO_SPACE\nThe device is full, or the user's part of it.\n"
              ".It Dv WRITE_FAILED\nWriting failed for another reason,\n"
              "or the file was changed by somebody else between reading and replacing.\n",
    .examples = examples,
});

}
