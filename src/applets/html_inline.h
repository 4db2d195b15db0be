// HTML inline: the words of one paragraph, as markdown. Knows marks and white space, no tree and no blocks.
#pragma once

#include "applets/html_elements.h"

#include <string>
#include <string_view>
#include <vector>

namespace ik::html {

// White space as one space each, none at the ends.
std::string one_line(std::string_view text);

// How many times the character comes in a row, at most.
std::size_t longest_run(std::string_view text, char of);

// The lines of a paragraph, with a backslash where one would be read as a block of another kind.
std::string escaped_lines(std::string_view paragraph);

// Marks that are open when a paragraph ends are closed in it, and opened again with the first word of the next; but a
// link belongs to the first words only.
class Inline {
public:
    void open(Is mark, std::string address = {});   // emphasis, strong, deleted, code, quoted, ruby_text, link
    void close();                                   // the one that was opened last

    void text(std::string_view);
    void space() { space_ = true; }
    void line_break() { ++breaks_; }
    void image(std::string_view alt, std::string_view address, bool in_link);

    void plain(bool on) { plain_ = on, settled_ = false; }   // emphasis is its text
    bool empty() const { return out_.empty(); }

    // The paragraph; empty when there was nothing but white space. Begins the next.
    std::string take();

private:
    struct Mark {
        Is is;
        std::string address;
        std::size_t from = 0;          // where its text begins
        bool open = false, over = false;   // over: not written (again)
    };

    bool counts(const Mark&, bool in_code) const;
    void begin();
    void open_marks();
    void begin_mark(std::size_t);
    void end_mark();
    void end_code();

    std::string out_;
    std::vector<Mark> marks_;          // as the elements are nested
    std::vector<std::size_t> written_; // the open ones, in the order of the text
    std::size_t closed_at_ = 0;        // the size of out_ behind the last mark that was closed
    Is closed_ = Is::plain;
    bool space_ = false, plain_ = false, settled_ = true;   // settled_: no mark waits for a word
    int breaks_ = 0;
};

}
