// Matcher: the lines that a POSIX extended regular expression matches, as glibc's regexec says it line by line in the
// C locale, but sooner: lines that cannot match are passed over without asking it. Knows bytes, not files.
#pragma once

#include "applets/automaton.h"
#include "applets/posix_regex.h"
#include "applets/scan.h"

namespace ik {

class Matcher {
public:
    // \d and \D outside brackets are digits and what is none. Error: INVALID_PATTERN, "Invalid pattern: why", also
    // for what glibc would crash on or take gigabytes for.
    static Result<Matcher> compile(std::string_view pattern, Width = widest());

    // Both learn while they read: one thread has a matcher of its own.
    bool matches(std::string_view line);

    // The first line of text that matches, without its newline. Lines of text end with a newline, or with the text.
    std::optional<std::string_view> first(std::string_view text);

private:
    Matcher() = default;
    void plan(const PatternTree&, Width);
    std::size_t candidate(std::string_view text, std::size_t from);
    bool judged(std::string_view line);

    Regex regex_;                          // none where the pattern is nothing but plain text
    std::string plain_;                    // which is this
    std::optional<Scan> scan_;             // for what every match holds
    std::optional<Automaton> automaton_;
    bool scan_is_enough_ = false;          // what it finds is a match
};

}
