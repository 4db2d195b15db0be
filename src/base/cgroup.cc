#include "base/cgroup.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace ik {
namespace {

std::string text_of(const std::string& path, std::size_t most = 1 << 20)
{
    std::string text;
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char buffer[4096];
    for (std::ptrdiff_t n; file && text.size() < most && (n = read_some(file.get(), buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    return text;
}

bool put(const std::string& path, const std::string& text)
{
    Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// The number behind a word at the start of a line: "max 3".
std::uint64_t count_in(const std::string& text, std::string_view word)
{
    for (auto line : split(text, '\n'))
        if (line.starts_with(word) && line.size() > word.size() && line[word.size()] == ' ')
            return std::strtoull(std::string(line.substr(word.size())).c_str(), nullptr, 10);
    return 0;
}

bool has_word(std::string_view text, std::string_view word, char between)
{
    auto words = split(trim(text), between);
    return std::ranges::find(words, word) != words.end();
}

std::vector<pid_t> members_of(const std::string& folder)
{
    std::vector<pid_t> out;
    auto all = text_of(folder + "/cgroup.procs");
    for (auto line : split(all, '\n'))
        if (auto id = std::atoi(std::string(line).c_str()); id > 0)
            out.push_back(id);
    return out;
}

bool remove_folder(const std::string& folder) { return rmdir(folder.c_str()) == 0 || errno == ENOENT; }

void nap()
{
    timespec time{0, 5'000'000};
    nanosleep(&time, nullptr);
}

// One place where a hierarchy is mounted, of /proc/self/mountinfo: "ID PARENT DEV ROOT POINT OPTIONS … - TYPE SOURCE SUPER".
struct Mount { std::string root, point; bool v2 = false; std::string controllers; };

std::optional<Mount> read_mount(std::string_view line)
{
    auto dash = line.find(" - ");
    if (dash == line.npos)
        return {};
    auto front = split(line.substr(0, dash), ' '), back = split(line.substr(dash + 3), ' ');
    if (front.size() < 5 || back.size() < 3 || (back[0] != "cgroup" && back[0] != "cgroup2"))
        return {};
    return Mount{std::string(front[3]), std::string(front[4]), back[0] == "cgroup2", std::string(back[2])};
}

// Our own path in the hierarchy, of /proc/self/cgroup: "ID:CONTROLLERS:PATH", where version 2 has no controllers.
std::optional<std::string> path_in(const std::string& list, const Mount& mount)
{
    for (auto line : split(list, '\n')) {
        auto first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
        if (second == line.npos)
            continue;
        auto names = line.substr(first + 1, second - first - 1);
        bool same = mount.v2 ? names.empty() : !names.empty() && has_word(mount.controllers, split(names, ',').front(), ',');
        if (!same)
            continue;
        auto path = std::string(line.substr(second + 1));
        if (path.find("/..") != path.npos)
            return {};   // outside of what we can see
        if (mount.root != "/" && path.starts_with(mount.root))
            path.erase(0, mount.root.size());
        return path == "/" ? "" : path;
    }
    return {};
}

std::vector<std::string> groups_in(const std::string& folder)
{
    std::vector<std::string> below;
    DIR* entries = opendir(folder.c_str());
    while (auto* entry = entries ? readdir(entries) : nullptr)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            below.push_back(folder + "/" + entry->d_name);
    if (entries)
        closedir(entries);
    return below;
}

bool has_groups(const std::string& folder)
{
    struct stat info {};
    return stat(folder.c_str(), &info) < 0 || info.st_nlink > 2;
}

// The groups in our folders, and the folders, end with this. Called by the guard only.
void kill_below(const std::string& folder)
{
    put(folder + "/cgroup.kill", "1");
    for (auto& each : groups_in(folder)) {
        if (access((each + "/pids.max").c_str(), F_OK) == 0)
            put(each + "/pids.max", "0");
        for (auto id : members_of(each))
            ::kill(id, SIGKILL);
        remove_folder(each);
    }
    remove_folder(folder);
}

bool remove_below(const std::string& folder)
{
    for (auto& each : groups_in(folder))
        remove_folder(each);
    return remove_folder(folder);
}

void keep_only(int fd)
{
    dup2(fd, 0);
    if (syscall(SYS_close_range, 1u, ~0u, 0u) < 0)
        for (int other = 1; other < 4096; ++other)
            close(other);
}

// Waits until our parent has ended (its end of the pipe closes), gives it and its supervisor 1.8 s to end what is
// left in their own way, and kills the rest. Where both are dead it does so at once.
[[noreturn]] void watch_over(int life, const std::vector<std::string>& folders, pid_t inner, pid_t outer)
{
    prctl(PR_SET_NAME, "tools-guard");   // so that `pkill -9 ikigai` leaves it to its work
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    keep_only(life);
    [[maybe_unused]] int moved = chdir("/");
    char byte;
    while (read_some(0, &byte, 1) > 0)
        ;
    auto removed = [&] { return std::ranges::all_of(folders, [](auto& folder) { return remove_below(folder); }); };
    for (int i = 0; i < 360 && (getppid() == inner || (outer > 1 && getppid() == outer)); ++i, nap())
        if (removed())
            _exit(0);
    for (int i = 0; i < 2000 && !removed(); ++i, nap())
        for (auto& folder : folders)
            kill_below(folder);
    _exit(0);
}

}

std::vector<int> Cgroup::doors() const
{
    std::vector<int> out;
    for (auto& door : doors_)
        out.push_back(door.get());
    return out;
}

bool Cgroup::memory_exceeded() const
{
    return !memory_.empty() && (count_in(text_of(memory_ + "/memory.events"), "oom_kill") > 0 || count_in(text_of(memory_ + "/memory.oom_control"), "oom_kill") > 0);
}

bool Cgroup::processes_exceeded() const
{
    if (!events_)
        return false;
    char text[256];
    auto n = pread(events_.get(), text, sizeof text, 0);
    return n > 0 && count_in(std::string(text, static_cast<std::size_t>(n)), "max") > 0;
}

std::vector<pid_t> Cgroup::members() const
{
    return folders_.empty() ? std::vector<pid_t>{} : members_of(folders_.front());
}

void Cgroup::kill(pid_t except)
{
    killed_ = true;
    if (!pids_.empty())
        put(pids_ + "/pids.max", "0");   // nobody gets away by forking
    for (int round = 0; round < 200; ++round) {
        bool none = true;
        for (auto& folder : folders_)
            for (auto id : members_of(folder))
                if (id != except) {
                    none = false;
                    ::kill(id, SIGKILL);
                }
        if (none)
            return;
        nap();
    }
}

// A limited memory also holds files that were read and written: whose they are is not told.
bool Cgroup::as_new() const
{
    return !folders_.empty() && !killed_ && !limits_memory() && !processes_exceeded()
        && std::ranges::all_of(folders_, [](auto& folder) { return members_of(folder).empty() && !has_groups(folder); });
}

bool Cgroup::remove()
{
    doors_.clear();
    events_.reset();
    std::erase_if(folders_, remove_folder);
    return folders_.empty();
}

// The first place in which our folder can be made counts.
void Cgroups::add(const std::string& place, Hierarchy hierarchy)
{
    hierarchy.folder = place + "/" + name_;
    if (mkdir(hierarchy.folder.c_str(), 0755) < 0)
        return;
    if (hierarchy.v2 && (hierarchy.memory || hierarchy.pids)) {
        bool ok = put(hierarchy.folder + "/cgroup.subtree_control", std::string(hierarchy.memory ? "+memory " : "") + (hierarchy.pids ? "+pids" : ""));
        hierarchy.memory &= ok;
        hierarchy.pids &= ok;
    }
    hierarchies_.push_back(std::move(hierarchy));
}

void Cgroups::look()
{
    looked_ = true;
    auto list = text_of(root_ + "/proc/self/cgroup"), mounts = text_of(root_ + "/proc/self/mountinfo");
    for (auto line : split(mounts, '\n')) {
        auto mount = read_mount(line);
        auto path = mount ? path_in(list, *mount) : std::nullopt;
        if (!path)
            continue;
        auto own = root_ + mount->point + *path;
        if (!mount->v2) {
            bool memory = has_word(mount->controllers, "memory", ','), pids = has_word(mount->controllers, "pids", ',');
            if (memory || pids)
                add(own, {{}, false, memory, pids});
            continue;
        }
        // A group with processes in it cannot hand controllers on; the one above it does so already.
        auto before = hierarchies_.size();
        for (auto& place : {own, path->empty() ? own : own.substr(0, own.rfind('/'))}) {
            auto handed_on = text_of(place + "/cgroup.subtree_control");
            bool memory = has_word(handed_on, "memory", ' '), pids = has_word(handed_on, "pids", ' ');
            if (hierarchies_.size() == before && (memory || pids))
                add(place, {{}, true, memory, pids});
        }
        if (hierarchies_.size() == before && access((own + "/cgroup.kill").c_str(), F_OK) == 0)
            add(own, {{}, true, false, false});
    }
}

std::optional<Cgroup> Cgroups::make(const std::string& name, const CgroupLimits& limits)
{
    if (auto known = std::ranges::find(spare_, limits, &Cgroup::limits_); known != spare_.end()) {
        auto again = std::move(*known);
        spare_.erase(known);
        return again;
    }
    if (!looked_)
        look();
    Cgroup group;
    group.limits_ = limits;
    for (auto& hierarchy : hierarchies_) {
        bool memory = hierarchy.memory && limits.memory && !group.limits_memory();
        bool pids = hierarchy.pids && !group.limits_processes();
        if (!memory && !pids && !hierarchy.v2)
            continue;
        auto folder = hierarchy.folder + "/" + name;
        if (mkdir(folder.c_str(), 0755) < 0)
            continue;
        group.folders_.push_back(folder);
        // In version 1 a single thread moves without the lock that all forks of the machine wait for.
        auto door = folder + (hierarchy.v2 ? "/cgroup.procs" : "/tasks");
        Fd fd(open(door.c_str(), O_WRONLY | O_CLOEXEC));
        if (!fd)
            return {};
        group.doors_.push_back(std::move(fd));
        if (memory && put(folder + (hierarchy.v2 ? "/memory.max" : "/memory.limit_in_bytes"), std::to_string(limits.memory))) {
            group.memory_ = folder;
            if (hierarchy.v2) put(folder + "/memory.swap.max", "0");
            else put(folder + "/memory.memsw.limit_in_bytes", std::to_string(limits.memory));
        }
        if (pids && (!limits.processes || put(folder + "/pids.max", std::to_string(limits.processes)))) {
            group.pids_ = folder;
            group.tells_ = hierarchy.v2;
            group.events_ = Fd(open((folder + "/pids.events").c_str(), O_RDONLY | O_CLOEXEC));
            group.processes_exceeded();   // read once, so that poll tells what comes after
        }
    }
    if (group.folders_.empty())
        return {};
    if (!guard_)
        start_guard();
    return group;
}

bool Cgroups::take_back(Cgroup& group)
{
    if (!group.as_new())
        return false;
    spare_.push_back(std::move(group));
    return true;
}

void Cgroups::start_guard()
{
    auto pipe = make_pipe();
    if (!pipe)
        return;
    std::vector<std::string> folders;
    for (auto& hierarchy : hierarchies_)
        folders.push_back(hierarchy.folder);
    pid_t inner = getpid(), outer = getppid();
    pid_t id = fork();
    if (id == 0)
        watch_over(pipe->read.get(), folders, inner, outer);
    if (id < 0)
        return;
    guard_ = id;
    life_ = std::move(pipe->write);
}

bool Cgroups::remove()
{
    bool all = true;
    for (auto& hierarchy : hierarchies_)
        all = remove_below(hierarchy.folder) && all;
    return all;
}

// Where all is empty the guard has nothing to wait for.
Cgroups::~Cgroups()
{
    spare_.clear();
    bool all = remove();
    life_.reset();
    if (guard_ && all) {
        ::kill(guard_, SIGKILL);
        waitpid(guard_, nullptr, 0);
    }
}

}
