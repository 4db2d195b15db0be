// Landlock: what a process may do with which part of the file tree, as the kernel's rule sets have it.
// Knows no policy. The kernel's own constants are written here, since the headers of an older system lack some.
#pragma once

#include "base/fd.h"

#include <cstdint>

namespace ik::landlock {

using Rights = std::uint64_t;
inline constexpr Rights execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_dir = 1 << 3, remove_dir = 1 << 4, remove_file = 1 << 5,
                        make_char = 1 << 6, make_dir = 1 << 7, make_reg = 1 << 8, make_sock = 1 << 9, make_fifo = 1 << 10, make_block = 1 << 11,
                        make_sym = 1 << 12, refer = 1 << 13, truncate = 1 << 14, ioctl_dev = 1 << 15;

inline constexpr Rights reading = execute | read_file | read_dir;
// Devices are not made by anybody, and refer lets a file move between folders that may both be written.
inline constexpr Rights writing = write_file | truncate | remove_dir | remove_file | make_dir | make_reg | make_sock | make_fifo | make_sym | refer;

// The version that the kernel has; 0, and errno, where it has none, Landlock is not switched on, or it is refused.
int abi();

// Everything that the version knows of is refused, but what is allowed.
class Ruleset {
public:
    // no_tcp: from version 4 on, TCP is refused too. Error: SPAWN_FAILED, why the kernel would not.
    static Result<Ruleset> make(int abi, bool no_tcp);

    // The rights on a folder and all beneath it, or on one file; on what is not there, or a symbolic link, none.
    void allow(const std::string& path, Rights);
    void allow(int folder, const char* name, Rights, unsigned char type);   // type: as readdir(3) has told; no link

    int fd() const { return fd_.get(); }

private:
    Fd fd_;
    Rights known_ = 0;
};

}
