// PatternTree: a POSIX extended regular expression taken apart: sets of bytes one behind the other, as alternatives,
// repeated. Where it cannot say what glibc does (a back-reference, the border of a word) it says more: each line that
// the expression matches, the tree matches too. Lines have no newline in them, and neither have the sets.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ik {

using ByteSet = std::bitset<256>;

struct PatternTree {
    enum Kind { set, sequence, choice, repeat, line_begin, line_end, anything };

    struct Node {
        Kind kind;
        std::size_t set = 0;             // its index in sets
        int least = 0, most = 0;         // how often the one part; most < 0: without end
        std::vector<std::size_t> parts;  // indices in nodes
    };

    std::vector<ByteSet> sets;           // each once
    std::vector<Node> nodes;
    std::size_t root = 0;
    bool places = false;                 // something in it depends on what is around: an anchor, a border, a back-reference
};

// Of an expression that regcomp has accepted. Nothing where it is too large to be worth it.
std::optional<PatternTree> take_apart(const std::string& expression);

}
