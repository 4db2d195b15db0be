// Editor: what a person is typing, as a value: keys in, outcomes out. Text of any number of lines, a cursor between
// grapheme clusters, undo, one killed piece, history, search in it, completion, pastes that are folded.
// Knows nothing of the screen's size, of files, or of what is sent where.
#pragma once

#include "term/keys.h"
#include "term/style.h"

#include <span>

namespace ik::term {

struct Outcome {
    enum Kind : std::uint8_t {
        nothing,       // nothing is different
        changed,
        send,          // text: all of it; the editor is empty now
        cleared,       // Ctrl+C with text; it is gone (and can be had back by undo)
        leave_asked,   // Ctrl+C without text
        quit,          // Ctrl+C once more, or Ctrl+D without text
        stop,          // Esc
        outside,       // Ctrl+G: text wants to be edited elsewhere; set_text() takes it back
        background,    // Ctrl+T
        clear_screen,  // Ctrl+L
        suspend,       // Ctrl+Z
        complete,      // Tab: offer() wants the candidates for wanted()
    };
    Kind kind = nothing;
    std::string text = {};
};

// What could be completed where the cursor is.
struct Wanted {
    enum Kind : std::uint8_t { nothing, command, argument, path };
    Kind kind = nothing;
    std::string word = {};      // up to the cursor; of a command with its /, of a path in a message with its @
    std::string of = {};        // the command of an argument, with its /
    std::size_t begin = 0;      // where the word begins in the text
};

struct Candidate {
    std::string text;           // what takes the place of the word
    std::string about = {};
};

class Editor {
public:
    // history: oldest first, borrowed for the call.
    Outcome on(const Key&, std::span<const std::string> history);

    bool empty() const { return text_.empty(); }
    std::string whole() const;              // what send would give
    void set_text(std::string_view text);   // the cursor behind it; undo brings back what was there

    Wanted wanted() const;
    Outcome offer(std::vector<Candidate> candidates);   // those that do not begin with the word are left out

    // The text as lines, behind a label and under it; folded pastes as "[pasted 213 lines]".
    struct Drawn {
        std::vector<Line> lines;
        Place cursor;
    };
    Drawn draw(const Line& label) const;

    // The candidates that are offered now, at most `rows` of them around the chosen one.
    std::vector<Line> menu(std::size_t rows = 8) const;

    // For tests and the curious: with placeholders for folded pastes.
    const std::string& text() const { return text_; }
    std::size_t cursor() const { return cursor_; }

private:
    friend struct Binding;

    struct Snapshot { std::string text; std::size_t cursor; };
    struct Fold { std::string text, label; };
    struct Search { std::string query; std::optional<std::size_t> found; Snapshot before; bool failed = false; };
    enum class Did : std::uint8_t { other, typing, killing, vertical, asking_to_leave };

    Outcome act(const Key&);
    Outcome search_on(const Key&);
    Outcome typed(std::string_view text);
    Outcome pasted(std::string text);

    Outcome left(), right(), word_left(), word_right(), line_begin(), line_end(), up(), down();
    Outcome erase_left(), erase_right(), kill_to_end(), kill_to_begin(), kill_word_left(), kill_blank_word_left(), kill_word_right(), yank();
    Outcome undo(), newline(), enter(), escape(), tab(), back_tab(), interrupt(), end_of_input(), search();
    Outcome outside(), background(), clear_screen(), suspend();

    Outcome move_to(std::size_t cursor);
    Outcome move_vertically(std::size_t line_begin, std::size_t line_end);
    Outcome kill(std::size_t begin, std::size_t end, bool leftwards);
    void replace(std::size_t begin, std::size_t end, std::string_view by);
    void remember();
    void reset();
    Outcome recall(std::size_t index);
    void look_for(std::size_t below);
    void choose(std::size_t index);
    void narrow_menu();
    std::string unmarked(std::string_view text) const;

    std::size_t begin_of_line(std::size_t at) const;
    std::size_t end_of_line(std::size_t at) const;
    std::size_t word_begin(std::size_t at) const;
    std::size_t word_end(std::size_t at) const;

    std::string text_;                      // a folded paste is one character of a private range
    std::size_t cursor_ = 0;
    std::vector<Fold> folds_;
    std::string killed_;
    std::vector<Snapshot> undo_;
    std::size_t undo_bytes_ = 0;
    Did did_ = Did::other, does_ = Did::other;   // the key before this one, and this one
    int goal_ = 0;                          // the column that Up and Down keep to
    std::span<const std::string> history_;  // during on()
    std::optional<std::size_t> browsing_;   // the entry that is shown
    std::string draft_;                     // what was typed before browsing
    std::optional<Search> search_;
    std::vector<Candidate> offered_, matching_;
    std::optional<std::size_t> chosen_;
    std::size_t word_at_ = 0;               // where the word of the menu begins
};

}
