#include "supervise.h"

#include "base/family.h"
#include "base/fd.h"
#include "base/places.h"
#include "base/signals.h"
#include "term/tty.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <vector>

extern "C" char __executable_start, etext;   // of the linker: where our code begins and ends

namespace ik {
namespace {

// The next child that has changed, 0 or less when there is none.
pid_t next_changed(int& status, int options)
{
    for (;;)
        if (auto id = waitpid(-1, &status, WNOHANG | options); id >= 0 || errno != EINTR)
            return id;
}

void reap_all()
{
    int status = 0;
    while (next_changed(status, 0) > 0)
        ;
}

void nap()
{
    timespec time{0, 10'000'000};
    nanosleep(&time, nullptr);
}

long long now_ms()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1'000'000;
}

void signal_all(const std::vector<Relative>& all, int number)
{
    for (auto& each : all)
        kill(each.id, number);
}

pid_t outer_id = 0;   // set once, before the split

struct Terminal {
    termios state{};
    bool known = tcgetattr(0, &state) == 0;

    // The inner process had it in its hands, and has not given it back.
    bool changed() const
    {
        termios now{};
        return tcgetattr(0, &now) == 0 && (now.c_lflag != state.c_lflag || now.c_iflag != state.c_iflag || std::memcmp(now.c_cc, state.c_cc, sizeof now.c_cc) != 0);
    }

    void restore() const
    {
        if (!known)
            return;
        std::signal(SIGTTOU, SIG_IGN);   // also from the background
        auto off = term::modes_off(variable("TERM"));
        if (changed() && isatty(1)) write_all(1, off.empty() ? "\n" : off + "\r\n\x1b[J");   // and what was below the prompt
        tcsetattr(0, TCSADRAIN, &state);
    }
};

[[noreturn]] void end_like(int status)
{
    if (WIFSIGNALED(status))
        die_of(WTERMSIG(status));
    _exit(WEXITSTATUS(status));
}

// Our own stop follows the inner one's, so that the shell above sees it; fg wakes both. Where it has woken us before
// we could look, the inner one is about to be woken too.
void stop_too(pid_t inner)
{
    sigset_t waiting;
    sigpending(&waiting);
    if (sigismember(&waiting, SIGCONT) == 1)
        return;
    raise(SIGSTOP);
    kill(inner, SIGCONT);
}

// The code that ran before the split is not needed again by the outer process, which only waits: its pages go
// back, and those that are needed after all are mapped again.
void give_code_back()
{
    auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto start = (reinterpret_cast<std::uintptr_t>(&__executable_start) + page - 1) & ~(page - 1);
    auto end = reinterpret_cast<std::uintptr_t>(&etext) & ~(page - 1);
    madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED);
}

[[noreturn]] void outer(pid_t inner, const sigset_t& all, const Terminal& terminal)
{
    give_code_back();
    for (;;) {
        siginfo_t info{};
        int number = sigwaitinfo(&all, &info);
        if (number < 0)
            continue;
        if (number != SIGCHLD) {
            // What the terminal sent went to the whole group: the inner process has it already.
            bool from_terminal = info.si_code == SI_KERNEL && number != SIGHUP;
            if (!from_terminal)
                kill(inner, number);
            continue;
        }
        int status = 0;
        bool ended = false;
        for (pid_t id; (id = next_changed(status, WUNTRACED)) > 0;)
            if (id == inner && WIFSTOPPED(status))
                stop_too(inner);
            else if (id == inner && (ended = true))
                break;
        if (!ended)
            continue;
        end_descendants();
        if (WIFSIGNALED(status))
            terminal.restore();
        end_like(status);
    }
}

}

void end_descendants()
{
    long long kill_at = 0;
    for (;;) {
        reap_all();
        auto left = descendants();
        if (left.empty())
            return;
        if (!kill_at) {
            kill_at = now_ms() + 2000;
            signal_all(left, SIGTERM);
            signal_all(left, SIGCONT);
        } else if (now_ms() >= kill_at) {
            // What cannot be killed is not ours to kill: another user's, or stuck in the kernel.
            kill_in_rounds([](auto&) {}, std::chrono::seconds(8));
            reap_all();
            return;
        }
        nap();
    }
}

void end_what_is_left()
{
    if (outer_id && getppid() != outer_id)
        end_descendants();
}

void supervise()
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all, before;
    sigfillset(&all);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTTIN, SIGTTOU, SIGTSTP})
        sigdelset(&all, number);
    sigprocmask(SIG_BLOCK, &all, &before);

    outer_id = getpid();
    Terminal terminal;   // before the inner one can change it
    pid_t inner = fork();
    if (inner < 0)
        std::perror("ikigai: cannot start a process");
    if (inner > 0)
        outer(inner, all, terminal);
    if (inner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (getppid() != outer_id)
            _exit(143);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

}
