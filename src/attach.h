// attach: the files that a message names with @, read in behind it. Reads regular files only, at most 256 KB of each
// and 1 MB of all.
#pragma once

#include "base/function_ref.h"

#include <string>
#include <string_view>
#include <vector>

namespace ik {

struct Attached {
    std::string text;                    // the message, each file behind it as a block of code with its name
    std::vector<std::string> names;      // of the files that are in it
    std::vector<std::string> refused;    // a sentence for each that is there but is not in it, and why
};

// The words of a message that begin with @, without it, each once; `\ ` is a blank in one.
std::vector<std::string> named_files(std::string_view message);

// may_read: whether what lies at a path, from the current folder, may be shown to the model. What names no file is
// a word like any other.
Attached attach(std::string_view message, FunctionRef<bool(const std::string& path)> may_read);

}
