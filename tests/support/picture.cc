#include "support/picture.h"

#include <array>
#include <cstdio>

namespace ik::test {
namespace {

// In hundredths of a pixel, so that no number depends on how a machine rounds.
constexpr int cell_width = 843, cell_height = 1900, baseline = 1400, margin = 1800, bar = 3600;

constexpr const char* background = "#15181e";
constexpr const char* foreground = "#d8dce3";
constexpr std::array<const char*, 16> first_colours = {"#15181e", "#d75f5f", "#87af87", "#d7af5f", "#5fafff", "#af87d7", "#5fafaf", "#d8dce3",
                                                       "#6c6c6c", "#ff8787", "#afd7af", "#ffd787", "#87d7ff", "#d7afff", "#87d7d7", "#ffffff"};

std::string pixels(int hundredths)
{
    char text[32];
    std::snprintf(text, sizeof text, "%d.%02d", hundredths / 100, hundredths % 100);
    return text;
}

// The colours of xterm: 16, a cube of 6 x 6 x 6, 24 greys.
std::string colour_of(const ScreenCell& cell)
{
    if (cell.colour < 0)
        return foreground;
    if (cell.colour < 16)
        return first_colours[static_cast<std::size_t>(cell.colour)];
    auto step = [](int n) { return n ? n * 40 + 55 : 0; };
    int n = cell.colour - 16, grey = (n - 216) * 10 + 8;
    char text[8];
    if (n < 216) std::snprintf(text, sizeof text, "#%02x%02x%02x", step(n / 36) & 255, step(n / 6 % 6) & 255, step(n % 6) & 255);
    else std::snprintf(text, sizeof text, "#%02x%02x%02x", grey & 255, grey & 255, grey & 255);
    return text;
}

std::string escaped(std::string_view text)
{
    std::string out;
    for (char c : text)
        if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '&') out += "&amp;";
        else out += c;
    return out;
}

bool alike(const ScreenCell& a, const ScreenCell& b)
{
    return a.bold == b.bold && a.italic == b.italic && a.underline == b.underline && a.colour == b.colour;
}

bool blank(const ScreenCell& cell) { return cell.text.empty() || cell.text == " "; }

// Its length is given, so that the columns stand where they should whatever font there is.
std::string run_of(const std::string& text, int row, int column, int cells, const ScreenCell& look)
{
    auto out = "<text x=\"" + pixels(margin + column * cell_width) + "\" y=\"" + pixels(bar + row * cell_height + baseline) + "\" textLength=\"" +
               pixels(cells * cell_width) + "\" fill=\"" + colour_of(look) + "\"";
    if (look.bold) out += " font-weight=\"bold\"";
    if (look.italic) out += " font-style=\"italic\"";
    if (look.underline) out += " text-decoration=\"underline\"";
    return out + ">" + escaped(text) + "</text>\n";
}

std::string row_of(const Screen& screen, int row, int columns)
{
    std::string out;
    for (int from = 0; from < columns;) {
        auto look = screen.cell(row, from);
        if (blank(look)) {
            ++from;
            continue;
        }
        std::string text;
        int to = from, end = from;   // end: without blanks behind it
        std::size_t size = 0;
        for (; to < columns; ++to) {
            auto cell = screen.cell(row, to);
            if (!blank(cell) && !alike(cell, look)) break;
            text += cell.text.empty() ? " " : cell.text;
            if (!blank(cell)) end = to + 1, size = text.size();
        }
        out += run_of(text.substr(0, size), row, from, end - from, look);
        from = to;
    }
    return out;
}

}

std::string picture_of(const Screen& screen, int columns, int rows, std::string_view title)
{
    while (rows > 1 && screen.row(rows - 1).empty() && screen.cursor_row() < rows - 1) --rows;
    auto width = pixels(2 * margin + columns * cell_width), height = pixels(bar + rows * cell_height + margin);
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height + "\">\n";
    out += std::string("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"") + background + "\"/>\n";
    const char* lights[] = {"#ff5f57", "#febc2e", "#28c840"};
    for (int i = 0; i < 3; ++i)
        out += "<circle cx=\"" + std::to_string(20 + i * 19) + "\" cy=\"18\" r=\"5.5\" fill=\"" + lights[i] + "\"/>\n";
    out += "<text x=\"50%\" y=\"22\" text-anchor=\"middle\" fill=\"#8a8f98\" font-family=\"sans-serif\" font-size=\"12\">" + escaped(title) + "</text>\n";
    out += "<g font-family=\"ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" xml:space=\"preserve\">\n";
    for (int row = 0; row < rows; ++row) out += row_of(screen, row, columns);
    if (screen.cursor_visible())
        out += "<rect x=\"" + pixels(margin + screen.cursor_column() * cell_width) + "\" y=\"" + pixels(bar + screen.cursor_row() * cell_height) + "\" width=\"" +
               pixels(cell_width) + "\" height=\"" + pixels(cell_height) + "\" fill=\"" + foreground + "\" opacity=\"0.7\"/>\n";
    return out + "</g>\n</svg>\n";
}

}
