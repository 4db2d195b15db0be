// rules: what the settings, the rules that "always" has written and the administrator's bound say, joined into the
// policy of a conversation. Decides nothing about a call.
#pragma once

#include "agent/policy.h"
#include "settings.h"

#include <sys/types.h>

namespace ik {

struct Rules {
    Policy policy;
    std::string sandbox;                  // the loosest that /etc/ikigai/policy.json permits; empty where it does not say
    std::vector<std::string> warnings;    // sentences; the rules they name do not count
};

struct RuleSources {
    std::string root = {};        // in front of /etc
    uid_t owner = 0;              // who must own the bound
    bool can_sandbox = false;     // without `approve` it is auto then, else ask
};

// Error: USAGE, a bound that is there and cannot be kept: not the owner's, writable by others, broken, with a rule in
// `ask` or `deny` that is none. Nothing may run then.
Result<Rules> read_rules(const Settings&, const RuleSources&);

// Appends to `allow` of rules.json in the configuration's folder, which is made where it is missing. Nothing happens
// when the rule is there. Error: INVALID_ARG for a rule that is none, or a file that is broken, which stays as it is; those of files.
Status add_rule(const std::string& text);

}
