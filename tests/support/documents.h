// The README and the manual pages as tests read them: lines, and the blocks that stand there to the letter.
#pragma once

#include <string>
#include <vector>

namespace ik::test {

using Lines = std::vector<std::string>;

std::string document(const std::string& name);   // from the root of the source; it is there
Lines lines_of(std::string text);
std::string joined(const Lines&);

// The lines between the one that begins with `from` and the next that begins with `to`.
Lines between(const Lines&, const std::string& from, const std::string& to);

// What a literal block says: the text between fences, or in .Bd -literal.
std::vector<Lines> blocks(const std::string& document);

// The block that names this file in its first or second line, as "# PATH" does, with or without more behind it.
std::string file_in(const std::string& document, const std::string& path);

// The commands: what stands behind "$ " in a line of its own (.Dl), between two lines as above.
Lines commands_in(const std::string& document, const std::string& from, const std::string& to);

}
