// Signals: the ones that ask a program to end, as something to read in a poll loop.
#pragma once

#include "base/fd.h"

#include <csignal>
#include <initializer_list>
#include <optional>

namespace ik {

// From its making on these signals wait to be taken; SIGPIPE is ignored.
class Signals {
public:
    explicit Signals(std::initializer_list<int> numbers = {SIGTERM, SIGINT, SIGHUP});

    const Fd& fd() const { return fd_; }
    std::optional<int> take();   // the next one that has come; never waits

private:
    Fd fd_;
};

// Ends this process as the signal would have, so that whoever waits can tell.
[[noreturn]] void die_of(int number);

}
