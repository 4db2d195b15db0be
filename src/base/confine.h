// Confinement: what a process gives up between vfork and exec, for itself and all that it starts.
#pragma once

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
};

// In the child, on its parent's memory: raw system calls only. 0, or errno.
int confine(const Confinement&);

}
