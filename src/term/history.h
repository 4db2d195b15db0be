// History: what was typed before, in a file that sessions share: each appends to it under a lock, and reads it once.
// One entry a line, oldest first; a newline in it is `\n`, a backslash `\\`, a carriage return `\r`.
// Where the file cannot be read or written, the entries live in memory, and problem() says why.
#pragma once

#include "base/result.h"

#include <span>
#include <string>
#include <vector>

namespace ik::term {

class History {
public:
    static constexpr std::size_t most_entries = 10'000;
    static constexpr std::size_t longest_entry = 64 << 10;   // longer ones are kept in memory only

    History() = default;   // in memory

    // path: may be empty, for memory only. The file and its folder are made when the first entry comes.
    explicit History(std::string path);

    // An entry that is the same as the one before it is not taken.
    void add(std::string_view entry);

    std::span<const std::string> entries() const { return entries_; }
    const std::string& problem() const { return problem_; }   // one sentence; empty when all is well

private:
    void load();
    Status append();
    Status trim(int fd);

    std::string path_;
    std::vector<std::string> entries_;
    std::vector<std::string> unwritten_;
    std::size_t lines_ = 0;   // in the file, as far as we know
    std::string problem_;
};

}
