// Host: runs tool calls as children, all at once, and turns each end into an envelope. Passive: the
// caller polls, then lets it advance. Knows no model and no terminal.
#pragma once

#include "left.h"
#include "running.h"

#include <functional>

namespace ik {

// What runs because of us, for a person.
struct Job {
    enum class State { running, background, left };
    int number;
    pid_t id;
    std::string tool, command;
    milliseconds age{};
    std::optional<milliseconds> limit = {};   // of its time
    State state = State::running;
};

class Host {
public:
    struct Options {
        std::string session;                // its id
        std::string outputs;                // folder for what is too long; made when needed, and gone with the host where it is empty
        ToolRules rules = {};
        Sandbox* sandbox = nullptr;         // borrowed; none: tools may do what we may
        std::function<std::optional<std::string>(const Tool&)> objection = {};   // asked just before a start: why not
        std::string cgroup_root = "";       // in front of /proc and /sys, where control groups are looked for: for tests
    };

    // The end of a call that had been put into the background.
    struct Ended {
        int number;
        Finished finished;
    };

    explicit Host(Options options) : options_(std::move(options)), cgroups_("ikigai-" + options_.session, options_.cgroup_root) {}
    ~Host();

    // Starts the tool with the call's arguments. A call that cannot start is finished at once.
    // outside: of the sandbox.
    void run(const Tool* tool, const ToolCall& call, bool outside = false);
    void cancel();   // stops every running call that is not in the background; each is still reported
    bool busy() const { return running() > 0 || !finished_.empty(); }
    std::size_t running() const;   // calls that are not in the background

    void add_to(Poll&) const;
    void advance(const Poll&);
    std::vector<Finished> take_finished() { return std::exchange(finished_, {}); }
    std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }

    // The call finishes now, with what there is so far, and goes on without its time limit; its number.
    // Error: TOOL_NOT_FOUND: no such call runs.
    Result<int> put_in_background(std::string_view call_id);
    Result<int> put_in_background(int number);

    // The calls that run, then what ended calls left. others: processes that the caller started itself.
    std::vector<Job> jobs(const std::vector<pid_t>& others = {});
    std::vector<Job> calls() const;   // without a look at what was left
    std::vector<LeftProcess> left(const std::vector<pid_t>& others = {});
    bool stop(int number);            // of jobs(); false: there is none

    // Takes leave of processes that were left and have ended. Between two turns of a loop; others as above, all of them.
    void tidy(const std::vector<pid_t>& others = {});

private:
    // An empty file that the next call may write to while it runs: one that an earlier call had, or a new one.
    std::string take_output();
    void give_back_output(const std::string& path, bool nobody_has_it);

    void refuse(ToolCall call, Json envelope);
    void finish(Running&);
    int put_in_background(Running&);
    std::vector<pid_t> own(std::vector<pid_t> others) const;

    Options options_;
    Cgroups cgroups_;
    int numbers_ = 0;       // the last one that was given away, to a call or to a process
    std::vector<std::string> unused_;   // such files
    std::vector<Running> running_;
    std::vector<Finished> finished_;
    std::vector<Ended> ended_;
    Left left_;
};

}
