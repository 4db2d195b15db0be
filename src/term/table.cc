#include "term/table.h"

#include "base/text.h"
#include "term/width.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ik {
namespace {

constexpr std::size_t least = 6;      // a column is not made narrower
constexpr std::size_t between = 3;    // columns of " | "

std::size_t width_of(const Line& line) { return width(plain(line)); }

// A cell in pieces of at most so many columns, cut between words where there are any.
class Wrapped {
public:
    explicit Wrapped(std::size_t columns) : columns_(columns) {}

    std::vector<Line> cell(const Line& cell)
    {
        for (auto& span : cell)
            for (std::string_view rest = span.text; !rest.empty();) {
                auto end = std::min(rest.find(' '), rest.size());
                if (end) word(rest.substr(0, end), span.style);
                rest.remove_prefix(end);
                if (!rest.empty()) space(span.style), rest.remove_prefix(1);
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
        add(line_, " ", style);
        ++used_;
    }
    void word(std::string_view word, Style style)
    {
        if (used_ && used_ + width(word) > columns_) turn();
        while (width(word) > columns_) {   // longer than a line
            std::size_t size = 0;
            while (size < word.size() && width(word.substr(0, next_character(word, size))) <= columns_) size = next_character(word, size);
            size = size ? size : next_character(word, 0);
            add(line_, word.substr(0, size), style);
            word.remove_prefix(size);
            turn();
        }
        add(line_, word, style);
        used_ += width(word);
    }
    static std::size_t next_character(std::string_view text, std::size_t at)
    {
        for (++at; at < text.size() && (text[at] & 0xC0) == 0x80;) ++at;
        return at;
    }

    std::size_t columns_, used_ = 0;
    Line line_;
    std::vector<Line> lines_;
};

std::vector<std::size_t> widths_of(const Table& table, std::size_t width)
{
    std::vector<std::size_t> out(table.columns.size(), 1);
    for (auto& row : table.rows)
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::max(out[i], width_of(row[i]));
    auto used = [&] { return std::accumulate(out.begin(), out.end(), between * (out.size() - 1)); };
    for (auto now = used(); now > width; now = used()) {
        auto widest = std::ranges::max_element(out);
        if (*widest <= least) return {};
        auto second = *std::ranges::max_element(out, {}, [&](auto& w) { return w == *widest ? 0 : w; });
        auto wanted = second < *widest ? std::max(second, least) : *widest - 1;
        *widest = std::max({wanted, least, *widest > now - width ? *widest - (now - width) : least});
    }
    return out;
}

void pad(Line& line, std::size_t columns) { add(line, std::string(columns, ' ')); }

void put(Line& line, const Line& cell, std::size_t columns, Align align, bool last)
{
    auto space = columns - std::min(columns, width_of(cell));
    auto before = align == Align::right ? space : align == Align::center ? space / 2 : 0;
    pad(line, before);
    for (auto& span : cell) add(line, span.text, span.style);
    if (!last) pad(line, space - before);
}

std::vector<Line> records(const Table& table)
{
    std::vector<Line> out;
    for (std::size_t r = 1; r < table.rows.size(); ++r) {
        if (r > 1) out.emplace_back();
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            auto line = table.rows[0][i];
            for (auto& span : line) span.style.bold = true;
            add(line, ": ");
            for (auto& span : table.rows[r][i]) add(line, span.text, span.style);
            out.push_back(std::move(line));
        }
    }
    return out;
}

}

std::vector<Line> table_lines(const Table& table, std::size_t width, bool lines_drawn)
{
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
                if (i) add(line, lines_drawn ? " │ " : " | ", {.tone = Tone::dim});
                auto cell = h < cells[i].size() ? cells[i][h] : Line{};
                if (r == 0) for (auto& span : cell) span.style.bold = true;
                put(line, cell, widths[i], table.columns[i], i + 1 == widths.size());
            }
            out.push_back(std::move(line));
        }
        if (r == 0) {
            std::string rule;
            for (std::size_t i = 0; i < widths.size(); ++i) {
                if (i) rule += lines_drawn ? "─┼─" : "-+-";
                for (std::size_t n = 0; n < widths[i]; ++n) rule += lines_drawn ? "─" : "-";
            }
            out.push_back({{rule, {.tone = Tone::dim}}});
        }
    }
    return out;
}

}
