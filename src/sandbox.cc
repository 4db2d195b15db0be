#include "sandbox.h"

#include "base/places.h"
#include "base/seccomp.h"
#include "base/text.h"
#include "outbox.h"
#include "refusal.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fnmatch.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ik {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, SandboxMode> modes[] = {{"off", SandboxMode::off}, {"read-only", SandboxMode::read_only}, {"workspace", SandboxMode::workspace}};

constexpr const char* secret[] = {"/etc/shadow*", "/etc/gshadow*", "/etc/security/opasswd", "/etc/ssl/private", "/etc/ssh/ssh_host_*_key"};
constexpr const char* secret_at_home[] = {
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".config/gcloud", ".config/gh", ".config/ikigai", ".docker/config.json", ".netrc", ".pgpass",
    ".local/state/ikigai",
};
constexpr const char* devices[] = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts/ptmx"};
constexpr auto device_rights = landlock::read_file | landlock::write_file | landlock::truncate | landlock::ioctl_dev;

// Links followed as far as there is something; the rest as it is written.
std::string real_path(const std::string& path)
{
    auto there = path;
    char* real = realpath(there.c_str(), nullptr);
    while (!real && folder_name(there) != there) {
        there = folder_name(there);
        real = realpath(there.c_str(), nullptr);
    }
    if (path.empty() || !real)
        return fs::path(path).lexically_normal().string();
    auto rest = there == path ? "" : there == "." ? path : path.substr(there.size());
    auto out = fs::path(real + ("/" + rest)).lexically_normal().string();
    std::free(real);
    return out.size() > 1 && out.ends_with('/') ? out.substr(0, out.size() - 1) : out;
}

bool beneath(std::string_view path, std::string_view folder)
{
    return !folder.empty() && path.starts_with(folder) && (path.size() == folder.size() || folder == "/" || path[folder.size()] == '/');
}

std::string inside(const std::string& folder, const std::string& name) { return folder == "/" ? "/" + name : folder + "/" + name; }

Stamp stamp_of_path(const std::string& path)
{
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? stamp_of(info) : Stamp{};
}

std::vector<std::string> names_of(std::string_view path)
{
    std::vector<std::string> out;
    for (auto name : split(path, '/'))
        if (!name.empty()) out.emplace_back(name);
    return out;
}

// The nearest thing of a path that is there.
std::string existing(std::string path)
{
    while (path.size() > 1 && access(path.c_str(), F_OK) != 0) path = folder_name(path);
    return path;
}

}

std::optional<SandboxMode> sandbox_mode(std::string_view word)
{
    for (auto& [name, mode] : modes)
        if (name == word) return mode;
    return {};
}

std::optional<std::string> no_sandbox()
{
    if (seccomp_program({}).empty())
        return "ikigai does not know the system calls of this machine";
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL)
        return "this kernel has no seccomp";
    if (landlock::abi() == 0)
        return errno == EPERM ? "Landlock is refused here, as the seccomp profile of an old container manager does"
                              : "this kernel has no Landlock (Linux 5.13, and its name in /sys/kernel/security/lsm)";
    return {};
}

const Sandbox::Node* Sandbox::Node::find(const std::string& name) const
{
    if (auto exact = children.find(name); exact != children.end())
        return &exact->second;
    auto pattern = std::ranges::find_if(children, [&](auto& child) { return fnmatch(child.first.c_str(), name.c_str(), 0) == 0; });
    return pattern == children.end() ? nullptr : &pattern->second;
}

void Sandbox::protect(const std::string& named)
{
    auto path = named.starts_with("~/") ? home_folder() + named.substr(1) : named;
    if (!path.starts_with('/') || path == "/")
        return;
    // The name, in the folder that is really meant; and what it leads to where it is a link.
    for (auto& each : {inside(real_path(folder_name(path)), base_name(path)), real_path(path)}) {
        auto* node = &protected_;
        for (auto& name : names_of(each)) node = &node->children[name];
        node->is_protected = true;
    }
}

bool Sandbox::is_protected(const std::string& path) const
{
    auto* node = &protected_;
    for (auto& name : names_of(path)) {
        node = node->find(name);
        if (!node || node->is_protected)
            return node != nullptr;
    }
    return false;
}

