// preview: what a tool call is about to do, as a person must see it who is to decide: the command, the change of a
// file, or the arguments. Reads at most 1 MB of a file and shows nothing itself. Control characters, marks that turn
// text and whatever is invisible stand in it as ^X and <U+200B>.
#pragma once

#include "agent/session.h"
#include "base/diff.h"

namespace ik {

struct Preview {
    std::string subject;                 // one line: "bash", "file_write src/a.cc"
    std::vector<std::string> lines;      // of the command, or of the arguments
    std::vector<Hunk> hunks;             // of a file that is to change
    std::string note;                    // one sentence where more is to be said: a new file, no text, too large; or empty
};

// path of a file: as the tool would open it, from the current folder.
Preview preview_of(const ToolCall&);

}
