// Slash commands: a table. None of them talks to the model but /compact.
#pragma once

#include <string_view>

namespace ik {

class Chat;

// Runs "/name arguments". An error is said once, here.
void run_command(Chat&, std::string_view line);

}
