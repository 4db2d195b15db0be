#include "base/poll.h"

#include "base/process.h"

namespace ik {

void Poll::add(int fd, short events)
{
    if (fd >= 0)
        set_.push_back({fd, events, 0});
}

bool Poll::ready(int fd) const
{
    return std::ranges::any_of(set_, [&](auto& p) { return p.fd == fd && p.revents; });
}

void Poll::wait()
{
    // Without pidfd a SIGCHLD is heard here, and whoever waits for a child looks for itself.
    int bell = child_bell();
    add(bell, POLLIN);
    int limit = -1;
    if (deadline_) {
        auto left = std::chrono::ceil<milliseconds>(*deadline_ - Clock::now()).count();
        limit = static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
    }
    ::poll(set_.data(), set_.size(), limit);
    if (bell >= 0 && ready(bell))
        silence_child_bell();
}

}
