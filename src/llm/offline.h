// The provider that is always there: no network, no model. It understands a table of plain
// English sentences, calls the tools that they ask for and says in words what came back.
#pragma once

#include "base/json.h"

namespace ik::providers {

// All lines of the answer, `done` last.
std::vector<Json> offline_answer(const Json& ask);

// What offline understands: one example a sentence form.
std::vector<std::string_view> offline_examples();

}
