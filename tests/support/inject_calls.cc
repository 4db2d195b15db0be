// What may become of each system call.
#include "support/inject.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/syscall.h>

namespace ik::test {

#ifdef __x86_64__

namespace {

constexpr int cut = -1;   // instead of an errno: fewer bytes

struct Row { const char* name; long number; std::vector<int> errors; };

// What may become of a call; EAGAIN of reads and writes only where the descriptor does not wait.
const std::vector<Row>& table()
{
    static const std::vector<Row> rows = {
        {"read", SYS_read, {EIO, EINTR, EAGAIN, cut}},
        {"write", SYS_write, {ENOSPC, EIO, EINTR, EAGAIN, cut}},
        {"pread64", SYS_pread64, {EIO, EINTR, cut}},
        {"pwrite64", SYS_pwrite64, {ENOSPC, EIO, EINTR, cut}},
        {"readv", SYS_readv, {EIO, EINTR}},
        {"writev", SYS_writev, {ENOSPC, EIO, EINTR}},
        {"sendto", SYS_sendto, {ENOMEM, EINTR, EAGAIN, cut}},
        {"recvfrom", SYS_recvfrom, {ENOMEM, EINTR, EAGAIN, cut}},
        {"sendmsg", SYS_sendmsg, {ENOMEM, EINTR}},
        {"recvmsg", SYS_recvmsg, {ENOMEM, EINTR}},
        {"open", SYS_open, {EMFILE, ENOMEM, EIO, EINTR}},
        {"openat", SYS_openat, {EMFILE, ENOMEM, EIO, EINTR, ENOSPC}},
        {"close", SYS_close, {EIO, EINTR}},
        {"fsync", SYS_fsync, {EIO, ENOSPC, EINTR}},
        {"fdatasync", SYS_fdatasync, {EIO, ENOSPC, EINTR}},
        {"rename", SYS_rename, {EIO, ENOSPC, ENOMEM}},
        {"renameat", SYS_renameat, {EIO, ENOSPC, ENOMEM}},
        {"renameat2", SYS_renameat2, {EIO, ENOSPC, ENOMEM}},
        {"link", SYS_link, {EIO, ENOSPC}},
        {"linkat", SYS_linkat, {EIO, ENOSPC, ENOMEM}},
        {"symlink", SYS_symlink, {EIO, ENOSPC}},
        {"unlink", SYS_unlink, {EIO, ENOMEM}},
        {"unlinkat", SYS_unlinkat, {EIO, ENOMEM}},
        {"rmdir", SYS_rmdir, {EIO}},
        {"mkdir", SYS_mkdir, {ENOSPC, EIO}},
        {"ftruncate", SYS_ftruncate, {EIO, ENOSPC, EINTR}},
        {"fallocate", SYS_fallocate, {ENOSPC, EIO, EINTR}},
        {"fchmod", SYS_fchmod, {EIO}},
        {"chmod", SYS_chmod, {EIO}},
        {"fchown", SYS_fchown, {EIO}},
        {"utimensat", SYS_utimensat, {EIO}},
        {"stat", SYS_stat, {EIO, ENOMEM}},
        {"lstat", SYS_lstat, {EIO, ENOMEM}},
        {"fstat", SYS_fstat, {EIO, ENOMEM}},
        {"newfstatat", SYS_newfstatat, {EIO, ENOMEM}},
        {"statx", SYS_statx, {EIO, ENOMEM}},
        {"statfs", SYS_statfs, {EIO, ENOMEM}},
        {"fstatfs", SYS_fstatfs, {EIO, ENOMEM}},
        {"access", SYS_access, {EIO, ENOMEM}},
        {"faccessat", SYS_faccessat, {EIO, ENOMEM}},
        {"faccessat2", 439, {EIO, ENOMEM}},
        {"readlink", SYS_readlink, {EIO, ENOMEM}},
        {"readlinkat", SYS_readlinkat, {EIO, ENOMEM}},
        {"getcwd", SYS_getcwd, {ENOMEM}},
        {"chdir", SYS_chdir, {EIO, ENOMEM}},
        {"getdents64", SYS_getdents64, {EIO}},
        {"lseek", SYS_lseek, {EIO}},
        {"getxattr", SYS_getxattr, {EIO}},
        {"listxattr", SYS_listxattr, {EIO}},
        {"fsetxattr", SYS_fsetxattr, {ENOSPC}},
        {"fremovexattr", SYS_fremovexattr, {EIO}},
        {"flock", SYS_flock, {EINTR, ENOMEM}},
        {"fcntl", SYS_fcntl, {EMFILE, ENOLCK}},
        {"ioctl", SYS_ioctl, {EIO, EINTR}},
        {"dup", SYS_dup, {EMFILE}},
        {"dup2", SYS_dup2, {EMFILE, EINTR}},
        {"dup3", SYS_dup3, {EMFILE}},
        {"pipe2", SYS_pipe2, {EMFILE}},
        {"close_range", 436, {EMFILE, ENOMEM}},
        {"poll", SYS_poll, {EINTR, ENOMEM}},
        {"ppoll", SYS_ppoll, {EINTR, ENOMEM}},
        {"select", SYS_select, {EINTR, ENOMEM}},
        {"pselect6", SYS_pselect6, {EINTR, ENOMEM}},
        {"epoll_wait", SYS_epoll_wait, {EINTR}},
        {"signalfd4", SYS_signalfd4, {EMFILE, ENOMEM}},
        {"eventfd2", SYS_eventfd2, {EMFILE}},
        {"inotify_init1", SYS_inotify_init1, {EMFILE}},
        {"memfd_create", SYS_memfd_create, {EMFILE}},
        {"pidfd_open", 434, {EMFILE, ENOMEM}},
        {"socket", SYS_socket, {EMFILE, ENOMEM}},
        {"connect", SYS_connect, {ECONNREFUSED, ENOMEM, EINTR}},
        {"bind", SYS_bind, {ENOMEM}},
        {"getsockname", SYS_getsockname, {ENOMEM}},
        {"getpeername", SYS_getpeername, {ENOMEM}},
        {"getsockopt", SYS_getsockopt, {ENOMEM}},
        {"setsockopt", SYS_setsockopt, {ENOMEM}},
        {"fork", SYS_fork, {EAGAIN, ENOMEM}},
        {"vfork", SYS_vfork, {EAGAIN, ENOMEM}},
        {"clone", SYS_clone, {EAGAIN, ENOMEM}},
        {"clone3", 435, {EAGAIN, ENOMEM}},
        {"execve", SYS_execve, {ENOMEM, EIO}},
        {"wait4", SYS_wait4, {EINTR}},
        {"waitid", SYS_waitid, {EINTR}},
        {"rt_sigtimedwait", SYS_rt_sigtimedwait, {EINTR}},
        {"nanosleep", SYS_nanosleep, {EINTR}},
        {"clock_nanosleep", SYS_clock_nanosleep, {EINTR}},
        {"futex", SYS_futex, {EINTR}},
        {"mmap", SYS_mmap, {ENOMEM}},
        {"mremap", SYS_mremap, {ENOMEM}},
        {"mprotect", SYS_mprotect, {ENOMEM}},
        {"munmap", SYS_munmap, {ENOMEM}},
        {"brk", SYS_brk, {ENOMEM}},
        {"madvise", SYS_madvise, {ENOMEM}},
        {"getrandom", SYS_getrandom, {EINTR, EAGAIN}},
        {"prctl", SYS_prctl, {ENOMEM}},
        {"prlimit64", SYS_prlimit64, {EPERM}},
        {"setrlimit", SYS_setrlimit, {EPERM}},
        {"setsid", SYS_setsid, {EPERM}},
        {"seccomp", SYS_seccomp, {ENOMEM}},
        {"landlock_create_ruleset", 444, {EMFILE, ENOMEM}},
        {"landlock_add_rule", 445, {ENOMEM}},
        {"landlock_restrict_self", 446, {ENOMEM}},
        {"sysinfo", SYS_sysinfo, {ENOMEM}},
        {"sched_getaffinity", SYS_sched_getaffinity, {ENOMEM}},
        // Those cannot fail in any way that a program could mend.
        {"kill", SYS_kill, {}}, {"tgkill", SYS_tgkill, {}}, {"getpid", SYS_getpid, {}}, {"getppid", SYS_getppid, {}}, {"gettid", SYS_gettid, {}}, {"getuid", SYS_getuid, {}},
        {"geteuid", SYS_geteuid, {}}, {"getgid", SYS_getgid, {}}, {"getegid", SYS_getegid, {}}, {"getsid", SYS_getsid, {}},
        {"getpgid", SYS_getpgid, {}}, {"getpgrp", SYS_getpgrp, {}}, {"umask", SYS_umask, {}}, {"uname", SYS_uname, {}},
        {"exit", SYS_exit, {}}, {"exit_group", SYS_exit_group, {}}, {"rt_sigaction", SYS_rt_sigaction, {}},
        {"rt_sigprocmask", SYS_rt_sigprocmask, {}}, {"rt_sigreturn", SYS_rt_sigreturn, {}}, {"rt_sigpending", SYS_rt_sigpending, {}},
        {"set_robust_list", SYS_set_robust_list, {}}, {"rseq", 334, {}}, {"set_tid_address", SYS_set_tid_address, {}},
        {"arch_prctl", SYS_arch_prctl, {}}, {"sched_yield", SYS_sched_yield, {}}, {"clock_gettime", SYS_clock_gettime, {}}, {"restart_syscall", SYS_restart_syscall, {}},
        {"getrusage", SYS_getrusage, {}}, {"setpgid", SYS_setpgid, {}}, {"getrlimit", SYS_getrlimit, {}}, {"alarm", SYS_alarm, {}}, {"capset", SYS_capset, {}}, {"shutdown", SYS_shutdown, {}},
    };
    return rows;
}

const Row* row_of(long number)
{
    auto row = std::ranges::find(table(), number, &Row::number);
    return row == table().end() ? nullptr : &*row;
}

}

std::string call_name(long number)
{
    auto* row = row_of(number);
    return row ? row->name : "call " + std::to_string(number);
}

std::vector<Fault> faults_of(long number)
{
    std::vector<Fault> out;
    if (auto* row = row_of(number))
        for (int error : row->errors)
            out.push_back({.process = {}, .call = number, .number = error == cut ? 0 : error, .kind = error == cut ? Fault::cut_short : Fault::error});
    return out;
}

#else

std::string call_name(long number) { return "call " + std::to_string(number); }
std::vector<Fault> faults_of(long) { return {}; }

#endif

std::string Fault::words() const
{
    auto what = kind == cut_short ? "cut short" : kind == kill ? "SIGKILL" : strerrorname_np(number);
    return process + ": " + call_name(call) + " " + std::to_string(nth) + ": " + what;
}

}
