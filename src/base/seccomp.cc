#include "base/seccomp.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace ik {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

constexpr std::uint32_t x32_bit = 0x40000000;
constexpr std::uint32_t kill = 0x80000000u;   // SECCOMP_RET_KILL_PROCESS

// Numbers that are the same everywhere, and that an older system's headers lack.
constexpr long nr_pidfd_getfd = 438, nr_openat2 = 437, nr_clone3 = 435, nr_open_tree = 428, nr_fspick = 433, nr_mount_setattr = 442, nr_fchmodat2 = 452, nr_setxattrat = 463, nr_removexattrat = 466, nr_open_tree_attr = 467, nr_file_setattr = 469;

constexpr long always[] = {
    // other processes
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, nr_pidfd_getfd, SYS_kcmp,
    // mounts and namespaces
    SYS_mount, SYS_umount2, nr_open_tree, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, nr_fspick,
    nr_mount_setattr, nr_open_tree_attr, SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root,
    // the kernel and the whole machine
    SYS_kexec_load, SYS_bpf, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_perf_event_open, SYS_userfaultfd, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
    // keys, files by number, and queues that do all of that unseen
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_open_by_handle_at, SYS_fanotify_init, 425 /* io_uring_setup */, 426 /* _enter */, 427 /* _register */,
};

constexpr long of_attributes[] = {
    SYS_truncate, SYS_fchmod, SYS_fchmodat, nr_fchmodat2, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, nr_setxattrat, nr_removexattrat, nr_file_setattr, SYS_utimensat,
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

constexpr std::uint32_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// The low half of an argument. Flags, families and requests are ints: the kernel does not look at the other half.
constexpr std::uint32_t argument(unsigned n)
{
    constexpr bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + n * 8 + (big ? 4 : 0);
}

class Builder {
public:
    void load(std::uint32_t offset) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
    void mask(std::uint32_t bits) { code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)); }
    void answer(std::uint32_t what) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, what)); }
    void fail(std::uint32_t number) { answer(SECCOMP_RET_ERRNO | number); }

    void fail_if(std::uint32_t value, std::uint32_t number = EPERM)
    {
        code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
        fail(number);
    }
    void kill_unless(std::uint32_t value)
    {
        code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
        answer(kill);
    }
    void kill_from(std::uint32_t value)
    {
        code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1));
        answer(kill);
    }
    void fail_if_any(std::uint32_t bits)
    {
        code_.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
        fail(EPERM);
    }

    // Looks at the arguments of one call; what the body does not refuse is allowed.
    void on(long number, auto body)
    {
        auto jump = code_.size();
        code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 0));
        body();
        answer(SECCOMP_RET_ALLOW);
        code_[jump].jf = static_cast<unsigned char>(code_.size() - jump - 1);
    }

    std::vector<sock_filter> take() { return std::move(code_); }

private:
    std::vector<sock_filter> code_;
};

}

std::vector<sock_filter> seccomp_program(const Refused& refused)
{
    if (!architecture)
        return {};
    Builder b;
    b.load(offsetof(seccomp_data, arch));
    b.kill_unless(architecture);
    b.load(offsetof(seccomp_data, nr));
#ifdef __x86_64__
    b.kill_from(x32_bit);
#endif
    b.fail_if(nr_clone3, ENOSYS);
    b.on(SYS_clone, [&] { b.load(argument(0)); b.fail_if_any(new_namespaces); });
    b.on(SYS_ioctl, [&] { b.load(argument(1)); b.fail_if(TIOCSTI); b.fail_if(0x541C /* TIOCLINUX */); });

    if (refused.sockets)
        b.fail_if(SYS_socket);
    else if (refused.unix_sockets)
        b.on(SYS_socket, [&] { b.load(argument(0)); b.fail_if(AF_UNIX); });
    // One end of a pair of datagram sockets can send to any address; streams stay as they were paired.
    if (refused.sockets || refused.unix_sockets)
        b.on(SYS_socketpair, [&] { b.load(argument(1)); b.mask(0xf); b.fail_if(SOCK_DGRAM); b.fail_if(SOCK_RAW); });

    if (refused.truncating) {
        auto only_reading = [&](unsigned flags) {
            b.load(argument(flags));
            b.mask(O_TRUNC | O_ACCMODE);
            b.fail_if(O_TRUNC | O_RDONLY);
        };
        b.fail_if(SYS_truncate);
        b.fail_if(nr_openat2, ENOSYS);   // its flags are out of reach
        b.on(SYS_openat, [&] { only_reading(2); });
#ifdef SYS_open
        b.on(SYS_open, [&] { only_reading(1); });
#endif
    }
    for (auto number : always) b.fail_if(static_cast<std::uint32_t>(number));
    if (refused.attributes)
        for (auto number : of_attributes) b.fail_if(static_cast<std::uint32_t>(number));
    b.answer(SECCOMP_RET_ALLOW);
    return b.take();
}

}
