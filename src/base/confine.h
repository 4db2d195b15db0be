// Confinement: what a process gives up between vfork and exec, for itself and all that it starts.
#pragma once

#include <linux/filter.h>
#include <sys/resource.h>
#include <vector>

namespace ik {

struct ResourceLimit {
    int resource;    // RLIMIT_…
    rlim_t most;     // both the soft and the hard limit; never more than the hard limit that there is
};

struct Confinement {
    std::vector<ResourceLimit> limits = {};
    std::vector<int> join = {};   // control groups: see Cgroup::doors

    // With a rule set, it also gives up every capability, and for good: no program that it runs can give one back.
    int ruleset = -1;                          // of Landlock, borrowed
    std::vector<sock_filter> seccomp = {};     // the calls that are refused; empty: none
};

// In the child, on its parent's memory: raw system calls only. 0, or errno.
int confine(const Confinement&);

}
