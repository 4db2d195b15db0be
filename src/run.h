// Run: one tool through the host, as the model would be answered.
#pragma once

#include "audit.h"
#include "sandbox.h"
#include "tool_rules.h"
#include "trust.h"
#include "world.h"

#include <optional>
#include <string>

namespace ik {

struct RunOptions {
    std::string tool;                          // its name, with _ or -
    std::optional<std::string> arguments;      // a JSON object; none: from standard input
    ToolRules rules;                           // limits and grants
    ProjectTrust project;
    Audit::To audit{};
    SandboxWish sandbox;
};

// Prints the envelope. Exit status: 0 when the tool succeeded, else 1; 2 usage.
int run_tool(RunOptions, const World&);

}
