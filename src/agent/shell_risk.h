// shell_risk: what a command does beyond what its first words say: commands that run others or change the shell,
// options that write a file or run a program. Tables; knows no rules.
#pragma once

#include "agent/shell_split.h"

namespace ik {

bool runs_others(std::string_view name);       // env, sudo, sh, xargs, …: what is inside is another command
bool reads_commands(std::string_view name);    // of those, the ones whose commands may come from anywhere: sh, eval, xargs
bool changes_shell(std::string_view name);     // export, alias, cd, …: what comes later means something else
bool changes_nothing(std::string_view name);   // true, exit, …: needs no rule
bool harmless(std::string_view name);          // has no option or operand that writes or runs something, and reads no settings of a folder

// Why a command is not covered by a rule that names its first words (from: how many); empty when it is.
std::string risk(const ShellCommand&, std::size_t from);

// Why a redirection writes, or may; empty when it does not.
std::string risk(const ShellRedirection&);

}
