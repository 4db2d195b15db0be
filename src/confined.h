// Confined: what the sandbox has to do with a tool call: what the tool may read though it is protected, and how the call went.
#pragma once

#include "agent/registry.h"
#include "sandbox.h"
#include "tool_rules.h"

namespace ik {

// Files that this tool may read though nobody else may: those that it is granted, and of the web searches their keys.
std::vector<std::string> readable_files(const Tool&, const ToolGrants&);

struct Aftermath {
    std::string hint;       // for the model; mostly empty
    bool refused = false;   // the sandbox may have refused something
};

// Puts back what tools must not change, and looks for what the envelope complains of.
Aftermath aftermath(Sandbox&, const Json& envelope);

}
