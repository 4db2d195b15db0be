// escapes: the inside of a JSON string, in pieces, to the text that it stands for; and back to how it was written, to the
// byte. For that a few notes are enough, since most of a text is written as it is. Knows no structure of JSON.
#pragma once

#include "base/function_ref.h"
#include "base/spool.h"

namespace ik {

// How decoded text was written. A note: how many bytes were written as they are, then what was not: an escape of one
// letter, or some bytes and how many of the decoded ones they stand for.
class Notes {
public:
    void same(std::size_t size) { same_ += size; }
    void letter(char behind_the_backslash);
    void other(std::string_view written, std::size_t decoded);

    std::size_t place();   // where the next note will be
    int failure() const { return notes_.failure; }

    // Hands out, in pieces, what was written where the notes in [from, to) were taken; decoded: the file with its text.
    // False when that cannot be read, or take does not want more.
    bool retell(std::size_t from, std::size_t to, int decoded, FunctionRef<bool(std::string_view)> take) const;

private:
    void note();
    void put(std::size_t number);
    void flush();

    std::size_t same_ = 0;
    std::string written_;                     // with others, one note that is being taken
    std::size_t before_ = 0, decoded_ = 0;    // what was the same before it; what it stands for
    std::string fresh_;                       // notes on their way to the spool
    std::size_t used_ = 0;                    // bytes of it
    Spool notes_{256 << 10};
};

class Unescape {
public:
    struct Decoded {
        std::size_t taken = 0;        // bytes of raw; they are noted
        std::string_view text = {};   // what they stand for; lies here until the next
    };

    // Of raw all is taken up to a quote, or to what no JSON string has.
    Decoded decode(std::string_view raw, Notes&);

    void end(Notes&);   // what was begun and has no end is noted, too
    bool ended_well() const { return pending_.empty() && !high_ && !failed_; }

private:
    bool take_escape(std::string& out);

    std::string buffer_;
    std::string pending_;   // a begun escape
    unsigned high_ = 0;     // the first half of a surrogate pair
    bool failed_ = false;
};

}
