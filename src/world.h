// world: what a conversation and its tools need to know of the machine around them.
#pragma once

#include "agent/context.h"
#include "agent/registry.h"

namespace ik {

// What the tools' host needs to know of the outside.
struct World {
    std::string self;                  // our executable
    std::vector<Builtin> builtins;
};

// trust: those of the project too. confine: the tools while they are asked; none where they may do what we may.
Registry::Places tool_places(const World&, bool trust, Registry::Confine confine = {});

// What a project brings, seen from the current folder.
std::string history_file();   // of what was typed; empty where there is no home
std::string project_folder();
std::string project_tools();
std::string project_settings();

Place here();                  // the current folder, the host, the user, the system, the date
std::string new_id();          // 12 random hex digits

// Where the session keeps what is too long for the model: below the state folder where that can be written.
std::string outputs_folder(const std::string& id);

// Removes what sessions kept there and has not been touched for 30 days. Looks at 10,000 folders at most.
void sweep_outputs();

std::string sessions_file();   // the database of conversations; empty without a home

}
