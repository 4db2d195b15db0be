// Styled text: words and how they are meant. Knows no terminal and no colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ik {

enum class Tone : unsigned char { plain, dim, heading, code, link, quote, keyword, string, comment, number, added, removed, warning, error, prompt };

struct Style {
    Tone tone = Tone::plain;
    bool bold = false, italic = false, strike = false;
    friend bool operator==(const Style&, const Style&) = default;
};

struct Span {
    std::string text;
    Style style = {};
    friend bool operator==(const Span&, const Span&) = default;
};

// One line without its end, however long.
using Line = std::vector<Span>;

// Appends to the last span where that has the same style.
void add(Line&, std::string_view text, Style style = {});
std::string plain(const Line&);

}
