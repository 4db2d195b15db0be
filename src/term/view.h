// View: the bytes of a frame. Lines that are finished go to the terminal's own scrollback and are never touched again;
// below them live the lines that still change, of which only those are drawn that did change. Positions are relative:
// where on the screen the live lines are is the terminal's business. Knows nothing of descriptors or time.
//
// A row of the live lines never wraps by itself (DECAWM is off while they are drawn), so what a terminal thinks of a
// character's width, or that it has become narrower meanwhile, moves nothing. Finished lines are wrapped by the
// terminal, so that it can join them again when it is resized or they are copied.
#pragma once

#include "term/rows.h"

#include <optional>

namespace ik::term {

struct Size {
    int columns = 80, rows = 24;
    friend bool operator==(const Size&, const Size&) = default;
};

// What lives below the finished lines, from top to bottom.
struct Live {
    std::vector<Line> text;       // not finished yet
    std::vector<Line> status;     // each usually cut to one row
    std::vector<Line> input;      // the prompt and what is typed, or a question
    std::vector<Line> below;      // what can be chosen
    std::optional<Place> cursor;  // in the input; none: hidden

    friend bool operator==(const Live&, const Live&) = default;
};

class View {
public:
    // plain: no cursor is ever moved; lines are appended.
    View(Look look, Size size, bool plain = false) : look_(plain ? Look{{}, look.charset} : look), plain_(plain) { resize(size); }

    void resize(Size size);
    void look(Look look);
    const Size& size() const { return size_; }
    std::size_t cursor_row() const { return at_.row; }   // of the live rows

    // A finished line, for the next frame.
    void print(Line line) { finished_.push_back(std::move(line)); }

    // What is to be written so that the screen shows the finished lines, and the live ones below. Empty when nothing
    // is different. Every frame ends with a plain style, DECAWM on, and the cursor in the live lines.
    std::string show(const Live&);

    // Removes the live lines: the cursor is at the begin of the row below the finished ones, visible.
    std::string leave();

    // Pushes the whole screen up into the scrollback; the next frame begins at its top.
    std::string clear_screen();

    // The cursor is somewhere else now, at the beginning of a row, and nothing of ours is below (after a suspension);
    // in plain mode: the person's Enter has ended the row.
    void forget();

private:
    struct Spot { std::size_t row = 0; int column = 0; std::string before; bool doubtful = false; };

    std::string show_plain(const Live&);
    std::vector<Row> window(const Live&, std::optional<Spot>& cursor) const;
    Spot spot(const Line&, std::size_t byte, const std::vector<Row>& rows, std::size_t first) const;
    void append_finished(std::string& out);
    bool append_changed(std::string& out, const std::vector<Bytes>& fresh, std::size_t& at) const;
    std::string erase_live() const;

    Look look_;
    Size size_{};
    bool plain_;
    std::vector<Line> finished_;
    std::vector<std::string> drawn_;   // the rows on the screen
    Spot at_;                          // where we left the cursor
    bool visible_ = true;              // the cursor
    bool stale_ = true;                // the rows may have been moved or cut by the terminal
    Live last_;
    std::string open_;                 // plain mode: what of an unfinished line is written
    std::string asked_;                // plain mode: the prompt that stands there
};

// What goes to the begin of a row, and to the next one where something stands already in this one.
std::string row_begin(Size);

}
