// Policy: whether a tool call may happen, must be asked about, or may not, and why. A value in, a value out: asks
// nobody, starts nothing, and knows of the machine only what Facts say.
#pragma once

#include "agent/rule.h"
#include "agent/session.h"
#include "base/function_ref.h"

#include <optional>

namespace ik {

// The later the tighter.
enum class Approve {
    automatic,   // what the sandbox holds is free; a step outside asks
    edits,       // files of the workspace are free, commands ask
    ask,         // every change asks, and the network
    plan,        // nothing may change
};
std::optional<Approve> approve_named(std::string_view name);   // auto, edits, ask, plan
std::string_view name_of(Approve);

struct Policy {
    Approve approve = Approve::ask;
    std::vector<Rule> allow, ask, deny;   // deny counts more than ask, ask more than allow
    Approve loosest = Approve::automatic; // that the administrator lets a user choose
    bool closed = false;                  // allow is the administrator's alone: no rule may be added
};

// What the host knows of the call and the machine.
struct Facts {
    bool sandboxed = false;    // a child of this call would be confined
    bool ours = false;         // the tool is our own executable
    std::string folder;        // the current one, absolute
    FunctionRef<bool(const std::string& path)> may_write;           // the sandbox (or, without one, the workspace) holds the path
    FunctionRef<std::string(const std::string& path)> resolve;      // absolute, links followed as far as they exist
};

struct Verdict {
    enum class Kind { allow, ask, deny };
    Kind kind = Kind::ask;
    std::string reason;       // one sentence, for the question or for the model; empty where it is allowed
    std::string always;       // the rule that would allow this call from now on; empty where there is none to offer
    bool outside = false;     // it can only succeed outside the sandbox

    friend bool operator==(const Verdict&, const Verdict&) = default;
};

Verdict decide(const Policy&, const ToolCall&, const Facts&);

}