// Whether something protected is, or could be, in the folder.
bool Sandbox::holds_protected(const std::string& folder) const
{
    auto* node = &protected_;
    for (auto& name : names_of(folder))
        if (!(node = node->find(name)))
            return false;
    return true;
}

Result<Sandbox> Sandbox::make(SandboxWish wish)
{
    Sandbox out;
    out.wish_ = std::move(wish);
    out.abi_ = std::min(landlock::abi(), out.wish_.most_abi);
    out.folder_ = real_path(".");
    auto why_not = no_sandbox();
    out.active_ = out.wish_.mode != SandboxMode::off && !why_not && out.abi_ > 0;
    if (!out.active_) {
        if (out.wish_.mode != SandboxMode::off)
            out.notices_.push_back("Tools run without a sandbox: " + why_not.value_or("it is played to have no Landlock"));
        return out;
    }
    make_folders(out.wish_.outputs);   // the rules speak of the folder, not of its name
    auto temporary = temporary_folder() + "/ikigai-tools-XXXXXX";
    if (mkdtemp(temporary.data()))
        out.temporary_ = real_path(temporary);
    else
        out.notices_.push_back("tools have no folder for temporary files, since none can be made in " + temporary_folder() + ": " + std::strerror(errno));

    for (auto* path : secret) out.protect(path);
    for (auto& home : {home_folder(), passwd_home()})
        for (auto* path : secret_at_home)
            if (!home.empty()) out.protect(home + "/" + path);
    for (auto& path : {state_folder(), config_folder()}) out.protect(path);
    for (auto& path : out.wish_.protect) {
        if (!path.starts_with('/') && !path.starts_with("~/"))
            return Error{code::invalid_arg, "sandbox_protect: \"" + path + "\" begins with neither / nor ~/"};
        out.protect(path);
    }

    if (out.wish_.mode == SandboxMode::workspace) {
        out.writable_ = out.folder_.starts_with('/') && !out.holds_protected(out.folder_) && !out.is_protected(out.folder_)
            && !beneath(out.folder_, "/dev") && !beneath(out.folder_, "/proc") && !beneath(out.folder_, "/sys");
        if (out.writable_)
            out.guard_.emplace(out.folder_);
        else
            out.notices_.push_back(out.folder_.starts_with('/') ? out.folder_ + " is no workspace, since it holds what tools must not touch: they may only write to their TMPDIR"
                                                                : "there is no workspace, since the current folder has been removed: tools may only write to their TMPDIR");
    }
    return out;
}

Sandbox::~Sandbox() { close(); }

void Sandbox::close()
{
    built_.clear();
    std::error_code ignored;
    if (auto path = std::exchange(temporary_, {}); !path.empty())
        fs::remove_all(path, ignored);
    if (active_ && !wish_.outputs.empty())
        rmdir(wish_.outputs.c_str());   // stays where something is kept in it
    active_ = false;
}

// Reading, of everything in the folder but what is protected: level by level, since a right on a folder is one on all of it.
void Sandbox::allow_beneath(const Node& node, const std::string& folder, Built& built) const
{
    built.watched.push_back({folder, stamp_of_path(folder)});   // before it is read: what comes later makes it stale
    std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(folder.c_str()), closedir);
    while (auto* entry = list ? readdir(list.get()) : nullptr) {
        std::string name = entry->d_name;
        if (name == "." || name == ".." || entry->d_type == DT_LNK)
            continue;
        auto* inner = node.find(name);
        if (!inner)
            built.ruleset->allow(dirfd(list.get()), name.c_str(), landlock::reading, entry->d_type);
        else if (!inner->is_protected)
            allow_beneath(*inner, inside(folder, name), built);
    }
}

