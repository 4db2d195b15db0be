// What the bytes of a frame may do to a terminal.
#pragma once

#include "fuzz/fuzz.h"

#include <cstdlib>

namespace ik::fuzz {

// row: of the live rows, where the cursor is before. Nothing above the first one is reached, and no sequence is sent
// but those that a view has.
inline void claim_tame(std::string_view bytes, long row)
{
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto c = static_cast<unsigned char>(bytes[i]);
        if (c == '\n') ++row;
        if (c != 0x1b) {
            claim(c >= 0x20 ? c != 0x7F : c == '\n' || c == '\r' || c == '\t', "no control character is sent");
            continue;
        }
        auto end = bytes.find_first_not_of("0123456789;?", i + 2);
        claim(i + 1 < bytes.size() && bytes[i + 1] == '[' && end != bytes.npos, "a sequence is whole");
        char what = bytes[end];
        claim(std::string_view("mhlKJABC").find(what) != std::string_view::npos, "a sequence is one of ours");
        long n = std::atol(std::string(bytes.substr(i + 2, end - i - 2)).c_str());
        if (what == 'A') row -= n ? n : 1;
        if (what == 'B') row += n ? n : 1;
        claim(row >= 0, "what is finished is not touched");
        i = end;
    }
}

}
