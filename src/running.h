// Running: one tool call while it runs: its child, its limits, what it has said so far. Passive, as a Child is.
// Knows nothing of the other calls.
#pragma once

#include "agent/wire.h"
#include "base/cgroup.h"
#include "base/family.h"
#include "confined.h"
#include "spill.h"
#include "tool_rules.h"

namespace ik {

// How a call ended.
struct Finished {
    ToolCall call;
    Json envelope;          // as the model sees it: capped
    Notices notices;        // for the user
    std::string words;      // its other stderr
    milliseconds duration{};
    bool refused = false;   // the sandbox may have refused something
};

class Running {
public:
    struct Plan {
        int number;              // of the call in its session
        std::string session;     // its id
        std::string outputs;     // folder for what is too long
        std::string output;      // an empty file that the tool may write to while it runs; empty: none
        ToolLimits limits;
        ToolGrants grants;
        Cgroups* cgroups;        // borrowed for the start; none: the other means are used
        Sandbox* sandbox;        // borrowed; none: the tool may do what we may
    };

    // Error: INVALID_PARAMS, TOOL_CRASHED: it cannot be started.
    static Result<Running> start(const Tool&, ToolCall, Plan);

    void add_to(Poll&) const;
    void advance(const Poll&);
    void cancel();
    void put_in_background() { background_ = true, child_.lift_limit(); }

    bool ended() const { return child_.exit.has_value(); }
    Finished finish();             // once it has ended
    Cgroup take_cgroup() { return std::move(cgroup_); }   // what it left lives there

    int number() const { return number_; }
    const ToolCall& call() const { return call_; }
    pid_t id() const { return leader_; }
    bool sandboxed() const { return sandbox_ != nullptr; }
    bool background() const { return background_; }
    milliseconds age() const { return std::chrono::duration_cast<milliseconds>(child_.age()); }
    milliseconds limit() const { return limits_.time; }
    std::string output_so_far() const;     // the end of it
    std::string output_file() const;       // where it grows; empty where it does not
    const std::string& output_path() const { return output_; }

private:
    Running(int number, ToolCall call, Child child, Outbox outbox) : number_(number), call_(std::move(call)), child_(std::move(child)), printed_(std::move(outbox)) {}

    void look_at_processes(const Poll&);
    bool too_many_processes();
    void only_own(std::vector<Relative>&) const;
    void end_all(pid_t except);

    int number_;
    ToolCall call_;
    Child child_;
    Printed printed_;
    pid_t leader_ = 0;
    std::string session_;
    std::string output_;     // the file that the tool may write to while it runs
    ToolLimits limits_;
    Sandbox* sandbox_ = nullptr;
    Cgroup cgroup_;
    bool cancelled_ = false, background_ = false, too_many_ = false;
    std::optional<Clock::time_point> look_at_;   // where the kernel does not tell of too many processes: when we look
    long least_threads_ = 0;
};

// The arguments without nulls that the schema does not require. Error: INVALID_PARAMS, "Tool 'x': why".
Result<Json> fitting_arguments(const Tool&, const Json& arguments);

}
