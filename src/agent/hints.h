// hints: what well-known programs say when there is no terminal to ask on, and what would help instead.
#pragma once

#include "base/json.h"

namespace ik {

// For the model, where the call failed with one of the known messages in its answer or in words, its stderr.
// Empty: nothing is known.
std::string_view hint_for(const Json& envelope, std::string_view words);

}
