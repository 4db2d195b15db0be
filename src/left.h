// Left: the processes that ended calls left running. They are found in /proc, since nobody tells of them: all
// that is below us and that we did not start.
#pragma once

#include "base/cgroup.h"
#include "base/family.h"
#include "base/poll.h"

namespace ik {

struct LeftProcess {
    int number;          // the same as long as it lives
    Relative process;
    std::string tool;    // who left it; empty where that cannot be known
    std::string command;
};

class Left {
public:
    // own: the processes that we started; they and all below them are not left. numbers: the last one given away.
    std::vector<LeftProcess> look(const std::vector<pid_t>& own, int& numbers);

    // Of those that were seen last: SIGTERM to it and all below it, after 2 s SIGKILL. false: there is no such number.
    bool stop(int number);

    void keep(Cgroup);      // until it is empty
    void tidy();            // removes those that are

    void add_to(Poll&) const;
    void advance();

private:
    struct Stopping { std::vector<Relative> all; Clock::time_point kill_at; };

    std::vector<LeftProcess> seen_;
    std::vector<Stopping> stopping_;
    std::vector<Cgroup> groups_;
};

// "bash left 2 processes running: 4711 sleep 1000, 4712 top; ended"; one line a tool.
std::string told(const std::vector<LeftProcess>&);

}
