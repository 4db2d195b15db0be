// Charset: the bytes of a page as UTF-8. Uses no library and no file of the system.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace ik {

struct Encoded {
    std::string_view bytes;
    std::string_view label = {};   // what the Content-Type says; may be empty
    bool markup = false;           // HTML or XML, which may name its charset itself
    bool cut = false;              // the last character may be missing its end: it is left out
};

// A byte order mark counts first, then the label, then what the markup says in its first kilobyte; then it is UTF-8 where
// it can be, or else windows-1252. Labels as in the WHATWG's Encoding Standard; of one that is not known here the bytes may still be UTF-8.
// What is no character becomes U+FFFD.
// Error: UNSUPPORTED_TYPE, "the charset shift_jis is not supported".
Result<std::string> to_utf8(const Encoded&);

}
