#include "term/table.h"

#include "base/text.h"
#include "term/width.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ik::term {
namespace {

constexpr int least = 6;      // a column is not made narrower
constexpr int between = 3;    // columns of " | "

int width_of(const Line& line) { return width(line.text); }

Line bold(const Line& line)
{
    Line out;
    for (auto [text, style] : line.pieces()) {
        style.bold = true;
        out.add(text, style);
    }
    return out;
}

// A cell in pieces of at most so many columns, cut between words where there are any.
class Wrapped {
public:
    explicit Wrapped(int columns) : columns_(columns) {}

    std::vector<Line> cell(const Line& cell)
    {
        for (auto [rest, style] : cell.pieces())
            while (!rest.empty()) {
                auto end = std::min(rest.find(' '), rest.size());
                if (end) word(rest.substr(0, end), style);
                rest.remove_prefix(end);
                if (!rest.empty()) space(style), rest.remove_prefix(1);
            }
        lines_.push_back(std::move(line_));
        return std::move(lines_);
    }

private:
    void turn()
    {
        lines_.push_back(std::exchange(line_, {}));
        used_ = 0;
    }
    void space(Style style)
    {
        if (used_ == 0 || used_ >= columns_) return;
        line_.add(" ", style);
        ++used_;
    }
    void word(std::string_view word, Style style)
    {
        if (used_ && used_ + width(word) > columns_) turn();
        while (width(word) > columns_) {   // longer than a line
            auto size = fitting(word, columns_).size();
            size = size ? size : next_border(word, 0);
            line_.add(word.substr(0, size), style);
            word.remove_prefix(size);
            turn();
        }
        line_.add(word, style);
        used_ += width(word);
    }

    int columns_, used_ = 0;
    Line line_;
    std::vector<Line> lines_;
};

std::vector<int> widths_of(const Table& table, int width)
{
    std::vector<int> out(table.columns.size(), 1);
    for (auto& row : table.rows)
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::max(out[i], width_of(row[i]));
    auto used = [&] { return std::accumulate(out.begin(), out.end(), between * (static_cast<int>(out.size()) - 1)); };
    for (auto now = used(); now > width; now = used()) {
        auto widest = std::ranges::max_element(out);
        if (*widest <= least) return {};
        auto second = *std::ranges::max_element(out, {}, [&](auto& w) { return w == *widest ? 0 : w; });
        auto wanted = second < *widest ? std::max(second, least) : *widest - 1;
        *widest = std::max({wanted, least, *widest > now - width ? *widest - (now - width) : least});
    }
    return out;
}

void pad(Line& line, int columns) { line.add(std::string(static_cast<std::size_t>(columns), ' ')); }

void put(Line& line, const Line& cell, int columns, Align align, bool last)
{
    auto space = columns - std::min(columns, width_of(cell));
    auto before = align == Align::right ? space : align == Align::center ? space / 2 : 0;
    pad(line, before);
    line.add(cell);
    if (!last) pad(line, space - before);
}

std::vector<Line> records(const Table& table)
{
    std::vector<Line> out;
    for (std::size_t r = 1; r < table.rows.size(); ++r) {
        if (r > 1) out.emplace_back();
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            auto line = bold(table.rows[0][i]);
            line.add(": ").add(table.rows[r][i]);
            out.push_back(std::move(line));
        }
    }
    return out;
}

}

std::vector<Line> table_lines(const Table& table, int width, Charset charset)
{
    bool drawn = charset == Charset::utf8;
    auto widths = widths_of(table, width);
    if (widths.empty())
        return records(table);
    std::vector<Line> out;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        std::vector<std::vector<Line>> cells;
        std::size_t height = 1;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            cells.push_back(Wrapped(widths[i]).cell(table.rows[r][i]));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t h = 0; h < height; ++h) {
            Line line;
            for (std::size_t i = 0; i < widths.size(); ++i) {
                if (i) line.add(drawn ? " │ " : " | ", {.ink = Ink::faint});
                auto cell = h < cells[i].size() ? cells[i][h] : Line{};
                if (r == 0) cell = bold(cell);
                put(line, cell, widths[i], table.columns[i], i + 1 == widths.size());
            }
            out.push_back(std::move(line));
        }
        if (r == 0) {
            std::string rule;
            for (std::size_t i = 0; i < widths.size(); ++i) {
                if (i) rule += drawn ? "─┼─" : "-+-";
                for (int n = 0; n < widths[i]; ++n) rule += drawn ? "─" : "-";
            }
            out.emplace_back(rule, Style{.ink = Ink::faint});
        }
    }
    return out;
}

}
