#include "base/process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace ik {
namespace {

Pipe bell;   // the one global of this file: a signal handler has no other way to speak

void ring(int)
{
    int kept = errno;
    [[maybe_unused]] auto n = ::write(bell.write.get(), "", 1);
    errno = kept;
}

void hang_bell()
{
    if (bell.read)
        return;
    auto pipe = make_pipe();
    if (!pipe)
        return;
    make_nonblocking(pipe->read);
    make_nonblocking(pipe->write);
    bell = std::move(*pipe);
    struct sigaction action {};
    action.sa_handler = ring;
    action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, nullptr);
}

// What the child needs, as plain pointers: between vfork and exec nothing is allocated.
struct Plan {
    char* const* argv;
    char* const* env;
    int files[3];
    bool own_session, outlives_us;
    const Confinement* confinement;
    pid_t parent;
};

// Runs in the child, on its parent's memory: raw system calls only. Returns errno.
int become(const Plan& plan)
{
    if (plan.own_session)
        setsid();
    if (!plan.outlives_us)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!plan.outlives_us && getppid() != plan.parent)
        _exit(127);   // the parent died before the line above

    // Sources first go out of the way of 0, 1, 2.
    int files[3];
    for (int i = 0; i < 3; ++i) {
        files[i] = plan.files[i] <= 2 && plan.files[i] != i ? fcntl(plan.files[i], F_DUPFD, 3) : plan.files[i];
        if (files[i] < 0)
            return errno;
    }
    for (int i = 0; i < 3; ++i)
        if (files[i] != i && dup2(files[i], i) < 0)
            return errno;
    syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);

    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    for (int number : {SIGPIPE, SIGXFSZ, SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU})
        sigaction(number, &plain, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);

    if (plan.confinement)
        if (int why = confine(*plan.confinement))
            return why;
    execve(plan.argv[0], plan.argv, plan.env);
    return errno;
}

// The child shares our memory until it execs, so its error comes back in `failure`.
[[gnu::noinline]] pid_t vfork_exec(const Plan& plan, volatile int& failure)
{
    pid_t id = vfork();
    if (id == 0) {
        failure = become(plan);
        _exit(127);
    }
    if (id < 0)
        failure = errno;
    return id;
}

// Of a child that has ended, or is about to.
void take_end(pid_t id, int& status)
{
    while (waitpid(id, &status, 0) < 0 && errno == EINTR)
        ;
}

Exit exit_of(int status) { return WIFSIGNALED(status) ? Exit{-1, WTERMSIG(status)} : Exit{WEXITSTATUS(status), 0}; }

std::vector<char*> pointers(const std::vector<std::string>& strings)
{
    std::vector<char*> out;
    for (auto& s : strings)
        out.push_back(const_cast<char*>(s.c_str()));
    out.push_back(nullptr);
    return out;
}

}

std::vector<std::string> environment()
{
    std::vector<std::string> out;
    for (char** entry = environ; entry && *entry; ++entry)
        out.emplace_back(*entry);
    return out;
}

int child_bell() { return bell.read.get(); }

void silence_child_bell()
{
    char bytes[64];
    while (::read(bell.read.get(), bytes, sizeof bytes) > 0)
        ;
}

Result<Process> Process::start(const Program& program)
{
    auto argv = pointers(program.argv), env = pointers(program.env);
    Plan plan{argv.data(), env.data(), {program.in, program.out, program.err}, program.own_session, program.outlives_us, program.confinement, getpid()};

    // No signal handler of ours may run in the child while it borrows our memory.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    volatile int failure = 0;
    pid_t id = vfork_exec(plan, failure);
    sigprocmask(SIG_SETMASK, &before, nullptr);

    if (failure) {
        int status = 0;
        if (id > 0)
            take_end(id, status);
        return Error{code::spawn_failed, program.argv[0] + ": " + std::strerror(failure)};
    }
    Process process;
    process.id_ = id;
    process.outlives_us_ = program.outlives_us;
    process.ended_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
    if (!process.ended_)
        hang_bell();
    return process;
}

Process::~Process()
{
    if (!running() || outlives_us_)
        return;
    signal_group(SIGKILL);
    int status = 0;
    take_end(id_, status);
}

void Process::signal_group(int number) const
{
    if (!running())
        return;
    if (kill(-id_, number) < 0)
        kill(id_, number);
}

Exit Process::wait()
{
    int status = 0;
    take_end(std::exchange(id_, nobody), status);
    ended_.reset();
    return exit_of(status);
}

bool Process::reap(Exit& exit, bool with_group)
{
    siginfo_t ended{};
    if (!running() || waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || ended.si_pid != id_)
        return false;
    if (with_group)
        kill(-id_, SIGKILL);
    exit = wait();
    return true;
}

}
