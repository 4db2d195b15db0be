#include "support/inject.h"

#include "base/fd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <elf.h>
#include <fcntl.h>
#include <iterator>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <set>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ik::test {

#ifdef __x86_64__

namespace {

using Registers = user_regs_struct;
using std::chrono::steady_clock;

constexpr long close_range_number = 436;   // the first thing that main() does

// The filter stops at these calls, at all of them where there are none.
void stop_at(const std::vector<long>& numbers)
{
    auto statement = [](std::uint16_t code, std::uint32_t k) { return sock_filter{code, 0, 0, k}; };
    std::vector<sock_filter> code{statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (std::size_t i = 0; i < numbers.size(); ++i)
        code.push_back({BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint8_t>(numbers.size() - i), 0, static_cast<std::uint32_t>(numbers[i])});
    if (!numbers.empty())
        code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
    sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);   // who is not root may do it so
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        _exit(127);
}

std::string all_of(const Fd& file)
{
    struct stat info {};
    fstat(file.get(), &info);
    std::string out(static_cast<std::size_t>(info.st_size), '\0');
    auto n = pread(file.get(), out.data(), out.size(), 0);
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
}

std::vector<char*> pointers(const std::vector<std::string>& strings)
{
    std::vector<char*> out;
    for (auto& each : strings) out.push_back(const_cast<char*>(each.c_str()));
    out.push_back(nullptr);
    return out;
}

bool copy_in(pid_t id, std::uint64_t address, void* from, std::size_t size)
{
    iovec here{from, size}, there{reinterpret_cast<void*>(address), size};
    return process_vm_writev(id, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

bool waits(pid_t id, std::uint64_t fd)
{
    auto info = contents_of("/proc/" + std::to_string(id) + "/fdinfo/" + std::to_string(fd));
    auto at = info.find("flags:");
    return at == info.npos || !(std::stoul(info.substr(at + 6), nullptr, 8) & O_NONBLOCK);
}

// Flags can always be told and set, and a lock can always be given back.
int fcntl_error(pid_t id, const Registers& registers)
{
    if (registers.rsi == F_DUPFD || registers.rsi == F_DUPFD_CLOEXEC)
        return EMFILE;
    if (registers.rsi != F_SETLK && registers.rsi != F_SETLKW)
        return 0;
    struct flock lock {};
    iovec here{&lock, sizeof lock}, there{reinterpret_cast<void*>(registers.rdx), sizeof lock};
    return process_vm_readv(id, &here, 1, &there, 1, 0) > 0 && lock.l_type != F_UNLCK ? ENOLCK : 0;
}

bool is_file(pid_t id, std::uint64_t fd)
{
    struct stat info {};
    return stat(("/proc/" + std::to_string(id) + "/fd/" + std::to_string(fd)).c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Interrupts the waits of this thread now and then, so that they have an end.
class Ticks {
public:
    Ticks()
    {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        sigaction(SIGALRM, &action, nullptr);
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGALRM;
        event._sigev_un._tid = gettid();
        timer_create(CLOCK_MONOTONIC, &event, &timer_);
        itimerspec each{{0, 50'000'000}, {0, 50'000'000}};
        timer_settime(timer_, 0, &each, nullptr);
    }
    Ticks(const Ticks&) = delete;
    ~Ticks() { timer_delete(timer_); }

private:
    timer_t timer_{};
};

struct Traveller {
    std::string label;
    bool ours = false;                        // ikigai's own executable, and main() has begun
    std::optional<Registers> before = {};     // the call that goes on has other arguments than it was made with
    std::optional<long> result = {};          // and is to end so
};

class Tracer {
public:
    explicit Tracer(const Trace& what) : what_(what), own_(ikigai()), own_info_(info_of(own_)) {}

    Traced run();

private:
    static struct stat info_of(const std::string& path)
    {
        struct stat info {};
        stat(path.c_str(), &info);
        return info;
    }

    bool start();
    void wait_for_all();
    void stopped(pid_t, int status);
    void born(pid_t parent, pid_t child, bool thread);
    void executed(pid_t);
    bool called(pid_t);
    bool strike(pid_t, Traveller&, Registers);
    void end_call(pid_t, Traveller&);
    bool tell_time(pid_t, Registers&);
    void hide_vdso(pid_t);

    const Trace& what_;
    std::string own_;
    struct stat own_info_;
    std::map<pid_t, Traveller> all_;
    std::set<pid_t> early_;   // stopped before the event of its parent was seen
    Fd out_, err_;
    pid_t first_ = -1;
    int hits_ = 0;
    Traced traced_;
};

bool Tracer::start()
{
    auto gate = make_pipe();
    Fd in(memfd_create("in", MFD_CLOEXEC));
    out_ = Fd(memfd_create("out", MFD_CLOEXEC));
    err_ = Fd(memfd_create("err", MFD_CLOEXEC));
    if (!gate || !in || !out_ || !err_ || !write_all(in.get(), what_.program.input))
        return false;
    lseek(in.get(), 0, SEEK_SET);
    auto strings = environment_with(what_.program.env);
    if (sanitized()) strings.push_back(no_leak_check);
    auto argv = pointers(what_.program.argv), env = pointers(strings);
    std::vector<long> stops;
    if (what_.clock) stops = {SYS_clock_gettime, SYS_gettimeofday, SYS_time};
    if (what_.fault) stops = {what_.fault->call, close_range_number};

    first_ = fork();
    if (first_ == 0) {
        char byte;
        setsid();
        dup2(in.get(), 0);
        dup2(out_.get(), 1);
        dup2(err_.get(), 2);
        static_cast<void>(!::read(gate->read.get(), &byte, 1));
        if (what_.count || !stops.empty()) stop_at(stops);
        execve(argv[0], argv.data(), env.data());
        _exit(127);
    }
    constexpr long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (first_ < 0)
        return false;
    if (ptrace(PTRACE_SEIZE, first_, 0, options) < 0) {
        ::kill(first_, SIGKILL);
        waitpid(first_, nullptr, 0);
        return false;
    }
    all_[first_] = {};
    static_cast<void>(!::write(gate->write.get(), "", 1));
    return true;
}

Traced Tracer::run()
{
    traced_.ran.status = 127;
    if (start())
        wait_for_all();
    traced_.ran.out = all_of(out_);
    traced_.ran.err = all_of(err_);
    return std::move(traced_);
}

// Until the program has ended, and what it has started too, for which there are 5 s more.
void Tracer::wait_for_all()
{
    Ticks ticks;
    auto end = steady_clock::now() + what_.program.limit;
    bool ending = false, over = false;
    while (!all_.empty()) {
        int status = 0;
        pid_t id = waitpid(-1, &status, __WALL | __WNOTHREAD);
        if (id < 0 && errno != EINTR)
            return;
        if (id > 0 && WIFSTOPPED(status))
            stopped(id, status);
        else if (id > 0) {
            all_.erase(id);
            if (id == first_) {
                traced_.ran.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
                end = steady_clock::now() + std::chrono::seconds(5);
                ending = true;
            }
        }
        if (steady_clock::now() < end || over)
            continue;
        over = true;
        for (auto& [each, who] : all_) {
            if (!ending) traced_.ran.timed_out = true;
            else traced_.left.push_back(who.label + " (" + std::to_string(each) + ")");
            ::kill(each, SIGKILL);
        }
    }
}

void Tracer::stopped(pid_t id, int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    auto found = all_.find(id);
    if (found == all_.end()) {
        early_.insert(id);
        return;
    }
    __ptrace_request request = PTRACE_CONT;
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        unsigned long child = 0;
        ptrace(PTRACE_GETEVENTMSG, id, 0, &child);
        born(id, static_cast<pid_t>(child), event == PTRACE_EVENT_CLONE);
        signal = 0;
    } else if (event == PTRACE_EVENT_EXEC) {
        executed(id);
        signal = 0;
    } else if (event == PTRACE_EVENT_SECCOMP) {
        if (called(id)) request = PTRACE_SYSCALL;
        signal = 0;
    } else if (event == PTRACE_EVENT_STOP) {
        if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) request = PTRACE_LISTEN;
        signal = 0;
    } else if (signal == (SIGTRAP | 0x80)) {
        end_call(id, found->second);
        signal = 0;
    } else if (signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGSYS)
        traced_.crashes.push_back(found->second.label + ": " + sigabbrev_np(signal));
    ptrace(request, id, 0, signal);
}

void Tracer::born(pid_t parent, pid_t child, bool thread)
{
    auto& label = all_[parent].label;
    all_[child] = {.label = thread ? label : label + "'", .ours = all_[parent].ours};
    if (early_.erase(child)) ptrace(PTRACE_CONT, child, 0, 0);
}

void Tracer::executed(pid_t id)
{
    auto folder = "/proc/" + std::to_string(id);
    auto words = contents_of(folder + "/cmdline");
    std::string name = words.c_str();
    name = name.substr(name.rfind('/') + 1);
    if (name == "ikigai" && words.size() > words.find('\0') + 1) name += std::string(" ") + (words.c_str() + words.find('\0') + 1);
    auto info = info_of(folder + "/exe");
    bool own = info.st_dev == own_info_.st_dev && info.st_ino == own_info_.st_ino;
    all_[id] = {.label = own ? name : "(" + name + ")"};
    if (own && what_.clock) hide_vdso(id);
}

// What a program finds above its environment names the vdso, whose clock needs no system call.
void Tracer::hide_vdso(pid_t id)
{
    Registers registers{};
    ptrace(PTRACE_GETREGS, id, 0, &registers);
    auto at = registers.rsp;
    auto word = [&] {
        auto out = ptrace(PTRACE_PEEKDATA, id, at, 0);
        at += 8;
        return out;
    };
    for (auto arguments = word(); arguments >= 0; --arguments) word();
    while (word()) {}
    for (long kind; (kind = word()) != AT_NULL; word())
        if (kind == AT_SYSINFO_EHDR) ptrace(PTRACE_POKEDATA, id, at - 8, AT_IGNORE);
}

// True when the end of the call is to be seen, too.
bool Tracer::called(pid_t id)
{
    auto& who = all_[id];
    Registers registers{};
    ptrace(PTRACE_GETREGS, id, 0, &registers);
    auto number = static_cast<long>(registers.orig_rax);
    if (number == close_range_number && !who.label.starts_with('(')) who.ours = true;
    if (what_.clock)
        return tell_time(id, registers), false;
    if (!who.ours)
        return false;
    if (what_.count) ++traced_.calls[{who.label, number}];
    auto& fault = what_.fault;
    if (!fault || number != fault->call || who.label != fault->process || ++hits_ != fault->nth)
        return false;
    return strike(id, who, registers);
}

bool Tracer::strike(pid_t id, Traveller& who, Registers registers)
{
    auto& fault = *what_.fault;
    auto number = fault.call;
    bool moves = number == SYS_read || number == SYS_write || number == SYS_recvfrom || number == SYS_sendto;
    if (moves && fault.number == EAGAIN && (waits(id, registers.rdi) || is_file(id, registers.rdi)))
        return false;
    if (number == SYS_fcntl && fault.number != fcntl_error(id, registers))
        return false;
    if (number == SYS_futex && (registers.rsi & 0x7F) != FUTEX_WAIT && (registers.rsi & 0x7F) != FUTEX_WAIT_BITSET)
        return false;   // only waiting can be interrupted
    if (fault.kind == Fault::cut_short && registers.rdx < 2)
        return false;
    traced_.injected = true;
    if (fault.kind == Fault::kill) {
        ::kill(id, SIGKILL);
        return false;
    }
    who.before = registers;
    if (fault.kind == Fault::cut_short) {
        bool reads = number == SYS_read || number == SYS_recvfrom || number == SYS_pread64;
        registers.rdx = reads ? std::min<std::uint64_t>(registers.rdx - 1, 3) : registers.rdx / 2;
    } else if (number == SYS_brk) {
        registers.rdi = 0;             // where it fails, nothing is moved
    } else {
        who.result = -fault.number;
        if (number != SYS_close) registers.orig_rax = static_cast<std::uint64_t>(-1);   // that one closes, whatever it says
    }
    ptrace(PTRACE_SETREGS, id, 0, &registers);
    return true;
}

// The program finds its registers as they were: to it a call changes nothing but its result.
void Tracer::end_call(pid_t id, Traveller& who)
{
    Registers registers{};
    ptrace(PTRACE_GETREGS, id, 0, &registers);
    if (auto before = std::exchange(who.before, {})) {
        registers.rdi = before->rdi;
        registers.rdx = before->rdx;
    }
    if (auto result = std::exchange(who.result, {})) registers.rax = static_cast<std::uint64_t>(*result);
    ptrace(PTRACE_SETREGS, id, 0, &registers);
}

// Answers for the kernel.
bool Tracer::tell_time(pid_t id, Registers& registers)
{
    auto number = static_cast<long>(registers.orig_rax);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += what_.clock();
    timeval other{now.tv_sec, now.tv_nsec / 1000};
    bool told = false;
    if (number == SYS_clock_gettime && (registers.rdi == CLOCK_REALTIME || registers.rdi == CLOCK_REALTIME_COARSE))
        told = copy_in(id, registers.rsi, &now, sizeof now);
    if (number == SYS_gettimeofday && registers.rdi)
        told = copy_in(id, registers.rdi, &other, sizeof other);
    if (number == SYS_time)
        told = !registers.rdi || copy_in(id, registers.rdi, &now.tv_sec, sizeof now.tv_sec);
    if (!told)
        return false;
    traced_.injected = true;
    registers.orig_rax = static_cast<std::uint64_t>(-1);
    registers.rax = number == SYS_time ? static_cast<std::uint64_t>(now.tv_sec) : 0;
    ptrace(PTRACE_SETREGS, id, 0, &registers);
    return true;
}

}

Traced trace(const Trace& what) { return Tracer(what).run(); }

bool can_trace()
{
    auto ran = trace({.program = {.argv = {ikigai(), "--version"}}, .count = true});
    return ran.ran.status == 0 && !ran.calls.empty();
}

#else

Traced trace(const Trace&) { return {}; }
bool can_trace() { return false; }

#endif

}
