#include "base/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace ik {

Signals::Signals(std::initializer_list<int> numbers)
{
    sigset_t set;
    sigemptyset(&set);
    for (int number : numbers)
        sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<int> Signals::take()
{
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info)
        return {};
    return static_cast<int>(info.ssi_signo);
}

void die_of(int number)
{
    sigset_t none;
    sigemptyset(&none);
    std::signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    raise(number);
    _exit(128 + number);
}

}
