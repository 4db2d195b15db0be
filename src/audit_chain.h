// audit_chain: what a line of the audit log is, and whether the lines of one are a whole chain. Each entry holds
// the hash of the one before it, and its own: the SHA-256 of its line as it is without `,"hash":"…"`.
#pragma once

#include "base/json.h"

#include <istream>
#include <optional>

namespace ik::audit {

// Which entry it is.
struct Head {
    std::int64_t seq = 0;   // 1, 2, …; 0: there is none
    std::string hash;

    friend bool operator==(const Head&, const Head&) = default;
};

// The line of the entry that follows on one, without a newline; its own head.
std::pair<std::string, Head> sealed(Json::Object entry, const Head& before);

// What a line is: an entry whose hash is right; one whose hash is wrong; no entry at all.
struct Line {
    enum { entry, changed, none } what = none;
    Head head = {};
    std::string prev = {};
};
Line read_line(std::string_view line);

// The last entry in the end of a log that is right.
Head last_entry(std::string_view end_of_log);

struct Verdict {
    std::int64_t entries = 0;    // that are right, up to the first break
    std::int64_t torn = 0;       // lines that are no entries, while none is missing from the chain
    std::int64_t first_torn = 0; // its number
    std::string broken;          // "line 7: why"; empty where the chain is whole
    Head last;

    std::string sentence() const;
};
Verdict verify(std::istream& log);

}
