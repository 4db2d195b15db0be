#include "support/service.h"

#include "base/text.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <sched.h>
#include <set>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ik::test {
namespace {

namespace fs = std::filesystem;
using Filter = std::vector<sock_filter>;
using namespace step;

constexpr unsigned dynamic_user = 63210;   // of those that systemd gives out; no file knows it

bool has(const Unit& unit, const std::string& name)
{
    auto at = unit.find(name);
    return at != unit.end() && !at->second.empty() && at->second.back() != "no";
}

std::string value(const Unit& unit, const std::string& name, const std::string& otherwise = "")
{
    auto at = unit.find(name);
    return at == unit.end() || at->second.empty() ? otherwise : at->second.back();
}

// ---- What is done in the child

void few_devices()
{
    constexpr const char* names[] = {"null", "zero", "full", "random", "urandom", "tty"};
    must(mkdir("/dev/shm/.devices", 0700) == 0 || errno == EEXIST, "make a folder");
    temporary("/dev/shm/.devices", "mode=755");
    for (std::string name : names) {
        auto to = "/dev/shm/.devices/" + name;
        must(close(open(to.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666)) == 0, "make " + to);
        bind_mount("/dev/" + name, to, false);
    }
    must(mkdir("/dev/shm/.devices/shm", 01777) == 0 && chmod("/dev/shm/.devices/shm", 01777) == 0, "make a folder");
    must(mount("/dev/shm/.devices", "/dev", nullptr, MS_MOVE, nullptr) == 0, "have devices of its own");
}

void restrict_files(const Unit& unit)
{
    bool strict = value(unit, "ProtectSystem") == "strict" || has(unit, "DynamicUser");
    if (strict) read_only("/", false), read_only("/usr");
    if (has(unit, "StateDirectory")) {   // the folder of a dynamic user is behind a link
        auto name = value(unit, "StateDirectory");
        auto real = "/var/lib/private/" + name;
        bind_mount(real, real, false);
        must(mount(nullptr, real.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0, "write to " + real);
    }
    if (has(unit, "PrivateTmp") || has(unit, "DynamicUser"))
        for (auto* path : {"/tmp", "/var/tmp"}) temporary(path, "mode=1777");
    if (has(unit, "ProtectHome"))
        for (auto* path : {"/home", "/root", "/run/user"}) temporary(path, "mode=0"), read_only(path);
    if (has(unit, "PrivateDevices")) few_devices();
    if (has(unit, "ProtectKernelTunables")) bind_mount("/proc/sys", "/proc/sys"), read_only("/proc/sys");
    if (value(unit, "ProtectProc") == "invisible") must(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2") == 0, "hide processes");
}

// ---- Filters of system calls. Each is a program of its own: the strictest counts.

constexpr unsigned number_of_call = offsetof(seccomp_data, nr);
constexpr unsigned argument(int n) { return offsetof(seccomp_data, args) + 8u * static_cast<unsigned>(n); }

sock_filter load(unsigned offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter done(unsigned what) { return BPF_STMT(BPF_RET | BPF_K, what); }
sock_filter refuse(int error) { return done(SECCOMP_RET_ERRNO | static_cast<unsigned>(error)); }
sock_filter unless_equal(unsigned value, unsigned char over) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, over); }

void install(const Filter& filter)
{
    sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "filter system calls");
}

void only_calls(const std::vector<unsigned>& allowed, unsigned otherwise)
{
    Filter filter{load(number_of_call)};
    for (auto call : allowed) {
        filter.push_back(unless_equal(call, 1));
        filter.push_back(done(SECCOMP_RET_ALLOW));
    }
    filter.push_back(done(otherwise));
    install(filter);
}

// A call whose argument has one of these bits.
void refuse_bits(unsigned call, int which, unsigned bits, unsigned all)
{
    install({load(number_of_call), unless_equal(call, 4), load(argument(which)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits),
             BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, all, 0, 1), refuse(EPERM), done(SECCOMP_RET_ALLOW)});
}

