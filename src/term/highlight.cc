#include "term/highlight.h"

#include "term/languages.h"

#include <algorithm>
#include <cctype>

namespace ik::term {
namespace {

std::string lower(std::string_view text)
{
    std::string out(text);
    for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

bool lists(std::string_view words, std::string_view word) { return words.find(" " + std::string(word) + " ") != words.npos; }

// The words of a row, one after the other.
std::string_view take_word(std::string_view& words)
{
    auto end = std::min(words.find(' '), words.size());
    auto word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    return word;
}

// The one of words that text begins with.
std::string_view begun(std::string_view text, std::string_view words)
{
    while (!words.empty())
        if (auto word = take_word(words); text.starts_with(word))
            return word;
    return {};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

std::size_t word_size(std::string_view text, std::string_view more)
{
    std::size_t size = 0;
    while (size < text.size() && (is_word(text[size]) || more.find(text[size]) != more.npos)) ++size;
    return size;
}

// In a shell, and in files of settings, # begins a comment only where a word could.
bool may_begin(std::string_view line, std::size_t at, std::string_view comment)
{
    return comment.size() > 1 || at == 0 || is_space(line[at - 1]);
}

}

const Language* language_named(std::string_view name)
{
    auto wanted = lower(name);
    auto all = languages();
    auto row = std::ranges::find_if(all, [&](auto& language) { return !wanted.empty() && lists(language.names, wanted); });
    return row == all.end() ? nullptr : &*row;
}

Line Highlighter::diff(std::string_view line) const
{
    auto ink = line.starts_with("@@") ? Ink::keyword : line.starts_with("+") ? Ink::added : line.starts_with("-") ? Ink::removed : Ink::plain;
    return Line(line, {.ink = ink});
}

// A string from its quote to its end, or to that of the line. Returns where it goes on.
std::size_t Highlighter::quoted(std::string_view line, std::size_t at, std::string_view quote, Line& out)
{
    auto end = at + quote.size();
    while (end < line.size() && !line.substr(end).starts_with(quote))
        end += line[end] == '\\' ? 2 : 1;
    end = std::min(end + quote.size(), line.size());
    out.add(line.substr(at, end - at), {.ink = Ink::string});
    return end;
}

std::size_t Highlighter::step(std::string_view line, std::size_t at, Line& out)
{
    auto rest = line.substr(at);
    auto& language = *language_;
    auto enter = [&](std::string_view begin, std::string_view until, Ink ink) {
        out.add(begin, {.ink = ink});
        until_ = until;
        inside_ = ink;
        return at + begin.size();
    };
    if (auto comment = begun(rest, language.comments); !comment.empty() && may_begin(line, at, comment)) {
        out.add(rest, {.ink = Ink::comment});
        return line.size();
    }
    if (!language.open.empty() && rest.starts_with(language.open))
        return enter(language.open, language.close, Ink::comment);
    if (auto quote = begun(rest, language.long_quotes); !quote.empty())
        return enter(quote, quote, Ink::string);
    if (language.quotes.find(rest[0]) != language.quotes.npos)
        return quoted(line, at, rest.substr(0, 1), out);
    bool at_start = line.find_first_not_of(" \t-") == at;
    auto size = word_size(rest, at_start && language.key_end ? "-." : "#");
    if (size == 0) {
        out.add(rest.substr(0, 1));
        return at + 1;
    }
    auto word = rest.substr(0, size);
    auto behind = rest.find_first_not_of(" \t", size);
    bool is_key = at_start && language.key_end && behind != rest.npos && rest[behind] == language.key_end;
    bool keyword = is_key || (at_start && language.first_is_keyword) || lists(language.keywords, language.any_case ? lower(word) : std::string(word));
    bool number = std::isdigit(static_cast<unsigned char>(word[0]));
    out.add(word, {.ink = keyword ? Ink::keyword : number ? Ink::number : Ink::plain});
    return at + size;
}

Line Highlighter::line(std::string_view line)
{
    Line out;
    if (!language_)
        return Line(line);
    if (lists(language_->names, "diff"))
        return diff(line);
    for (std::size_t at = 0; at < line.size();) {
        if (until_.empty()) {
            at = step(line, at, out);
            continue;
        }
        auto end = line.find(until_, at);
        auto size = end == line.npos ? line.size() - at : end + until_.size() - at;
        out.add(line.substr(at, size), {.ink = inside_});
        at += size;
        if (end != line.npos)
            until_ = {};
    }
    return out;
}

}
