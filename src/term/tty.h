// Tty: the terminal that a person sits at: its modes, which are given back as they were found; its size; what is to be
// written to it. Descriptors 0 and 1 are shared with the shell and stay as they are: writing without waiting goes
// through a description of our own, where the terminal can be opened again. Knows nothing of what is written.
#pragma once

#include "base/poll.h"
#include "term/view.h"

#include <termios.h>

namespace ik::term {

class Tty {
public:
    // term: $TERM, which says what must not be sent. Nothing is changed before enter().
    Tty(int in, int out, std::string term);
    Tty(const Tty&) = delete;
    ~Tty();   // leave()

    bool usable() const { return usable_; }   // both descriptors are terminals

    // Keys as they are pressed, without echo; bracketed paste; keys that tell Shift+Enter apart. Again after a leave().
    void enter();

    // The same modes once more, after somebody else has used the terminal while we were stopped.
    void enter_again();

    // Everything as it was; bytes: written before, such as View::leave(). Never waits longer than a second.
    void leave(std::string_view bytes = {});
    bool entered() const { return entered_; }

    // Stops this process and those in its group, as Ctrl+Z does; returns when it goes on, with leave() before and enter() after.
    void suspend(std::string_view bytes = {});

    // Asks for the background and the keyboard protocol; the answers come as Key::reply, if at all. Empty where that is not safe.
    std::string_view question() const;

    Size size() const;   // of the terminal, else $COLUMNS and $LINES, else 80 x 24

    // Bytes for the terminal, as soon as it takes them. While it is behind, frames are better not made.
    void send(std::string_view bytes);
    bool behind() const { return written_ < pending_.size(); }

    void add_to(Poll&) const;
    void advance(const Poll&);           // writes on
    std::string read(const Poll&);       // what was typed since; empty also when nothing was

    bool lost() const { return lost_; }  // the terminal is gone

private:
    void set_modes();
    void flush();
    bool in_foreground() const;

    int in_, out_;
    Fd own_;                  // the terminal, opened again, non-blocking; none: out_ is used
    std::string term_;
    termios before_{};
    bool usable_ = false, entered_ = false, lost_ = false;
    std::string pending_;
    std::size_t written_ = 0;   // of it
};

// What turns off whatever enter() and the view turn on, for whoever finds the terminal without its owner.
std::string modes_off(std::string_view term);

}