void refuse_call(unsigned call, int error) { install({load(number_of_call), unless_equal(call, 1), refuse(error), done(SECCOMP_RET_ALLOW)}); }

void restrict_families(const std::string& families)
{
    const std::map<std::string, unsigned> numbers{{"AF_UNIX", AF_UNIX}, {"AF_INET", AF_INET}, {"AF_INET6", AF_INET6}, {"AF_NETLINK", AF_NETLINK}};
    Filter filter{load(number_of_call), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0), done(SECCOMP_RET_ALLOW), load(argument(0))};
    for (auto family : split(families, ' ')) {
        filter.push_back(unless_equal(numbers.at(std::string(family)), 1));
        filter.push_back(done(SECCOMP_RET_ALLOW));
    }
    filter.push_back(refuse(EAFNOSUPPORT));
    install(filter);
}

void restrict_calls(const Unit& unit, const std::vector<unsigned>& allowed)
{
    if (has(unit, "RestrictAddressFamilies")) restrict_families(value(unit, "RestrictAddressFamilies"));
    if (has(unit, "RestrictNamespaces")) {
        constexpr unsigned namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
        refuse_bits(SYS_clone, 0, namespaces, 1);
        refuse_bits(SYS_unshare, 0, namespaces, 1);
        refuse_call(SYS_setns, EPERM);
        refuse_call(435 /* clone3 */, ENOSYS);
    }
    if (has(unit, "MemoryDenyWriteExecute")) {
        refuse_bits(SYS_mmap, 2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC);
        refuse_bits(SYS_mprotect, 2, PROT_EXEC, PROT_EXEC);
        refuse_bits(SYS_shmat, 2, 0100000 /* SHM_EXEC */, 1);
    }
    if (has(unit, "LockPersonality")) refuse_call(SYS_personality, EPERM);
    if (has(unit, "RestrictRealtime")) install({load(number_of_call), unless_equal(SYS_sched_setscheduler, 3), load(argument(1)),
                                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), refuse(EPERM), done(SECCOMP_RET_ALLOW)});
    if (has(unit, "RestrictSUIDSGID")) {
        refuse_bits(SYS_chmod, 1, S_ISUID | S_ISGID, S_ISGID);
        refuse_bits(SYS_fchmod, 1, S_ISUID | S_ISGID, S_ISGID);
        refuse_bits(SYS_fchmodat, 2, S_ISUID | S_ISGID, S_ISGID);
    }
    if (has(unit, "SystemCallArchitectures"))
        install({load(offsetof(seccomp_data, arch)),
#ifdef __x86_64__
                 unless_equal(AUDIT_ARCH_X86_64, 1),
#else
                 unless_equal(AUDIT_ARCH_AARCH64, 1),
#endif
                 done(SECCOMP_RET_ALLOW), done(SECCOMP_RET_KILL_PROCESS)});
    if (has(unit, "SystemCallFilter"))
        only_calls(allowed, has(unit, "SystemCallErrorNumber") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS);
}

// What stands behind ExecStart= or Environment=: words, with quotes as systemd knows them.
std::vector<std::string> words_of(const std::string& line)
{
    std::vector<std::string> out;
    bool open = false;
    char quote = 0;
    for (char c : line) {
        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? '\0' : c;
            if (!open) out.emplace_back(), open = true;
        } else if (!quote && c == ' ') {
            open = false;
        } else {
            if (!open) out.emplace_back(), open = true;
            out.back() += c;
        }
    }
    return out;
}

std::string with_specifiers(std::string text)
{
    for (auto at = text.find("%S"); at != text.npos; at = text.find("%S")) text.replace(at, 2, "/var/lib");
    return text;
}

// "@set" or a call, with the sets that are in sets.
void collect(const std::map<std::string, std::vector<std::string>>& sets, const std::string& word, std::set<std::string>& out)
{
    if (!word.starts_with('@')) {
        out.insert(word);
        return;
    }
    if (auto at = sets.find(word); at != sets.end())
        for (auto& more : at->second) collect(sets, more, out);
}

}

// ---- units

