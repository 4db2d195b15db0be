// HTML tables: which are tables of data, and their rows as lines. Knows no inline markup.
#pragma once

#include "applets/html_tree.h"

#include "base/function_ref.h"

#include <cstddef>
#include <optional>
#include <string>

namespace ik::html {

// The lines of the table that is the node at `table`. Nothing: it arranges the page, and its cells are blocks.
// cell: the text of the cell that is the node at the index; each cell is asked for once, in the order of the lines.
std::optional<std::string> table_lines(const Tree&, std::size_t table, FunctionRef<std::string(std::size_t)> cell);

}
