// Standby: a process that is started and confined ahead of time, and waits for the program that it is to become. So
// what the kernel needs to confine it is spent before anybody waits for it. Knows nothing of tools.
#pragma once

#include "base/process.h"

#include <optional>

namespace ik {

class Standby {
public:
    // waiter: a program that calls stand_by(), with its arguments. Error: as of Process::start.
    static Result<Standby> start(std::vector<std::string> waiter, const Confinement&);

    pid_t id() const { return process_.id(); }
    bool waits();   // it is still there

    // It becomes the program, with its own files, limits and control groups; its session and the rest of its confinement
    // it has had from the start. Nothing where that cannot be: then it is gone, and the program never ran.
    std::optional<Process> become(const Program&) &&;

private:
    Process process_;
    Fd socket_;
};

// In the waiter, whose stdin is the socket: becomes the program that is asked for. Returns where it cannot, with an exit
// status: 0 when none is asked for any more, 2 where there is no such socket, 127 when it cannot be started.
int stand_by();

}
