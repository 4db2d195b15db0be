#include "applets/html_table.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ik::html {
namespace {

struct Row {
    std::vector<std::size_t> cells;
    std::size_t group = 0;
    bool head = false;
};

void for_each_child(const Tree& tree, std::size_t of, auto visit)
{
    for (auto i = of + 1; i < tree.nodes[of].end; i = tree.nodes[i].end) visit(i);
}

std::vector<Row> rows_of(const Tree& tree, std::size_t table)
{
    std::vector<Row> rows;
    auto take = [&](std::size_t row, std::size_t group) {
        Row out{{}, group, group != table && tree.nodes[group].level == 1};
        for_each_child(tree, row, [&](auto i) {
            if (tree.nodes[i].is == Is::cell) out.cells.push_back(i);
        });
        if (!out.cells.empty()) rows.push_back(std::move(out));
    };
    for_each_child(tree, table, [&](auto i) {
        if (tree.nodes[i].is == Is::row) take(i, table);
        if (tree.nodes[i].is == Is::row_group) for_each_child(tree, i, [&](auto j) { take(j, i); });
    });
    auto head = std::ranges::find(rows, true, &Row::head);
    if (head != rows.end()) std::rotate(rows.begin(), head, head + 1);
    return rows;
}

// Structures in the cells: what is in captions is beside them.
std::uint32_t structures_in_cells(const Tree& tree, std::size_t table)
{
    auto inside = [&](std::size_t i) { return tree.behind(tree.nodes[i]).structures - tree.nodes[i].structures; };
    auto count = inside(table) - 1;   // itself
    for_each_child(tree, table, [&](auto i) {
        if (tree.nodes[i].is == Is::caption) count -= inside(i);
    });
    return count;
}

constexpr std::size_t no_cell = SIZE_MAX;

// Columns of one row after the other: a cell where it begins, no_cell where there is none or one goes on.
class Grid {
public:
    Grid(const Tree& tree) : tree_(tree) {}

    std::vector<std::size_t> next(const Row& row)
    {
        if (row.group != group_) taken_.clear();   // no cell reaches beyond its group
        group_ = row.group;
        std::vector<std::size_t> line;
        for (auto cell : row.cells) {
            while (is_taken(line.size())) line.push_back(no_cell);
            auto& node = tree_.nodes[cell];
            for (int i = 0; i < node.number; ++i) {
                auto column = line.size();
                line.push_back(i == 0 ? cell : no_cell);
                if (taken_.size() <= column) taken_.resize(column + 1);
                taken_[column] = node.rows == 0 ? INT32_MAX : node.rows;
            }
        }
        for (auto& rows : taken_) rows -= rows > 0;
        return line;
    }

private:
    bool is_taken(std::size_t column) const { return column < taken_.size() && taken_[column] > 0; }

    const Tree& tree_;
    std::size_t group_ = 0;
    std::vector<std::int32_t> taken_;   // for how many more rows
};

std::string escaped(const std::string& cell)
{
    std::string out;
    for (char c : cell) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

}

std::optional<std::string> table_lines(const Tree& tree, std::size_t table, FunctionRef<std::string(std::size_t)> cell)
{
    if (structures_in_cells(tree, table) > 0)
        return {};
    auto rows = rows_of(tree, table);
    Grid grid(tree);
    std::vector<std::vector<std::size_t>> lines;
    std::size_t columns = 0, cells = 0, room = 0;
    bool headed = false;
    for (auto& row : rows) {
        cells += row.cells.size();
        headed |= std::ranges::any_of(row.cells, [&](auto i) { return tree.nodes[i].level == 1; });
        lines.push_back(grid.next(row));
        columns = std::max(columns, lines.back().size());
        room += lines.back().size();
        if (room > 20 * cells + 20'000)
            return {};
    }
    bool too_wide = columns * rows.size() > 20 * cells + 20'000;   // a few long rows would blow up all others
    if (too_wide || ((columns < 2 || rows.size() < 2) && !headed))
        return {};

    std::string out;
    for (auto& line : lines) {
        line.resize(columns, no_cell);
        out += out.empty() ? "|" : "\n|";
        for (auto i : line) out += " " + (i == no_cell ? "" : escaped(cell(i))) + " |";
        if (&line != &lines.front())
            continue;
        out += "\n|";
        for (std::size_t i = 0; i < columns; ++i) out += " --- |";
    }
    return out;
}

}
