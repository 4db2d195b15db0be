// guides: AGENTS.md, the notes that people leave for agents: the user's own, then those of the current
// folder and of the folders above it up to the repository's root. Reads at most 32 KB of them in all.
#pragma once

#include "agent/context.h"

namespace ik {

struct Guides {
    std::vector<Note> notes;              // with the path as seen from the current folder
    std::vector<std::string> left_out;    // "../AGENTS.md is left out: why"

    std::string line() const;             // "AGENTS.md 1.2 KB, ../AGENTS.md 300 B"; empty without notes
};

// A repository's root is the nearest folder with a .git that is ours, root's, or of the current folder's owner;
// the same goes for the files. A link in a repository may not lead out of it.
Guides read_guides();

}
