#include "applets/match.h"

#include "applets/pattern.h"

#include <cstring>

namespace ik {
namespace {

// Where a scan would stop more often than this, the automaton is quicker alone.
constexpr double common = 0.01;
constexpr std::size_t longest_needle = 32;

Needle needle_of(std::string_view text)
{
    Needle out(text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
        out[i][static_cast<unsigned char>(text[i])] = true;
    return out;
}

}

Result<Matcher> Matcher::compile(std::string_view pattern, Width width)
{
    Matcher out;
    if (is_plain(pattern)) {
        out.plain_ = pattern;
        out.scan_.emplace(std::vector<Needle>{needle_of(pattern.substr(0, longest_needle))}, width);
        out.scan_is_enough_ = pattern.size() <= longest_needle && pattern.find('\n') == pattern.npos;
        return out;
    }
    auto expression = for_regcomp(pattern);
    if (auto usable = survivable(expression); !usable)
        return usable.error();
    auto regex = Regex::compile(expression);
    if (!regex)
        return regex.error();
    out.regex_ = *std::move(regex);
    if (auto tree = take_apart(expression))
        out.plan(*tree, width);
    return out;
}

void Matcher::plan(const PatternTree& tree, Width width)
{
    auto needles = needles_of(tree);
    if (needles && (needles->share < common || needles->whole)) {
        scan_.emplace(needles->any_of, width);
        scan_is_enough_ = needles->whole;
    }
    if (!scan_is_enough_)
        automaton_ = Automaton::build(tree);
}

bool Matcher::judged(std::string_view line)
{
    return regex_ ? regex_.matches(line) : line.find(plain_) != line.npos;
}

bool Matcher::matches(std::string_view line)
{
    if (scan_ && scan_->find(line) == line.npos)
        return false;
    if (scan_is_enough_)
        return true;
    if (automaton_ && !automaton_->accepts(line) && !automaton_->exhausted())
        return false;
    return judged(line);
}

// A place in the first line behind from that may match, or its end.
std::size_t Matcher::candidate(std::string_view text, std::size_t from)
{
    if (scan_)
        return scan_->find(text, from);
    if (!automaton_ || automaton_->exhausted())
        return from;
    auto found = automaton_->find(text.substr(from));
    if (automaton_->exhausted())
        return from;
    return found == text.npos ? found : from + found;
}

std::optional<std::string_view> Matcher::first(std::string_view text)
{
    for (std::size_t from = 0; from < text.size();) {
        auto at = candidate(text, from);
        if (at == text.npos)
            return {};
        auto* before = static_cast<const char*>(memrchr(text.data() + from, '\n', at - from));
        auto start = before ? static_cast<std::size_t>(before - text.data()) + 1 : from;
        auto* newline = static_cast<const char*>(std::memchr(text.data() + at, '\n', text.size() - at));
        auto end = newline ? static_cast<std::size_t>(newline - text.data()) : text.size();
        auto line = text.substr(start, end - start);
        if (scan_is_enough_ || ((!scan_ || !automaton_ || automaton_->accepts(line) || automaton_->exhausted()) && judged(line)))
            return line;
        from = end + 1;
    }
    return {};
}

}
