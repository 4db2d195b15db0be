// pattern_token: a POSIX extended regular expression cut into its signs, as glibc reads them.
#pragma once

#include <string_view>

namespace ik {

struct Token {
    enum Kind { plain, escape, bracket, any, anchor, open, close, bar, repeat };
    Kind kind;
    std::string_view text;
};

// The first token of a pattern that is not empty, taken off its front.
Token take_token(std::string_view& pattern);

// How often: at least and at most; what is no interval may be anything.
struct Times { double least, most; bool open; };   // open: without end

Times times(std::string_view token);

}
