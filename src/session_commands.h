// Slash commands that are about conversations as they are kept.
#pragma once

#include "base/result.h"

#include <string_view>

namespace ik {

class Chat;

Status list_sessions(Chat&, std::string_view);
Status resume_session(Chat&, std::string_view id);
Status new_session(Chat&, std::string_view);
Status fork_session(Chat&, std::string_view);
Status mark_session(Chat&, std::string_view label);
Status rewind_session(Chat&, std::string_view what);      // a mark's label, or how many messages back
Status export_session(Chat&, std::string_view words);     // [markdown|jsonl|html] [FILE]

}
