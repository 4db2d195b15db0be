// LongString: a long JSON string that is written to a file of its own while it arrives, decoded, so that memory holds
// no more than its two ends.
#pragma once

#include "agent/wire.h"
#include "escapes.h"
#include "outbox.h"

namespace ik {

// The two ends of what may be long.
class Ends {
public:
    static constexpr std::size_t size = 32 << 10;   // of each

    void add(std::string_view bytes);

    std::string_view head() const { return head_; }
    std::string_view tail() const { return std::string_view(tail_).substr(tail_.size() - std::min(size, tail_.size())); }
    std::string text() const;   // both, each cut on a character

private:
    std::string head_, tail_;
};

class LongString {
public:
    LongString(std::string path, Result<std::pair<Fd, std::string>> file);

    // The bytes of raw that were taken: up to the quote at its end, or to what no JSON string has.
    std::size_t add(std::string_view raw, Notes&);
    void end(Notes& notes) { unescape_.end(notes); }
    bool ended_well() const { return unescape_.ended_well(); }

    std::string ends() const { return ends_.text(); }
    const Long& whole() const { return long_; }

private:
    void write(std::string_view decoded);

    Long long_;
    Fd file_;
    Unescape unescape_;
    Ends ends_;
};

}
