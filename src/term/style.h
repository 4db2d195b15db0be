// Style: how text looks, as values; and lines of such text. Knows the escape sequences for colours (ECMA-48 SGR)
// and nothing of where on a screen something stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ik::term {

// What a piece of text is, for the table of colours in style.cc.
enum class Ink : std::uint8_t { plain, faint, warning, error, prompt, heading, code, link, quote, added, removed, keyword, string, comment, number };

// A colour that somebody else chose (a tool).
struct Colour {
    enum Kind : std::uint8_t { none, indexed, rgb } kind = none;
    std::uint8_t red = 0, green = 0, blue = 0;   // indexed: the number is in red

    friend bool operator==(const Colour&, const Colour&) = default;
};

struct Style {
    Ink ink = Ink::plain;
    bool bold = false, dim = false, italic = false, underline = false, strike = false, reverse = false;
    Colour front = {}, back = {};

    friend bool operator==(const Style&, const Style&) = default;
};

// How many colours there are. none: no escape sequence is sent at all.
enum class Depth : std::uint8_t { none, sixteen, many, full };

struct Palette {
    Depth depth = Depth::none;
    bool light = false;   // the background

    friend bool operator==(const Palette&, const Palette&) = default;
};

// From the variables of the environment; each may be empty.
struct Terminal { std::string term, colorterm, no_color, colorfgbg; };
Palette palette_for(const Terminal&);

// The sequence that makes what follows look so, whatever was before.
std::string sgr(const Style&, const Palette&);

// A place in lines: which, and before which of its bytes.
struct Place {
    std::size_t line = 0, byte = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

// One line of text without its end. No runs: it is plain; else they cover it.
struct Line {
    struct Run {
        std::size_t size;   // bytes
        Style style;
        friend bool operator==(const Run&, const Run&) = default;
    };
    std::string text = {};
    std::vector<Run> runs = {};
    bool cut = false;       // at the edge of the screen, instead of being wrapped

    Line() = default;
    Line(std::string_view words, Style style = {}) { add(words, style); }
    Line& add(std::string_view words, Style style = {});
    Line& add(const Line& more);

    // What it is made of, in order: its text in pieces of one style.
    struct Piece { std::string_view text; Style style; };
    std::vector<Piece> pieces() const;

    friend bool operator==(const Line&, const Line&) = default;
};

}
