#include "term/style.h"

#include <cstdlib>

namespace ik::term {
namespace {

// The colours of an ink: of 16 (30 to 37, 90 to 97; 0 for none) and of 256, on a dark and on a light background.
struct Inked {
    Ink ink;
    int sixteen, sixteen_light, many, many_light;
    std::string_view more;   // other attributes, for all depths
};
constexpr Inked inks[] = {
    {Ink::plain, 0, 0, 0, 0, ""},
    {Ink::faint, 90, 90, 242, 244, ""},
    {Ink::warning, 33, 33, 179, 136, ""},
    {Ink::error, 31, 31, 167, 124, ""},
    {Ink::prompt, 36, 34, 73, 25, ";1"},
    {Ink::heading, 36, 34, 110, 25, ";1"},
    {Ink::code, 33, 35, 180, 94, ""},
    {Ink::link, 34, 34, 75, 25, ";4"},
    {Ink::quote, 90, 90, 246, 240, ";3"},
    {Ink::added, 32, 32, 108, 28, ""},
    {Ink::removed, 31, 31, 167, 124, ""},
    {Ink::keyword, 35, 35, 140, 90, ""},
    {Ink::string, 32, 32, 108, 28, ""},
    {Ink::comment, 90, 90, 242, 244, ""},
    {Ink::number, 33, 34, 173, 130, ""},
};

const Inked& inked(Ink ink)
{
    for (auto& row : inks)
        if (row.ink == ink)
            return row;
    return inks[0];
}

std::string number(int n) { return std::to_string(n); }

// The nearest of 8 colours, brighter where one part is strong.
int nearest_of_sixteen(int red, int green, int blue, int base)
{
    int bits = (red > 100 ? 1 : 0) | (green > 100 ? 2 : 0) | (blue > 100 ? 4 : 0);
    bool bright = red > 190 || green > 190 || blue > 190;
    return base + bits + (bright ? 60 : 0);
}

struct Rgb { int red, green, blue; };
Rgb parts(const Colour& colour)
{
    if (colour.kind == Colour::rgb)
        return {colour.red, colour.green, colour.blue};
    int n = colour.red - 16;
    if (n >= 216)
        return {(n - 216) * 10 + 8, (n - 216) * 10 + 8, (n - 216) * 10 + 8};
    auto level = [](int step) { return step ? step * 40 + 55 : 0; };
    return {level(n / 36), level(n / 6 % 6), level(n % 6)};
}

// base: 30 for the text, 40 for what is behind it.
std::string chosen(const Colour& colour, int base, Depth depth)
{
    if (colour.kind == Colour::none)
        return {};
    if (colour.kind == Colour::indexed && colour.red < 16)
        return ";" + number(base + colour.red % 8 + (colour.red >= 8 ? 60 : 0));
    auto [red, green, blue] = parts(colour);
    if (depth == Depth::sixteen)
        return ";" + number(nearest_of_sixteen(red, green, blue, base));
    if (colour.kind == Colour::indexed)
        return ";" + number(base + 8) + ";5;" + number(colour.red);
    if (depth == Depth::full)
        return ";" + number(base + 8) + ";2;" + number(red) + ";" + number(green) + ";" + number(blue);
    auto step = [](int part) { return part < 48 ? 0 : part < 115 ? 1 : (part - 35) / 40; };
    return ";" + number(base + 8) + ";5;" + number(16 + 36 * step(red) + 6 * step(green) + step(blue));
}

}

Palette palette_for(const Terminal& terminal)
{
    auto has = [&](std::string_view part) { return terminal.term.find(part) != std::string::npos; };
    Palette out;
    if (!terminal.no_color.empty() || terminal.term.empty() || terminal.term == "dumb" || has("-mono") || terminal.term.starts_with("vt"))
        return out;
    out.depth = terminal.colorterm == "truecolor" || terminal.colorterm == "24bit" || has("-direct") ? Depth::full
              : has("256") || has("kitty") || has("alacritty") || has("ghostty") || has("foot") || has("tmux")             ? Depth::many
                                                                                                       : Depth::sixteen;
    // "15;0", "0;default;15": the last number is the background; 7 and 9 to 15 are light (rxvt, konsole).
    auto last = terminal.colorfgbg.substr(terminal.colorfgbg.rfind(';') + 1);
    int background = last.empty() || last.find_first_not_of("0123456789") != std::string::npos ? 0 : std::atoi(last.c_str());
    out.light = background == 7 || (background > 8 && background < 16);
    return out;
}

std::string sgr(const Style& style, const Palette& palette)
{
    if (palette.depth == Depth::none)
        return {};
    if (style == Style{})
        return "\x1b[m";
    auto& ink = inked(style.ink);
    std::string out = "\x1b[0";
    if (style.bold) out += ";1";
    if (style.dim) out += ";2";
    if (style.italic) out += ";3";
    if (style.underline) out += ";4";
    if (style.reverse) out += ";7";
    if (style.strike) out += ";9";
    int few = palette.light ? ink.sixteen_light : ink.sixteen;
    if (palette.depth == Depth::sixteen && few)
        out += ";" + number(few);
    else if (few)
        out += ";38;5;" + number(palette.light ? ink.many_light : ink.many);
    out += ink.more;
    out += chosen(style.front, 30, palette.depth);
    out += chosen(style.back, 40, palette.depth);
    return out + "m";
}

Line& Line::add(std::string_view words, Style style)
{
    if (words.empty())
        return *this;
    bool first_styled = runs.empty() && style != Style{};
    if (first_styled && !text.empty()) runs.push_back({text.size(), {}});
    text += words;
    if (!runs.empty() && runs.back().style == style)
        runs.back().size += words.size();
    else if (!runs.empty() || first_styled)
        runs.push_back({words.size(), style});
    return *this;
}

Line& Line::add(const Line& more)
{
    for (auto& piece : more.pieces()) add(piece.text, piece.style);
    return *this;
}

std::vector<Line::Piece> Line::pieces() const
{
    if (runs.empty())
        return text.empty() ? std::vector<Piece>() : std::vector<Piece>{{text, {}}};
    std::vector<Piece> out;
    std::string_view rest = text;
    for (auto& run : runs) {
        out.push_back({rest.substr(0, run.size), run.style});
        rest.remove_prefix(run.size);
    }
    return out;
}

}
