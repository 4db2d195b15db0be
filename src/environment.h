// environment: what a child is told of our variables. Tools get no secrets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ik {

// Whether the variable looks like a secret, by its name or by its value.
bool looks_secret(std::string_view name, std::string_view value);

// Our variables without those that look like secrets, except the ones named in granted.
std::vector<std::string> without_secrets(const std::vector<std::string>& environment, const std::vector<std::string_view>& granted = {});

// Moves the values of variables that look like secrets to where /proc/PID/environ does not show them. They can
// still be read by this process; forget() removes those that are named.
void hide_secrets();
void forget(const std::vector<std::string>& names);

void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value);

// For a tool: no secrets, nothing that waits for a person or colours its output.
// The web searches keep their own keys, and every tool what it is granted. call: its number in the session.
struct ToolPlace { std::string_view tool, session, output, temporary; int call = 0; };
std::vector<std::string> tool_environment(const ToolPlace&, const std::vector<std::string>& granted = {});

}
