// A pattern, then lines: what is found line by line is what the whole search finds.
#include "fuzz/fuzz.h"

#include "applets/match.h"
#include "applets/pattern.h"
#include "base/text.h"

namespace ik::fuzz {

void regex(std::string_view bytes)
{
    auto pattern = take(bytes);
    if (pattern.size() > 200 || bytes.size() > 300)   // glibc's matcher is not linear
        return;
    std::string text(bytes);   // with a NUL behind it: the sanitizer's regexec looks for one
    bytes = text;
    auto lines = split(bytes, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();   // lines end with a newline
    for (auto width : {Width::one, Width::ssse3, Width::avx2}) {
        auto matcher = Matcher::compile(pattern, width);
        if (!matcher)
            return;
        auto judge = is_plain(pattern) ? Regex() : *Regex::compile(for_regcomp(pattern));
        auto first = matcher->first(bytes);
        std::string_view expected;
        bool found = false;
        for (auto line : lines) {
            bool matches = judge ? judge.matches(line) : line.find(pattern) != line.npos;
            claim(matcher->matches(line) == matches, "a line matches when glibc says so");
            if (!found && matches) expected = line, found = true;
        }
        claim(first.has_value() == found, "a match is found where there is one");
        claim(!found || *first == expected, "and it is the first");
    }
}

}
