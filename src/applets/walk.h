// walk: the paths that match a glob pattern. Knows names and folders, not what is in the files.
#pragma once

#include "base/function_ref.h"
#include "base/result.h"

#include <vector>

namespace ik {

struct Search {
    std::string pattern;           // as glob(3) reads it in the C locale; ** as a whole component matches any depth
    std::string path = {};         // where to begin, taken literally; empty is the current folder, not shown in the results
    bool regular_only = false;     // leave out folders, symbolic links and devices
};

// Keeps the first path that could not be opened or read, and why: errno. What may not be read, is gone, or is of a kind that
// is not read is passed over without a word; not so a disk that is broken, or a want of memory.
void note_unread(std::string& first, const std::string& path);

// Every path that matches, to found, until that returns false. The paths come in byte order, while the walk goes on; so
// an error may come behind some of them.
Status walk(const Search&, FunctionRef<bool(const std::string& path)> found);

// Every path once, in byte order. Without ** the answer is that of glob(3), but in byte order with a path too.
// ** enters no hidden folder and no symbolic link; at the end of a pattern it is everything below, but not
// the folder it begins in. Folders that cannot be read, and those whose path is longer than the system allows, are skipped.
// Errors, in glob's words: INVALID_PATTERN for a pattern that is empty or longer than any path; READ_ERROR when a
// folder that may be read could not be, with what there was besides and a hint that names it; OUT_OF_MEMORY.
Result<std::vector<std::string>> walk(const Search&);

}
