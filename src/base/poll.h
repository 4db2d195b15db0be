// Poll: one turn of a loop. The descriptors are named anew each turn.
#pragma once

#include "base/fd.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <poll.h>
#include <vector>

namespace ik {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class Poll {
public:
    void read(const Fd& fd) { add(fd.get(), POLLIN); }
    void write(const Fd& fd) { add(fd.get(), POLLOUT); }
    void read(int fd) { add(fd, POLLIN); }

    void urgent(const Fd& fd) { add(fd.get(), POLLPRI); }   // a file of the kernel's that tells of changes

    // The turn ends then at the latest. The earliest of several counts.
    void until(Clock::time_point when) { deadline_ = deadline_ ? std::min(*deadline_, when) : when; }

    // Sleeps until a descriptor is ready, a child has ended, or the deadline is there.
    void wait();

    bool ready(const Fd& fd) const { return fd && ready(fd.get()); }
    bool ready(int fd) const;

private:
    void add(int fd, short events);
    std::vector<pollfd> set_;
    std::optional<Clock::time_point> deadline_;
};

}
