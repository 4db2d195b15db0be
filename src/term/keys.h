// Keys: bytes of a terminal -> keys, as values. Takes what xterm, VTE, rxvt, the Linux console, tmux and screen send,
// the kitty keyboard protocol and xterm's modifyOtherKeys, bracketed paste, and the replies of a terminal.
// Knows nothing of what a key does. Sequences that it does not know are swallowed.
#pragma once

#include "base/poll.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ik::term {

struct Key {
    // reply: what a terminal answers or tells: the sequence without ESC and its end, as "[?1u", "]11;rgb:0000/0000/0000".
    enum Kind : std::uint8_t { text, enter, tab, backspace, erase, escape, up, down, left, right, home, end, page_up, page_down, insert, function, paste, reply };

    Kind kind = text;
    std::string words = {};   // text: one character, for Ctrl and Alt as on the keyboard without them; paste: all of it;
                              // function: its number; reply
    bool ctrl = false, alt = false, shift = false;

    friend bool operator==(const Key&, const Key&) = default;
};

class Keys {
public:
    // The keys that are complete with these bytes.
    std::vector<Key> on(std::string_view bytes, Clock::time_point now);

    // When late() has something to say, if nothing else comes: what is pending then is what it is
    // (Esc alone, a paste that has ended), or is given up.
    std::optional<Clock::time_point> until() const { return until_; }
    std::vector<Key> late(Clock::time_point now);

    // A paste is cut behind this many bytes.
    static constexpr std::size_t longest_paste = 8 << 20;

private:
    enum class State : std::uint8_t { plain, pasting, closing };   // closing: after an end mark, there may come another

    void take(std::vector<Key>& out, bool final);
    bool take_paste();
    void end_paste(std::vector<Key>& out);
    void wait_from(Clock::time_point now);

    std::string pending_;      // bytes that are no key yet
    std::string paste_;
    State state_ = State::plain;
    Clock::time_point closed_{};   // when closing began
    std::optional<Clock::time_point> until_;
};

// What the terminal says of itself, from Key::reply.
struct Told {
    std::optional<bool> light;      // its background
    bool kitty = false;             // knows the kitty keyboard protocol
    bool complete = false;          // the last of the replies to Tty::question has come

    void hear(std::string_view reply);
};

}
