// Sandboxed: `ikigai sandbox`: a command, confined as tools are, with our terminal.
#pragma once

#include "sandbox.h"

namespace ik {

// A sentence where a sandbox is wished for and this kernel has none. Nothing runs then: it is never pretended.
std::optional<std::string> cannot_sandbox(const SandboxWish&);

// Exit status: the command's; 127 where it cannot be started; 1 where the kernel cannot sandbox.
int run_sandboxed(std::vector<std::string> words, SandboxWish);

}
