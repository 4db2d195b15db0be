#include "refusal.h"

#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

constexpr std::string_view words[] = {"ermission denied", "ead-only file system", "EACCES", "EROFS", "PERMISSION_DENIED"};
constexpr std::size_t most_paths = 32, most_line = 4096, most_text = 1 << 20;

// What stands between quotes: touch: cannot touch '/x': …; [Errno 13] Permission denied: '/x'.
void take_quoted(std::string_view line, std::string_view open, std::string_view close, std::vector<std::string>& paths)
{
    for (auto at = line.find(open); at != line.npos;) {
        auto start = at + open.size(), end = line.find(close, start);
        if (end == line.npos)
            return;
        if (end > start)
            paths.emplace_back(line.substr(start, end - start));
        at = line.find(open, end + close.size());
    }
}

bool complains(std::string_view text)
{
    return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

std::vector<std::string_view> parts_of(std::string_view line)
{
    std::vector<std::string_view> out;
    for (std::size_t at = 0;;) {
        auto end = line.find(": ", at);
        out.push_back(trim(line.substr(at, end == line.npos ? line.npos : end - at)));
        if (end == line.npos)
            return out;
        at = end + 2;
    }
}

// /bin/sh: 1: cannot create /etc/x: Permission denied; tar: x: Cannot open: Permission denied; Permission denied: /x.
// The nearest to the complaint counts most. The first of three is the program.
void take_parts(std::string_view line, std::vector<std::string>& paths)
{
    auto parts = parts_of(line);
    auto complaint = static_cast<std::size_t>(std::ranges::find_if(parts, complains) - parts.begin());
    auto take = [&](std::string_view part) {
        constexpr std::string_view before[] = {"cannot create ", "can't create ", "cannot open ", "can't open "};
        for (auto words_before : before)
            if (part.starts_with(words_before)) part.remove_prefix(words_before.size());
        auto blank = part.rfind(' ');
        auto last = blank == part.npos ? part : part.substr(blank + 1);
        if (last.find_first_of("/.") != last.npos || blank == part.npos)
            paths.emplace_back(last);
        if (part != last && part.find('/') != part.npos)
            paths.emplace_back(part);
    };
    for (auto i = complaint; i-- > (complaint >= 2 ? 1 : 0);) take(parts[i]);
    if (complaint + 1 < parts.size()) take(parts[complaint + 1]);
}

}

std::vector<std::string> refused_paths(std::string_view text)
{
    std::vector<std::string> paths;
    text = text.substr(0, most_text);
    if (!complains(text))
        return paths;   // mostly
    for (auto line : split(text, '\n')) {
        if (line.size() > most_line || !complains(line))
            continue;
        take_quoted(line, "'", "'", paths);
        take_quoted(line, "\"", "\"", paths);
        take_quoted(line, "‘", "’", paths);
        take_parts(line, paths);
        if (paths.size() >= most_paths)
            break;
    }
    paths.resize(std::min(paths.size(), most_paths));
    return paths;
}

}
