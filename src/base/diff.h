// diff: what differs between two texts, line by line, as hunks. Knows no files and no colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ik {

struct DiffLine {
    enum class Kind { same, removed, added };
    Kind kind;
    std::string text;        // without its line end
    bool ended = true;       // it has one
    friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

struct Hunk {
    std::size_t old_line = 0, new_line = 0;     // where it begins, from 1; 0 where that side has no lines in it
    std::size_t old_count = 0, new_count = 0;
    std::vector<DiffLine> lines;

    std::string head() const;   // @@ -1,3 +1,4 @@
    friend bool operator==(const Hunk&, const Hunk&) = default;
};

// Few changed lines, with context lines around them. Of texts that differ much (more than 1,000 lines) the part
// that differs is one block out and one block in; so time and memory have a bound beside the texts' own length.
std::vector<Hunk> diff(std::string_view before, std::string_view after, std::size_t context = 3);

// As diff -u prints it, without the two lines of file names.
std::string unified(const std::vector<Hunk>&);

}
