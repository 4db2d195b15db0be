// Slash commands: a table. None of them talks to the model but /compact.
#pragma once

#include "term/editor.h"

#include <string_view>
#include <vector>

namespace ik {

class Chat;

// Runs "/name arguments". An error is said once, here.
void run_command(Chat&, std::string_view line);

// Whether the line is a command that is obeyed while the model or a tool is at work.
bool is_for_any_time(std::string_view line);
std::vector<term::Candidate> command_candidates();

}
