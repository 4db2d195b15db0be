#include "applets/apart.h"

#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ik {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool limited = false;   // its shadow is terabytes
#else
constexpr bool limited = true;
#endif

void limit(int resource, std::size_t size)
{
    rlimit both{size, size};
    setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

[[noreturn]] void do_work(FunctionRef<std::string()> work, const Fd& out, std::size_t memory)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    if (limited) limit(RLIMIT_AS, memory);
    try {
        _exit(write_all(out.get(), work()) ? 0 : 1);
    } catch (...) {   // no memory
        _exit(1);
    }
}

// False when the time is over before the end.
bool read_all(const Fd& in, Clock::time_point until, std::string& out)
{
    char bytes[65536];
    while (Clock::now() < until) {
        Poll poll;
        poll.read(in);
        poll.until(until);
        poll.wait();
        if (!poll.ready(in))
            continue;
        auto n = read_some(in.get(), bytes, sizeof bytes);
        if (n <= 0)
            return true;
        out.append(bytes, static_cast<std::size_t>(n));
    }
    return false;
}

}

Outcome work_apart(FunctionRef<std::string()> work, Clock::time_point until, std::size_t memory)
{
    auto pipe = make_pipe();
    auto id = pipe ? fork() : -1;
    if (id < 0)
        return {Outcome::died, {}};
    if (id == 0) do_work(work, pipe->write, memory);

    pipe->write.reset();
    Outcome out{Outcome::done, {}};
    if (!read_all(pipe->read, until, out.bytes)) {
        kill(id, SIGKILL);
        out.ending = Outcome::late;
    }
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR)
        ;
    if (out.ending == Outcome::done && status != 0) out.ending = Outcome::died;
    return out;
}

}
