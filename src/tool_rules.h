// Tool rules: what one tool may use, and what it is granted, as the settings say. Enforces nothing.
#pragma once

#include "agent/registry.h"
#include "base/poll.h"

#include <cstdint>

namespace ik {

struct Settings;

struct ToolLimits {
    milliseconds time = std::chrono::seconds(30);
    std::uint64_t memory = 0;               // bytes, of all its processes together where a control group can be made; 0: none
    std::uint64_t output = 256u << 20;      // bytes on its stdout
    std::uint64_t files = 0;                // open descriptors of each process; 0: as many as we may
    std::uint64_t processes = 4096;         // and threads, at a time; 0: none
    std::uint64_t disk = 0;                 // bytes in each file that it writes; 0: none
};

struct ToolGrants {
    std::vector<std::string> env;    // variables that it sees although they look like secrets
    std::vector<std::string> read;   // files that it may read although they are protected
};

// The limits and grants of every tool, by its name or by its path.
class ToolRules {
public:
    ToolRules() = default;
    ToolRules(milliseconds time) { standard_.time = time; }
    explicit ToolRules(const Settings&);

    void set_time(milliseconds time) { time_ = time; }   // for every tool, whatever the settings say

    ToolLimits limits(const Tool&) const;

    // A tool of a project has them by its whole path only: a stranger may have called it anything.
    ToolGrants grants(const Tool&) const;

private:
    ToolLimits standard_;
    std::optional<milliseconds> time_;
    Json named_ = Json::Object{};   // the setting "tools"
};

}
