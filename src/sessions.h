// sessions: `ikigai sessions`: what has been kept of conversations: listed, shown, searched, exported, removed.
// Opens the database itself, for as long as it runs.
#pragma once

#include "base/result.h"

#include <vector>

namespace ik {

// What the command line says after `ikigai sessions`.
struct SessionsWords {
    std::string action = "list";
    std::vector<std::string> ids;      // also: what to search for
    bool json = false, all = false, yes = false;
    int limit = 0;                     // 0: all
    std::string format = "markdown", file;
};

// The status of the program.
int sessions(const SessionsWords&);

// For completion: the actions, and what the words behind one are: "ID", "FILE", or nothing that can be named.
std::vector<std::string> session_actions();
std::string_view session_action_takes(std::string_view action);

}
