// Process: one process that we started, the leader of its own session, and its end.
// The one vfork routine of ikigai is here.
#pragma once

#include "base/confine.h"
#include "base/fd.h"

#include <sys/types.h>
#include <vector>

namespace ik {

// How a process ended. signal is 0 unless one killed it.
struct Exit {
    int code = 0;
    int signal = 0;

    int status() const { return signal ? 128 + signal : code; }   // as a shell says it
    friend bool operator==(const Exit&, const Exit&) = default;
};

struct Program {
    std::vector<std::string> argv;   // argv[0] is run as it is: no search in PATH
    std::vector<std::string> env;    // "NAME=value", all of it
    int in = 0, out = 1, err = 2;    // what becomes its 0, 1 and 2
    bool own_session = true;         // setsid, so that it has no terminal and is a group of its own
    bool outlives_us = false;        // it ends by itself, when its input does: neither our death nor ~Process kills it
    const Confinement* confinement = nullptr;   // borrowed; none: it may do what we may
};

// The environment of this process.
std::vector<std::string> environment();

class Process {
public:
    // The number of no process: a signal to it reaches nobody, where one to -1 would reach everybody.
    static constexpr pid_t nobody = 0x7FFFFFFF;

    Process() = default;
    Process(Process&& other) noexcept : id_(std::exchange(other.id_, nobody)), ended_(std::move(other.ended_)), outlives_us_(other.outlives_us_) {}
    Process& operator=(Process&& other) noexcept { std::swap(id_, other.id_); std::swap(ended_, other.ended_); std::swap(outlives_us_, other.outlives_us_); return *this; }
    ~Process();   // SIGKILL to the group of a process that still runs, unless it outlives us

    // The process dies with this one (PR_SET_PDEATHSIG) unless it outlives us, starts with no signal blocked and with SIGPIPE and SIGXFSZ at their defaults.
    // Error: SPAWN_FAILED, "PATH: why".
    static Result<Process> start(const Program&);

    pid_t id() const { return id_; }             // nobody when it does not run
    const Fd& ended() const { return ended_; }   // readable once it has ended; no descriptor where the kernel has no pidfd
    bool running() const { return id_ != nobody; }
    void signal_group(int number) const;

    // Its exit, when it comes; nothing else goes on meanwhile.
    Exit wait();

    // Its exit once it has ended; never waits. After that it is no longer running.
    // with_group: what is left of its group is killed first, while the number is still its own.
    bool reap(Exit& exit, bool with_group = false);

private:
    pid_t id_ = nobody;
    Fd ended_;
    bool outlives_us_ = false;
};

// Where the kernel has no pidfd: readable after any child has ended. -1 where it is not needed.
int child_bell();
void silence_child_bell();

}
