// Circumstances that a program may find itself in: without some system calls, with another root, in a namespace of its own.
#pragma once

#include "base/function_ref.h"
#include "support/world.h"

namespace ik::test {

// Runs it from a process in which change() has been called before, and which may give up what it likes.
Ran run_after(FunctionRef<void()> change, const Run&);

// For change(). Each ends the process, with a sentence, where it cannot be done.
void refuse_calls(const std::vector<unsigned>& numbers, int with);   // these system calls fail with that number, in all that comes
void refuse_option(unsigned of_prctl, int with);                     // so does this one of prctl
void own_mounts();                                                   // what is mounted from now on is seen by nobody else
void mount_at(const std::string& folder, const std::string& options = "", unsigned long flags = 0);   // an empty tmpfs there
void change_root(const std::string& folder);

}
