#include "base/landlock.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ik::landlock {
namespace {

// The same on every architecture. Debian 12 has only the first member of the first of the structures.
constexpr long create_ruleset = 444, add_rule = 445;
constexpr unsigned version_flag = 1, path_beneath = 1;
constexpr std::uint64_t bind_tcp = 1, connect_tcp = 2, scope_abstract_unix = 1, scope_signal = 2;

struct RulesetAttr { std::uint64_t handled_fs, handled_net, scoped; };
struct [[gnu::packed]] PathAttr { std::uint64_t allowed; std::int32_t parent; };

constexpr Rights of_files = execute | write_file | read_file | truncate | ioctl_dev;

constexpr Rights first = (1 << 13) - 1;   // version 1
constexpr struct { int abi; Rights more; } later[] = {{2, refer}, {3, truncate}, {5, ioctl_dev}};

}

int abi()
{
    auto version = syscall(create_ruleset, nullptr, 0, version_flag);
    return version > 0 ? static_cast<int>(version) : 0;
}

Result<Ruleset> Ruleset::make(int abi, bool no_tcp)
{
    Ruleset out;
    out.known_ = first;
    for (auto& [since, more] : later)
        if (abi >= since) out.known_ |= more;
    RulesetAttr attr{out.known_, abi >= 4 && no_tcp ? bind_tcp | connect_tcp : 0, abi >= 6 ? scope_abstract_unix | scope_signal : 0};
    std::size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 16 : 8;   // an older kernel knows less of it
    out.fd_ = Fd(static_cast<int>(syscall(create_ruleset, &attr, size, 0)));
    if (!out.fd_)
        return Error{code::spawn_failed, std::string("the kernel makes no Landlock rule set: ") + std::strerror(errno)};
    return out;
}

void Ruleset::allow(int folder, const char* name, Rights rights, unsigned char type)
{
    Fd fd(openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!fd || (type == DT_UNKNOWN && fstat(fd.get(), &info) < 0) || S_ISLNK(info.st_mode))
        return;
    bool is_folder = type == DT_DIR || S_ISDIR(info.st_mode);
    PathAttr attr{rights & known_ & (is_folder ? ~Rights{} : of_files), fd.get()};
    if (attr.allowed)
        syscall(add_rule, fd_.get(), path_beneath, &attr, 0);   // what cannot be allowed stays refused
}

void Ruleset::allow(const std::string& path, Rights rights) { allow(AT_FDCWD, path.c_str(), rights, DT_UNKNOWN); }

}