Unit service_of(const std::vector<std::string>& lines)
{
    Unit out;
    bool inside = false;
    for (auto& line : lines) {
        if (line.starts_with('[')) inside = line == "[Service]";
        auto equals = line.find('=');
        if (!inside || line.starts_with('#') || equals == line.npos) continue;
        out[line.substr(0, equals)].push_back(line.substr(equals + 1));
    }
    return out;
}

const std::vector<std::string>& played_options()
{
    static const std::vector<std::string> out{
        "CapabilityBoundingSet", "DynamicUser", "Environment", "EnvironmentFile", "ExecStart", "LockPersonality", "MemoryDenyWriteExecute", "NoNewPrivileges",
        "PrivateDevices", "PrivateTmp", "ProtectHome", "ProtectKernelTunables", "ProtectProc", "ProtectSystem", "RestrictAddressFamilies", "RestrictNamespaces",
        "RestrictRealtime", "RestrictSUIDSGID", "StateDirectory", "SupplementaryGroups", "SystemCallArchitectures", "SystemCallErrorNumber", "SystemCallFilter", "Type", "UMask"};
    return out;
}

std::vector<unsigned> allowed_calls(const Unit& unit)
{
    auto listed = sh("systemd-analyze syscall-filter"), numbered = sh("echo '#include <asm/unistd.h>' | cc -dM -E -");
    std::map<std::string, std::vector<std::string>> sets;
    std::string now;
    while (auto line = take_line(listed.out)) {
        auto word = std::string(trim(*line));
        if (line->starts_with('@')) now = word;
        else if (!now.empty() && !word.empty() && !word.starts_with('#')) sets[now].push_back(word);
    }
    if (sets.empty())
        return {};
    std::set<std::string> names;
    collect(sets, "@default", names);   // always
    if (auto at = unit.find("SystemCallFilter"); at != unit.end())
        for (auto& line : at->second)
            for (auto word : split(line, ' ')) collect(sets, std::string(word), names);
    std::vector<unsigned> out;
    while (auto line = take_line(numbered.out)) {
        auto words = split(*line, ' ');
        if (words.size() == 3 && words[1].starts_with("__NR_") && names.contains(std::string(words[1].substr(5)))) out.push_back(static_cast<unsigned>(std::stoul(std::string(words[2]))));
    }
    return out;
}

Ran run_as_service(const Machine& machine, const Unit& unit, const std::vector<std::string>& env)
{
    auto argv = words_of(with_specifiers(value(unit, "ExecStart")));
    Means means{argv, {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8", "INVOCATION_ID=0123456789abcdef"}, "/"};
    if (auto at = unit.find("Environment"); at != unit.end())
        for (auto& line : at->second)
            for (auto& word : words_of(with_specifiers(line))) means.env.push_back(word);
    if (has(unit, "EnvironmentFile")) means.env.insert(means.env.end(), env.begin(), env.end());
    if (has(unit, "StateDirectory")) {
        auto name = value(unit, "StateDirectory"), real = machine.root() + "/var/lib/private/" + name;
        fs::create_directories(real);
        if (!machine.exists("/var/lib/" + name)) fs::create_symlink("private/" + name, machine.root() + "/var/lib/" + name);
        REQUIRE(chown(real.c_str(), dynamic_user, dynamic_user) == 0);
        means.env.push_back("STATE_DIRECTORY=/var/lib/" + name);
    }
    if (sanitized()) means.env.push_back(no_leak_check);
    auto calls = allowed_calls(unit);
    return run_after(machine.root(), means, [&] {
        restrict_files(unit);
        if (has(unit, "UMask")) umask(static_cast<mode_t>(std::stoul(value(unit, "UMask"), nullptr, 8)));
        if (unit.contains("CapabilityBoundingSet"))
            for (unsigned long one = 0; prctl(PR_CAPBSET_DROP, one, 0, 0, 0) == 0; ++one) {}
        if (has(unit, "DynamicUser")) become(dynamic_user);
        must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "give up privileges");
        restrict_calls(unit, calls);
    });
}

}
