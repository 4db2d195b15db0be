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

Registry::Places tool_places(const World&, bool trust);

std::string project_tools();   // the folder of tools that a project brings
bool is_home();                // the current folder is the home: its tools are the user's own

Place here();                  // the current folder, the host, the user, the system, the date
std::string new_id();          // 12 random hex digits

// Where the session keeps what is too long for the model: below the state folder where that can be written.
std::string outputs_folder(const std::string& id);

std::string sessions_file();   // the database of conversations; empty without a home

}
