// spill: output that is too long for the model. Long strings are cut in the middle and kept
// whole in files; the JSON stays whole. A tool's output of any size passes through in little memory.
#pragma once

#include "agent/wire.h"

namespace ik {

// Where the whole texts of one call go: FOLDER/CALL-MEMBER.txt, mode 0600. The folder (0700) is made when it is needed.
class Outbox {
public:
    Outbox(std::string folder, std::string call_id);

    // A new, empty file for that member; its path. Error: why there is none.
    Result<std::pair<Fd, std::string>> file(std::string_view member) const;
    std::string path(std::string_view member) const;
    const std::string& folder() const { return folder_; }

private:
    std::string folder_, call_;
};

// A tool's stdout as JSON. Strings of more than 64 KiB are kept whole in the outbox and
// stand in the answer with their two ends.
Output read_output(const Spool& out, const Outbox&);

// The envelope, encoded in at most max bytes: its longest strings are cut in the middle, with a line
// that says how much is missing and where it is. out: what the tool printed.
Json capped(Report report, const Spool& out, const Outbox&, std::size_t max = 51200);

}
