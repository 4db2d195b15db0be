// discover: `ikigai discover`, the tools that there are.
#pragma once

#include "trust.h"
#include "world.h"

#include <string>

namespace ik {

// Every tool, asked and answered; waits for the slowest (1 s).
// trust: those of the project too. confine: the tools while they are asked.
Registry tools_found(const World&, bool trust, Registry::Confine confine = {});

// Prints them: for people, as JSON, or as the array that the provider called dialect would get.
// Exit status: 0, 1 when it could not be written, 2 for an unknown provider.
int discover(bool json, const std::string& dialect, const ProjectTrust&, const World&);

}
