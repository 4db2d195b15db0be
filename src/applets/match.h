// Matcher: the lines that a POSIX extended regular expression matches, as glibc's regexec says it line by
// line in the C locale, but sooner where the pattern holds plain text. Knows bytes, not files.
#pragma once

#include "base/result.h"

#include <optional>
#include <regex.h>

namespace ik {

// One compiled expression and its end.
class Regex {
public:
    Regex() = default;
    Regex(Regex&& other) noexcept : value_(other.value_), compiled_(std::exchange(other.compiled_, false)) {}
    Regex& operator=(Regex&& other) noexcept { std::swap(value_, other.value_); std::swap(compiled_, other.compiled_); return *this; }
    ~Regex();

    // The Error has regerror's text.
    static Result<Regex> compile(const std::string& pattern);
    bool matches(std::string_view text) const;   // NUL is a byte like others
    explicit operator bool() const { return compiled_; }

private:
    regex_t value_ = {};
    bool compiled_ = false;
};

class Matcher {
public:
    // \d and \D outside brackets are digits and what is none. Error: INVALID_PATTERN, "Invalid pattern: why", also
    // for what glibc would crash on or take gigabytes for.
    static Result<Matcher> compile(std::string_view pattern);

    bool matches(std::string_view line) const;

    // The first line of text that matches, without its newline. Lines of text end with a newline, or with the text.
    std::optional<std::string_view> first(std::string_view text) const;

private:
    Matcher() = default;

    Regex regex_;           // none where the pattern is nothing but plain text
    std::string needle_;    // in every line that matches
};

}
