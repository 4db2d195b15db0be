// A screen for tests: a terminal emulator (libvterm) that is fed bytes and asked what a person would see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct VTerm;

namespace ik::test {

struct ScreenCell {
    std::string text;       // empty: nothing was written there, or it is the right half of a wide character
    bool bold = false, italic = false, underline = false, reverse = false;
    bool plain_colour = true;
    int colour = -1;        // the number, where it is one of the table

    friend bool operator==(const ScreenCell&, const ScreenCell&) = default;
};

class Screen {
public:
    Screen(int columns, int rows);
    ~Screen();
    Screen(const Screen&) = delete;

    void feed(std::string_view bytes);
    void resize(int columns, int rows);

    std::string row(int row) const;                  // without blanks at its end
    ScreenCell cell(int row, int column) const;
    std::vector<std::string> everything() const;     // the scrollback and the rows, without empty ones at the end
    const std::vector<std::string>& scrollback() const { return scrollback_; }
    int cursor_row() const;
    int cursor_column() const;
    bool cursor_visible() const { return cursor_visible_; }
    std::string title() const { return title_; }
    std::string replies();                           // what the terminal would send back
    int bells() const { return bells_; }
    bool alternate() const { return alternate_; }

    // The topmost line, counted from the begin of the scrollback, that was written to or erased since.
    void watch() { touched_ = -1; }
    long touched() const { return touched_; }        // -1: none
    long line_of_cursor() const { return static_cast<long>(scrollback_.size()) + cursor_row(); }

private:
    struct Callbacks;
    VTerm* terminal_;
    std::vector<std::string> scrollback_;
    std::string title_;
    bool cursor_visible_ = true, alternate_ = false;
    int bells_ = 0;
    long touched_ = -1;
};

}
