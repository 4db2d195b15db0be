// Apart: work in a process of its own, which may hang, crash or want too much memory without harm to the caller.
#pragma once

#include "base/function_ref.h"
#include "base/poll.h"

#include <string>

namespace ik {

struct Outcome {
    enum Ending { done, late, died } ending;
    std::string bytes;       // what the work returned
};

// memory: what the process may have more than this one, in bytes; there is no limit under a sanitizer.
// The work may call nothing that needs other threads of this process.
Outcome work_apart(FunctionRef<std::string()> work, Clock::time_point until, std::size_t memory);

}
