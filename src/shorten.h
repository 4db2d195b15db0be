// Shortener: a tool's stdout, JSON as far as is known, while it arrives. Long strings go to files of their own, decoded;
// the rest is kept as it is, to be parsed by somebody else. From the two what was printed can be told again, to the byte:
// it is needed where it proves to be no answer. Knows just enough of JSON to see strings and to name them.
#pragma once

#include "long_string.h"

#include <optional>
#include <set>

namespace ik {

// More bytes than this, as written in the JSON, make a string long.
inline constexpr std::size_t long_string = 64 << 10;

inline constexpr std::size_t max_parsed = 8 << 20;   // of JSON with its long strings shortened

class Shortener {
public:
    explicit Shortener(Outbox outbox) : outbox_(std::move(outbox)) {}

    void add(std::string_view bytes);
    void end();
    bool sound() const { return !broken_; }   // a look at the structure has found nothing wrong so far

    const Spool& text() const { return text_; }   // with the two ends of each long string in its place
    std::vector<Long> longs() const;

    // What was added, once it has ended. False when it could not be kept, or take does not want more.
    bool retell(FunctionRef<bool(std::string_view)> take) const;

    void discard();   // removes the files of the long strings

private:
    struct Level { bool object; std::size_t index = 0; std::string key = {}; };

    // A long string that has ended.
    struct Kept {
        Long whole;
        std::size_t at, size;         // of what stands for it, in the text
        std::size_t notes, notes_end;
    };

    std::size_t structure(std::string_view bytes);
    std::size_t string(std::string_view bytes);
    std::size_t short_string(std::string_view bytes);
    void begin_long();
    bool close();
    void keep(std::string_view ends);
    void give_up();
    bool is_key() const { return !levels_.empty() && levels_.back().object && !after_colon_; }
    std::string path() const;
    Result<std::pair<Fd, std::string>> file(const std::string& path);

    Outbox outbox_;
    Spool text_{max_parsed};
    Notes notes_;
    std::vector<Kept> kept_;
    std::set<std::string> files_;
    std::vector<Level> levels_;
    std::string raw_;                   // of a string that is not long yet
    std::optional<LongString> long_;    // the one that arrives
    std::size_t long_notes_ = 0;
    bool in_string_ = false, escaped_ = false, after_colon_ = false, broken_ = false;
};

}
