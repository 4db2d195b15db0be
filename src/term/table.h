// Table: rows of cells as lines that fit a width. Knows no Markdown.
#pragma once

#include "term/style.h"
#include "term/width.h"

namespace ik::term {

enum class Align : unsigned char { left, right, center };

struct Table {
    std::vector<Align> columns;
    std::vector<std::vector<Line>> rows;   // the first is the head; each has as many cells as there are columns
};

// Cells are wrapped where the table is wider than width; where that does not help, each row becomes lines of "head: cell".
// Without UTF-8 the lines are drawn in ASCII.
std::vector<Line> table_lines(const Table&, int width, Charset);

}
