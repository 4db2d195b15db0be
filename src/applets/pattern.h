// pattern: what can be said of a POSIX extended regular expression before it is compiled.
#pragma once

#include "base/result.h"

namespace ik {

// \d and \D outside brackets as the brackets that they stand for.
std::string with_digit_classes(std::string_view pattern);

// Whether glibc's regcomp and regexec survive the pattern, in time, memory and stack.
// Error: INVALID_PATTERN, "Invalid pattern: why".
Status survivable(std::string_view pattern);

// The longest plain text that every match holds; empty where none is known.
std::string plain_text(std::string_view pattern);

// Whether the pattern is nothing but plain text.
bool is_plain(std::string_view pattern);

}
