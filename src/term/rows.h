// Rows: lines as rows of a screen, as the bytes that draw them. Whatever a line has in it, its bytes move the cursor
// to the right and nothing else. Knows nothing of where the rows are.
#pragma once

#include "term/style.h"
#include "term/width.h"

namespace ik::term {

struct Look {
    Palette palette = {};
    Charset charset = Charset::utf8;

    friend bool operator==(const Look&, const Look&) = default;
};

// A part of a line: as much as fits into one row.
struct Row {
    const Line* line = nullptr;
    std::size_t begin = 0, end = 0;   // bytes of the line's text
    bool cut = false;                 // an ellipsis follows
};

// The rows of a line that is wrapped at `columns`, or cut there.
void append_rows(std::vector<Row>& rows, const Line&, int columns, Charset);

// The bytes that draw a part of a line, plain at their end.
struct Bytes {
    std::string text;
    int width = 0;
    bool doubtful = false;   // the terminal may have its own idea of the width
};
Bytes draw(const Line&, std::size_t begin, std::size_t end, const Look&);
Bytes draw(const Row&, const Look&);

// A whole line that the terminal wraps, with its tabs, as it can be copied.
std::string draw_whole(const Line&, const Look&);

}
