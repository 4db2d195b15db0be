// Refusal: which path a program complains of when it was not let. Knows how programs say that, and no rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ik {

// The paths named where text says "Permission denied" and the like, as they stand there; at most 32.
std::vector<std::string> refused_paths(std::string_view text);

}
