// What a confined process gives up, tried by a process that has.
#include "base/confine.h"

#include "base/landlock.h"
#include "base/seccomp.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

// How a process that is confined so ends: body's answer, or 128 + the signal.
int confined(const Confinement& confinement, const std::function<int()>& body)
{
    pid_t id = fork();
    if (id == 0)
        _exit(confine(confinement) == 0 ? body() : 99);
    int status = 0;
    waitpid(id, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int number(long answer) { return answer < 0 ? errno : 0; }

struct Attempt { const char* name; int answer; std::function<long()> call; };

void check(const Refused& refused, const std::vector<Attempt>& attempts)
{
    Confinement confinement{.seccomp = seccomp_program(refused)};
    for (auto& attempt : attempts) {
        INFO(attempt.name);
        CHECK(confined(confinement, [&] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); return number(attempt.call()); }) == attempt.answer);
    }
}

#ifdef __x86_64__
// The kernel's machine, as far as our programs use it.
std::uint32_t answer_of(const std::vector<sock_filter>& program, const seccomp_data& call)
{
    std::uint32_t value = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
        auto& step = program[at];
        if (BPF_CLASS(step.code) == BPF_RET)
            return step.k;
        if (BPF_CLASS(step.code) == BPF_LD)
            std::memcpy(&value, reinterpret_cast<const char*>(&call) + step.k, sizeof value);
        else if (BPF_CLASS(step.code) == BPF_ALU)
            value &= step.k;
        else {
            bool holds = BPF_OP(step.code) == BPF_JEQ ? value == step.k : BPF_OP(step.code) == BPF_JGE ? value >= step.k : (value & step.k) != 0;
            at += holds ? step.jt : step.jf;
        }
    }
    throw std::runtime_error("a program without an answer");
}
#endif

long pair(int type)
{
    int ends[2];
    return socketpair(AF_UNIX, type, 0, ends);
}

}

TEST_CASE("confine: the calls that are always refused")
{
    if (!is_root())
        return skip("without a rule set, only root may set a filter");
    static int zero[64];
    check({}, {
        {"ptrace", EPERM, [] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
        {"process_vm_readv", EPERM, [] { return syscall(SYS_process_vm_readv, getppid(), zero, 0, zero, 0, 0); }},
        {"pidfd_getfd", EPERM, [] { return syscall(438, 0, 0, 0); }},
        {"mount", EPERM, [] { return syscall(SYS_mount, "x", "/", "tmpfs", 0, nullptr); }},
        {"open_tree", EPERM, [] { return syscall(428, AT_FDCWD, "/", 1); }},
        {"fsopen", EPERM, [] { return syscall(430, "tmpfs", 0); }},
        {"unshare", EPERM, [] { return syscall(SYS_unshare, CLONE_NEWUSER); }},
        {"setns", EPERM, [] { return syscall(SYS_setns, 0, 0); }},
        {"clone into a namespace", EPERM, [] { return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr); }},
        {"clone3", ENOSYS, [] { return syscall(435, zero, 88); }},
        {"chroot", EPERM, [] { return chroot("/"); }},
        {"bpf", EPERM, [] { return syscall(SYS_bpf, 0, zero, 8); }},
        {"keyctl", EPERM, [] { return syscall(SYS_keyctl, 0, -3, 0); }},
        {"io_uring_setup", EPERM, [] { return syscall(425, 1, zero); }},
        {"perf_event_open", EPERM, [] { return syscall(SYS_perf_event_open, zero, 0, -1, -1, 0); }},
        {"userfaultfd", EPERM, [] { return syscall(SYS_userfaultfd, 0); }},
        {"open_by_handle_at", EPERM, [] { return syscall(SYS_open_by_handle_at, AT_FDCWD, zero, 0); }},
        {"kexec_load", EPERM, [] { return syscall(SYS_kexec_load, 0, 0, zero, 0); }},
        {"TIOCSTI", EPERM, [] { return ioctl(0, TIOCSTI, "x"); }},
        {"TIOCSTI with a long request", EPERM, [] { return syscall(SYS_ioctl, 0, 0xF00000000 | TIOCSTI, "x"); }},
        {"AF_UNIX", EPERM, [] { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }},
        {"a pair of streams", 0, [] { return pair(SOCK_STREAM | SOCK_CLOEXEC); }},
        {"a pair of datagram sockets", EPERM, [] { return pair(SOCK_DGRAM | SOCK_NONBLOCK); }},
        {"AF_INET", 0, [] { return socket(AF_INET, SOCK_STREAM, 0); }},
        {"chmod", 0, [] { return chmod("/dev/null", 0666); }},
        {"a process", 0, [] { pid_t id = fork(); if (id == 0) _exit(0); return waitpid(id, nullptr, 0) == id ? 0L : -1L; }},
    });
}

