// context: what the model is told besides the conversation.
#pragma once

#include "agent/registry.h"

namespace ik {

struct Place {
    std::string folder, host, user, system, date;   // date: 2026-11-21
};

// A file of notes about how work is done here, AGENTS.md.
struct Note {
    std::string path, text;
};

// Small, and the same for a whole conversation, so that providers' prompt caches hit. The notes come after
// it, each with its path.
std::string system_text(const Place&, std::span<const Note> notes = {});

// What providers are offered: name, description, parameters of each tool; only those named, where any are.
Json offered_tools(std::span<const Tool> tools, std::span<const std::string> only = {});

}
