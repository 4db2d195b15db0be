// consent: what a person is shown of a project, and the question whether to trust it; `ikigai trust`.
#pragma once

#include "trust.h"

namespace ik {

// Asks the person at the terminal; what was typed before the question is no answer to it. Anything but a word
// that begins with y is a no.
bool says_yes(const std::string& question);

// Before a conversation on a terminal: shows what the project would run and set, and asks. A yes is remembered.
// Does nothing where there is nothing to ask, or nobody.
void ask_about(ProjectTrust&);

struct TrustWords {
    std::string folder = ".";
    bool yes = false, list = false, remove = false;
};

// Exit status: 0; 1 where it is not trusted in the end, or was not there to be removed; 2 where there is nobody to ask,
// no such folder, or nothing in it to trust.
int trust_command(const TrustWords&);

}
