#include "applets/match.h"

#include "applets/pattern.h"

#include <algorithm>
#include <cstring>

namespace ik {

Regex::~Regex()
{
    if (compiled_)
        regfree(&value_);
}

Result<Regex> Regex::compile(const std::string& pattern)
{
    Regex out;
    int failed = regcomp(&out.value_, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    out.compiled_ = !failed;
    if (!failed)
        return out;
    char why[256];
    regerror(failed, &out.value_, why, sizeof why);
    return Error{code::invalid_pattern, "Invalid pattern: " + std::string(why)};
}

bool Regex::matches(std::string_view text) const
{
    regmatch_t bounds{0, static_cast<regoff_t>(text.size())};
    return regexec(&value_, text.data() ? text.data() : "", 0, &bounds, REG_STARTEND) == 0;
}

Result<Matcher> Matcher::compile(std::string_view pattern)
{
    Matcher out;
    if (is_plain(pattern)) {
        out.needle_ = pattern;
        return out;
    }
    auto expression = with_digit_classes(pattern);
    if (auto usable = survivable(expression); !usable)
        return usable.error();
    auto regex = Regex::compile(expression);
    if (!regex)
        return regex.error();
    out.regex_ = *std::move(regex);
    out.needle_ = plain_text(expression);
    return out;
}

bool Matcher::matches(std::string_view line) const
{
    return line.find(needle_) != line.npos && (!regex_ || regex_.matches(line));
}

std::optional<std::string_view> Matcher::first(std::string_view text) const
{
    while (!text.empty()) {
        std::size_t start = 0;
        if (!needle_.empty()) {
            auto* found = memmem(text.data(), text.size(), needle_.data(), needle_.size());
            if (!found)
                return {};
            auto at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
            start = text.rfind('\n', at) + 1;   // npos + 1 is 0
        }
        auto* newline = static_cast<const char*>(std::memchr(text.data() + start, '\n', text.size() - start));
        auto end = newline ? static_cast<std::size_t>(newline - text.data()) : text.size();
        auto line = text.substr(start, end - start);
        // A needle with a newline in it is in no line.
        if (matches(line))
            return line;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

}
