// StoredEvent: one event of a conversation as it is kept, and the lines that it travels in.
// Knows no database and nothing of what the kinds mean to a model.
#pragma once

#include "base/json.h"

namespace ik {

struct StoredEvent {
    std::string session;
    std::int64_t seq = 0;      // counts up in a session; a branch counts on from where it left its parent
    std::string kind;          // user, assistant, tool_call, tool_result, usage, command, mark, rewind, fork, interrupted, config_required, system, compaction
    std::string content = {};  // text, for people and for the search
    Json data = {};            // the rest; null: none
    std::string time = {};     // 2026-11-22T01:02:03.004Z
    std::string provider = {}, model = {}, folder = {};

    friend bool operator==(const StoredEvent&, const StoredEvent&) = default;
};

// {"type":"event","session":…,"seq":…,…} without its newline. Members that are empty are left out.
std::string line_of(const StoredEvent&);

// Error: INVALID_ARG.
Result<StoredEvent> event_of(const Json& line);

// Letters, digits, - and _, 64 at most: a session's id is also a folder's name.
bool valid_id(std::string_view id);

// A session in a list.
struct SessionRow {
    std::string id, title, folder, created, updated, provider, model;
    std::int64_t tokens = 0, events = 0;
    std::string parent = {};          // the session that this is a branch of
    std::int64_t parent_seq = 0;      // the last event that they share
};
Json json_of(const SessionRow&);
SessionRow row_of(const Json&);

// Where words were found.
struct Hit {
    std::string session;
    std::int64_t seq = 0;
    std::string kind, time, title, snippet;
};
Json json_of(const Hit&);

}
