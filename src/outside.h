// outside: a text while it is edited in the editor that the person prefers: $VISUAL, $EDITOR or vi, on a temporary file
// of mode 0600. The editor has the terminal meanwhile; it is in our process group, so that the shell's keys reach it.
// Passive, as a Child is.
#pragma once

#include "base/poll.h"
#include "base/process.h"
#include "base/temporary_file.h"

namespace ik {

class Outside {
public:
    // in, out: the terminal, whose modes are as the shell left them.
    static Result<Outside> start(std::string_view text, int in, int out);

    void add_to(Poll& poll) const { poll.read(process_.ended()); }
    bool ended();

    // The text as it is now, without the newline at its end; at most 8 MB. Error: the editor failed, and the text is
    // as it was.
    Result<std::string> finish();

private:
    Outside() = default;

    std::string command_;
    TemporaryName name_;
    Process process_;
    Exit exit_;
};

}
