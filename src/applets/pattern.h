// pattern: what can be said of a POSIX extended regular expression before it is compiled.
#pragma once

#include "base/result.h"

namespace ik {

// The pattern as regcomp takes it: \d and \D outside brackets are the brackets that they stand for, and a repetition
// of a repetition is one, which says the same and costs less: a*** is a*.
std::string for_regcomp(std::string_view pattern);

// Whether glibc's regcomp and regexec survive the pattern, in time, memory and stack.
// Error: INVALID_PATTERN, "Invalid pattern: why".
Status survivable(std::string_view pattern);

// Whether the pattern is nothing but plain text.
bool is_plain(std::string_view pattern);

}
