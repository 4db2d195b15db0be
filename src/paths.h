// paths: the names in a folder that a word could go on with, for completion.
#pragma once

#include "term/editor.h"

namespace ik {

// word: the begin of a path, with an @ before it or not, blanks in it as `\ `. Looks at 10,000 names at most, and gives
// 200; folders end with a /. Names that begin with a dot only where the word does. Names with characters that are
// not seen, or not UTF-8, are left out.
std::vector<term::Candidate> path_candidates(std::string_view word);

}
