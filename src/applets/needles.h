// needles: what each match of an expression must hold: one of a few short runs of bytes, each byte out of a set.
#pragma once

#include "applets/pattern_tree.h"

namespace ik {

using Needle = std::vector<ByteSet>;

struct Needles {
    std::vector<Needle> any_of;   // 1 to 16, each of 1 to 32 sets
    double share = 1;             // of the positions of a source text, about, that begin like one of them
    bool whole = false;           // and each line that holds one matches
};

// How often something is found in the text of programs, about: 0 to 1. Of a needle its three rarest sets count.
double share_of(const ByteSet&);
double share_of(const Needle&);

// Those that are rarest in the text of programs. Nothing where no run is known.
std::optional<Needles> needles_of(const PatternTree&);

}
