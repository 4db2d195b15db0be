// HTML scan: a page made small and harmless for the parser, tag by tag, without a tree.
#pragma once

#include <string>
#include <string_view>

namespace ik::html {

// The same page to a reader: without comments, scripts, white space between blocks, and attributes that change
// nothing in the text. Elements nested deeper than the limits lose their tags and keep their text: a parser that looks through
// its open elements at every tag, as HTML demands, takes quadratic time otherwise. Linear itself, on any bytes.
std::string tame(std::string_view page);

inline constexpr std::size_t max_open_elements = 300;
inline constexpr std::size_t max_open_formatting = 60;

}