#ifdef __x86_64__
TEST_CASE("confine: of all numbers of calls exactly those that are meant are refused")
{
    std::set<int> always{SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, 438, SYS_kcmp, SYS_mount, SYS_umount2, 428, 429, 430, 431, 432, 433, 442, 467,
                         SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_kexec_load, SYS_kexec_file_load, SYS_bpf, SYS_init_module, SYS_finit_module,
                         SYS_delete_module, SYS_perf_event_open, SYS_userfaultfd, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_settimeofday,
                         SYS_clock_settime, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_keyctl, SYS_add_key,
                         SYS_request_key, SYS_open_by_handle_at, SYS_fanotify_init, 425, 426, 427, 435};
    std::set<int> reading_only{SYS_socket, SYS_truncate, SYS_fchmod, SYS_fchmodat, 452, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
                               SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, 463, 466, 469, SYS_utimensat, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime,
                               SYS_utimes, SYS_futimesat, 437};
    reading_only.insert(always.begin(), always.end());
    auto refused = [](const Refused& wanted) {
        auto program = seccomp_program(wanted);
        std::set<int> out;
        for (int number = 0; number < 2000; ++number)
            if (answer_of(program, {.nr = number, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 0, .args = {}}) != SECCOMP_RET_ALLOW) out.insert(number);
        return out;
    };
    CHECK(refused({}) == always);
    CHECK(refused({.sockets = true, .attributes = true, .truncating = true}) == reading_only);
}
#endif

TEST_CASE("confine: what is refused on top of that")
{
    if (!is_root())
        return skip("without a rule set, only root may set a filter");
    Folder folder;
    folder.write("x", "text");
    check({.sockets = true, .attributes = true}, {
        {"AF_INET", EPERM, [] { return socket(AF_INET, SOCK_STREAM, 0); }},
        {"AF_NETLINK", EPERM, [] { return socket(AF_NETLINK, SOCK_RAW, 0); }},
        {"a pair of streams", 0, [] { return pair(SOCK_STREAM); }},
        {"truncate", EPERM, [] { return truncate("x", 0); }},
        {"chmod", EPERM, [] { return chmod("x", 0777); }},
        {"fchmodat2", EPERM, [] { return syscall(452, AT_FDCWD, "x", 0777, 0); }},
        {"chown", EPERM, [] { return chown("x", 1, 1); }},
        {"setxattr", EPERM, [] { return syscall(SYS_setxattr, "x", "user.x", "", 0, 0); }},
        {"utimensat", EPERM, [] { return utimensat(AT_FDCWD, "x", nullptr, 0); }},
    });
    check({.unix_sockets = false}, {{"AF_UNIX", 0, [] { return socket(AF_UNIX, SOCK_STREAM, 0); }}, {"a pair", 0, [] { return pair(SOCK_DGRAM); }}});
    check({.truncating = true}, {
        {"truncate", EPERM, [] { return truncate("x", 0); }},
        {"O_TRUNC when reading", EPERM, [] { return open("x", O_RDONLY | O_TRUNC); }},
        {"O_TRUNC when writing", 0, [] { return open("y", O_WRONLY | O_CREAT | O_TRUNC, 0600); }},
        {"reading", 0, [] { return open("x", O_RDONLY); }},
        {"openat2", ENOSYS, [] { return syscall(437, AT_FDCWD, "x", nullptr, 0); }},
    });
    CHECK(folder.read("x") == "text");
}

#ifdef __x86_64__
TEST_CASE("confine: a foreign architecture and x32 end the process")
{
    if (!is_root())
        return skip("without a rule set, only root may set a filter");
    Confinement confinement{.seccomp = seccomp_program({})};
    CHECK(confined(confinement, [] { return static_cast<int>(syscall(0x40000000 | SYS_getpid)); }) == 128 + SIGSYS);
    auto foreign = confined(confinement, [] {
        long answer = 20;   // getpid there
        asm volatile("int $0x80" : "+a"(answer) : : "memory");
        return 0;
    });
    CHECK((foreign == 128 + SIGSYS || foreign == 128 + SIGSEGV));   // where the kernel has no 32-bit calls at all
}
#endif

TEST_CASE("confine: with a rule set, no capability is left and none can come back")
{
    if (!landlock::abi())
        return skip("this kernel has no Landlock");
    auto ruleset = landlock::Ruleset::make(landlock::abi(), false);
    REQUIRE(ruleset);
    ruleset->allow("/", landlock::reading);
    Confinement confinement{.ruleset = ruleset->fd()};
    Folder folder;
    CHECK(confined(confinement, [] {
              __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
              __user_cap_data_struct have[2]{};
              syscall(SYS_capget, &header, have);
              bool none = !have[0].effective && !have[0].permitted && !have[0].inheritable && !have[1].permitted;
              return none && (prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 0 || getuid() != 0) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1;
          }) == 0);
    CHECK(confined(confinement, [] { return number(open("new", O_WRONLY | O_CREAT, 0600)); }) == EACCES);
}

TEST_CASE("landlock: rules of every version are made, also with rights that it does not know")
{
    if (!landlock::abi())
        return skip("this kernel has no Landlock");
    Folder folder;
    folder.write("in/x", "x");
    for (int abi = 1; abi <= landlock::abi(); ++abi) {
        INFO(abi);
        auto ruleset = landlock::Ruleset::make(abi, true);
        REQUIRE(ruleset);
        ruleset->allow("/", landlock::reading);
        ruleset->allow("in", landlock::reading | landlock::writing);
        Confinement confinement{.ruleset = ruleset->fd()};
        CHECK(confined(confinement, [] { return number(open("in/y", O_WRONLY | O_CREAT, 0600)); }) == 0);
        CHECK(confined(confinement, [] { return number(open("z", O_WRONLY | O_CREAT, 0600)); }) == EACCES);
        CHECK(confined(confinement, [] { return number(link("in/x", "x")); }) == EACCES);
    }
}
