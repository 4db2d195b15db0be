// The table of languages that code is highlighted in.
#pragma once

#include <span>
#include <string_view>

namespace ik::term {

struct Language {
    std::string_view names;             // each between spaces
    std::string_view keywords;          // the same
    std::string_view comments = {};     // what begins a comment that ends with its line, one a word
    std::string_view open = {}, close = {};   // a comment of several lines
    std::string_view quotes = {};       // characters that begin and end a string within a line
    std::string_view long_quotes = {};  // what begins and ends a string of several lines, one a word
    bool any_case = false;              // of the keywords
    char key_end = 0;                   // a word at the start of a line with this behind it is a keyword
    bool first_is_keyword = false;      // the first word of a line is
};

std::span<const Language> languages();

}
