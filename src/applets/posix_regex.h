// Regex: one expression compiled by glibc's regcomp, the judge of what a line matches.
#pragma once

#include "base/result.h"

#include <regex.h>
#include <string_view>
#include <utility>

namespace ik {

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

}
