#include "base/seccomp.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <map>
#include <optional>
#include <sched.h>
#include <span>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <tuple>

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

using Code = std::vector<sock_filter>;

// The two answers at the end of the program: jumps to them are marked so until it is known where that is.
constexpr unsigned char to_allow = 254, to_fail = 255;

void append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

Code load(std::uint32_t offset) { return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)}; }
Code mask(std::uint32_t bits) { return {BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)}; }
Code answer(std::uint32_t what) { return {BPF_STMT(BPF_RET | BPF_K, what)}; }
Code fail(std::uint32_t number = EPERM) { return answer(SECCOMP_RET_ERRNO | number); }

// What follows where the test holds; where it does not, what comes after that.
Code when(unsigned short test, std::uint32_t value, const Code& then)
{
    Code out{BPF_JUMP(static_cast<unsigned short>(BPF_JMP | test | BPF_K), value, 0, static_cast<unsigned char>(then.size()))};
    append(out, then);
    return out;
}

Code when_not(unsigned short test, std::uint32_t value, const Code& then)
{
    auto out = when(test, value, then);
    std::swap(out.front().jt, out.front().jf);
    return out;
}

Code in_order(std::initializer_list<Code> parts)
{
    Code out;
    for (auto& part : parts) append(out, part);
    return out;
}

bool same(const Code& a, const Code& b)
{
    return std::ranges::equal(a, b, [](auto& x, auto& y) { return std::tie(x.code, x.jt, x.jf, x.k) == std::tie(y.code, y.jt, y.jf, y.k); });
}

// What is done about a call, by its number; all others are allowed. When a process takes the program on, the kernel
// compiles it and runs it once for every number that there is: so it is short, and the number is searched by halves.
class Cases {
public:
    void fail(long number, std::uint32_t why = EPERM) { add(number, ik::fail(why)); }

    // Looks at the arguments of one call; what it does not answer is allowed.
    void on(long number, const Code& what) { add(number, in_order({what, answer(SECCOMP_RET_ALLOW)})); }

    Code code() const
    {
        const auto allow = answer(SECCOMP_RET_ALLOW);
        std::vector<Case> all;
        all.emplace_back(0, allow);
        for (auto& [number, what] : cases_) {
            bool follows = all.back().first == number;
            if (follows) all.pop_back();
            if (!follows || all.empty() || !same(all.back().second, what)) all.emplace_back(number, what);
            all.emplace_back(number + 1, allow);
        }
        return halves(all);
    }

private:
    using Case = std::pair<std::uint32_t, Code>;   // from this number on, up to the next one's

    void add(long number, Code what) { cases_.emplace(static_cast<std::uint32_t>(number), std::move(what)); }   // the first one counts

    static Code halves(std::span<const Case> cases)
    {
        if (cases.size() == 1)
            return cases[0].second;
        auto below = cases.first(cases.size() / 2), above = cases.subspan(cases.size() / 2);
        auto end_below = end(below), end_above = end(above);
        auto first = end_below ? Code{} : halves(below);
        auto jump = end_above.value_or(static_cast<unsigned char>(first.size()));
        return in_order({{BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, above[0].first, jump, end_below.value_or(0))}, first, end_above ? Code{} : halves(above)});
    }

    static std::optional<unsigned char> end(std::span<const Case> cases)
    {
        if (cases.size() == 1 && same(cases[0].second, answer(SECCOMP_RET_ALLOW))) return to_allow;
        if (cases.size() == 1 && same(cases[0].second, ik::fail())) return to_fail;
        return {};
    }

    std::map<std::uint32_t, Code> cases_;
};

Code with_ends(Code code)
{
    auto allow = code.size(), fails = allow + 1;
    for (std::size_t i = 0; i < allow; ++i) {
        if (BPF_CLASS(code[i].code) != BPF_JMP)
            continue;
        for (auto* jump : {&code[i].jt, &code[i].jf})
            if (*jump >= to_allow) *jump = static_cast<unsigned char>((*jump == to_allow ? allow : fails) - i - 1);
    }
    return in_order({code, answer(SECCOMP_RET_ALLOW), fail()});
}

}

std::vector<sock_filter> seccomp_program(const Refused& refused)
{
    if (!architecture)
        return {};
    Cases cases;
    cases.fail(nr_clone3, ENOSYS);
    cases.on(SYS_clone, in_order({load(argument(0)), when(BPF_JSET, new_namespaces, fail())}));
    cases.on(SYS_ioctl, in_order({load(argument(1)), when(BPF_JEQ, TIOCSTI, fail()), when(BPF_JEQ, 0x541C /* TIOCLINUX */, fail())}));

    if (refused.sockets)
        cases.fail(SYS_socket);
    else if (refused.unix_sockets)
        cases.on(SYS_socket, in_order({load(argument(0)), when(BPF_JEQ, AF_UNIX, fail())}));
    // One end of a pair of datagram sockets can send to any address; streams stay as they were paired.
    if (refused.sockets || refused.unix_sockets)
        cases.on(SYS_socketpair, in_order({load(argument(1)), mask(0xf), when(BPF_JEQ, SOCK_DGRAM, fail()), when(BPF_JEQ, SOCK_RAW, fail())}));

    if (refused.truncating) {
        auto unless_reading = [](unsigned flags) { return in_order({load(argument(flags)), mask(O_TRUNC | O_ACCMODE), when(BPF_JEQ, O_TRUNC | O_RDONLY, fail())}); };
        cases.fail(SYS_truncate);
        cases.fail(nr_openat2, ENOSYS);   // its flags are out of reach
        cases.on(SYS_openat, unless_reading(2));
#ifdef SYS_open
        cases.on(SYS_open, unless_reading(1));
#endif
    }
    for (auto number : always) cases.fail(number);
    if (refused.attributes)
        for (auto number : of_attributes) cases.fail(number);

    auto foreign = when_not(BPF_JEQ, architecture, answer(kill));
#ifdef __x86_64__
    append(foreign, in_order({load(offsetof(seccomp_data, nr)), when(BPF_JGE, x32_bit, answer(kill))}));
#else
    append(foreign, load(offsetof(seccomp_data, nr)));
#endif
    return with_ends(in_order({load(offsetof(seccomp_data, arch)), foreign, cases.code()}));
}

}