Status Sandbox::build(Built& built, const std::vector<std::string>& readable) const
{
    bool reads_only = wish_.mode == SandboxMode::read_only;
    auto ruleset = landlock::Ruleset::make(abi_, reads_only);
    if (!ruleset)
        return ruleset.error();
    built = {.ruleset = std::move(*ruleset), .confinement = {}, .watched = {}};

    built.ruleset->allow("/", landlock::read_dir);
    auto tree = protected_;
    tree.children["dev"].is_protected = true;   // a disk has all files in it
    allow_beneath(tree, "/", built);
    for (auto* device : devices) built.ruleset->allow(std::string("/dev/") + device, device_rights);
    built.ruleset->allow("/dev/shm", landlock::reading | landlock::writing);
    for (int fd = 0; wish_.terminal && fd < 3; ++fd)
        if (const char* name = ttyname(fd)) built.ruleset->allow(name, device_rights);

    if (!temporary_.empty()) built.ruleset->allow(temporary_, landlock::reading | landlock::writing);
    if (writable_) built.ruleset->allow(folder_, landlock::reading | landlock::writing);
    if (!wish_.outputs.empty()) built.ruleset->allow(wish_.outputs, landlock::read_file | landlock::read_dir | landlock::write_file | landlock::truncate);
    for (auto& path : readable) {
        built.ruleset->allow(real_path(path), landlock::read_file | landlock::read_dir);
        built.watched.push_back({real_path(path), stamp_of_path(real_path(path))});
    }

    built.confinement.ruleset = built.ruleset->fd();
    built.confinement.seccomp = seccomp_program({.sockets = reads_only, .unix_sockets = wish_.unix_sockets.empty(), .attributes = reads_only, .truncating = abi_ < 3});
    return Done{};
}

Result<const Confinement*> Sandbox::confinement(const std::vector<std::string>& readable)
{
    if (!active_)
        return static_cast<const Confinement*>(nullptr);
    auto& built = built_[readable];
    bool fresh = built.ruleset && std::ranges::all_of(built.watched, [](auto& each) { return stamp_of_path(each.path) == each.stamp; });
    if (!fresh)
        if (auto done = build(built, readable); !done)
            return done.error();
    return static_cast<const Confinement*>(&built.confinement);
}

void Sandbox::prepare()
{
    auto rules = confinement();
    if (!rules || !*rules || wish_.self.empty())
        return;
    auto& standby = built_[{}].standby;
    if (standby && standby->waits())
        return;
    standby.reset();
    if (auto started = Standby::start({wish_.self, "standby"}, **rules))
        standby = std::move(*started);
}

std::optional<Standby> Sandbox::take_standby(const std::vector<std::string>& readable) { return std::exchange(built_[readable].standby, {}); }

pid_t Sandbox::standby() const
{
    auto usual = built_.find({});
    return usual != built_.end() && usual->second.standby ? usual->second.standby->id() : Process::nobody;
}

void Sandbox::remember()
{
    if (active_ && guard_) guard_->remember();
}

std::vector<std::string> Sandbox::put_back()
{
    if (!active_ || !guard_)
        return {};
    return guard_->put_back([&] {
        auto rules = confinement();
        return rules ? *rules : nullptr;
    });
}

bool Sandbox::may_read(const std::string& named) const
{
    auto path = real_path(named);
    if (!active_ || beneath(path, folder_ == "/" || !writable_ ? "" : folder_) || beneath(path, temporary_) || beneath(path, wish_.outputs))
        return true;
    if (beneath(path, "/dev"))
        return beneath(path, "/dev/shm") || std::ranges::any_of(devices, [&](const std::string& device) { return path == "/dev/" + device; });
    return !is_protected(path);
}

bool Sandbox::may_write(const std::string& named) const
{
    auto path = real_path(named);
    if (!active_ || beneath(path, temporary_) || beneath(path, "/dev/shm") || std::ranges::any_of(devices, [&](const std::string& device) { return path == "/dev/" + device; }))
        return true;
    return writable_ && beneath(path, folder_) && !(path.size() > folder_.size() && Guard::covers(path.substr(folder_.size() + 1)));
}

std::optional<std::string> Sandbox::refused(std::string_view text) const
{
    if (!active_)
        return {};
    for (auto& path : refused_paths(text)) {
        auto there = existing(path);
        bool not_read = !may_read(path) && access(path.c_str(), R_OK) == 0;
        bool not_written = !may_write(path) && access(there.c_str(), W_OK) == 0;
        if (not_read || not_written)
            return "may have been refused by the sandbox: " + path;
    }
    return {};
}

}
