// Seccomp: which system calls a process may not make, as a program for the kernel. Knows no policy of paths.
#pragma once

#include <linux/filter.h>
#include <vector>

namespace ik {

struct Refused {
    bool sockets = false;       // all but pairs of them
    bool unix_sockets = true;   // AF_UNIX, but pairs
    bool attributes = false;    // truncate, and the chmod, chown, xattr and time families
    bool truncating = false;    // what Landlock cannot see before version 3: truncate, and opening for reading with O_TRUNC
};

// Calls that reach into other processes, mounts, namespaces, keys or the kernel itself are always refused (EPERM);
// clone3 is not there (ENOSYS), so that the flags of clone can be looked at. A foreign architecture ends the process.
// Empty where this architecture's numbers are not known here.
std::vector<sock_filter> seccomp_program(const Refused&);

}
