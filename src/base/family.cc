#include "base/family.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace ik {
namespace {

using std::chrono::milliseconds;

// At most size bytes of a file below /proc; empty where it cannot be read.
std::string read_proc(const std::string& path, std::size_t size)
{
    std::string text(size, '\0');
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::size_t have = 0;
    while (fd >= 0 && have < size) {
        auto n = read(fd, text.data() + have, size - have);
        if (n <= 0)
            break;
        have += static_cast<std::size_t>(n);
    }
    if (fd >= 0)
        close(fd);
    text.resize(have);
    return text;
}

std::string file_of(pid_t id, const char* name) { return "/proc/" + std::to_string(id) + "/" + name; }

// One line of /proc/ID/stat: "ID (name) STATE PARENT GROUP SESSION …"; the name may hold anything. No allocation:
// the walk over many of them must be quicker than those who fork.
std::optional<Relative> read_entry(const char* id)
{
    char path[64], text[512];
    std::snprintf(path, sizeof path, "/proc/%s/stat", id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    auto size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = 0;
    const char* after = std::strrchr(text, ')');
    Relative entry;
    entry.id = static_cast<pid_t>(std::atoi(id));
    constexpr auto format = ") %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    if (!after || std::sscanf(after, format, &entry.state, &entry.parent, &entry.group, &entry.session, &entry.started) != 5)
        return {};
    return entry;
}

bool is_alive(const Relative& entry) { return entry.state != 'Z' && entry.state != 'X'; }

void nap(milliseconds time)
{
    timespec wait{time.count() / 1000, time.count() % 1000 * 1'000'000};
    nanosleep(&wait, nullptr);
}

milliseconds since_start(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return milliseconds(time.tv_sec * 1000LL + time.tv_nsec / 1'000'000);
}

// An answer without a walk through /proc; false also where an old kernel cannot be asked for all kinds of children.
bool has_no_child()
{
    siginfo_t ended{};
    return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno == ECHILD;
}

bool is_in(const std::vector<Relative>& all, const Relative& one) { return std::ranges::find(all, one) != all.end(); }

struct Picked { std::vector<Relative> chosen, spared; };

Picked pick(Choice choose)
{
    Picked out{descendants(), {}};
    auto all = out.chosen;
    choose(out.chosen);
    if (out.chosen.size() < all.size())
        for (auto& each : all)
            if (!is_in(out.chosen, each)) out.spared.push_back(each);
    return out;
}

// A whole group at once where all of it is chosen: no fork slips through.
void signal_together(const Picked& picked, int number)
{
    std::vector<pid_t> groups;
    for (auto& each : picked.chosen)
        if (each.group > 1 && each.group != getpgrp() && std::ranges::find(groups, each.group) == groups.end()
            && std::ranges::find(picked.spared, each.group, &Relative::group) == picked.spared.end())
            groups.push_back(each.group);
    for (auto group : groups)
        kill(-group, number);
    for (auto& each : picked.chosen)
        kill(each.id, number);
}

}

bool sees_processes()
{
    char number[32]{};
    return readlink("/proc/self", number, sizeof number - 1) > 0 && std::atoi(number) == getpid();
}

std::vector<Relative> descendants(pid_t of, bool with_dead)
{
    std::vector<Relative> all, below;
    if (of == getpid() && has_no_child())
        return below;
    DIR* proc = sees_processes() ? opendir("/proc") : nullptr;
    while (auto* file = proc ? readdir(proc) : nullptr)
        if (file->d_name[0] >= '0' && file->d_name[0] <= '9')
            if (auto entry = read_entry(file->d_name); entry && (with_dead || is_alive(*entry)))
                all.push_back(*entry);
    if (proc)
        closedir(proc);
    std::ranges::sort(all, {}, &Relative::parent);
    auto take_children = [&](pid_t parent) {
        auto children = std::ranges::equal_range(all, parent, {}, &Relative::parent);
        below.insert(below.end(), children.begin(), children.end());
    };
    take_children(of);
    for (std::size_t i = 0; i < below.size(); ++i)
        take_children(below[i].id);
    return below;
}

bool lives(const Relative& one)
{
    auto now = read_entry(std::to_string(one.id).c_str());
    return now && is_alive(*now) && *now == one;
}

milliseconds age(const Relative& one)
{
    auto ticks = static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
    return std::max(milliseconds(0), since_start(CLOCK_BOOTTIME) - milliseconds(one.started * 1000 / ticks));
}

std::string command_line(pid_t id)
{
    auto words = read_proc(file_of(id, "cmdline"), 4096);
    while (!words.empty() && words.back() == '\0')
        words.pop_back();
    std::ranges::replace(words, '\0', ' ');
    if (!words.empty())
        return words;
    auto name = read_proc(file_of(id, "comm"), 64);
    return name.substr(0, name.find('\n'));
}

std::string variable_of(pid_t id, std::string_view name)
{
    auto all = read_proc(file_of(id, "environ"), 1 << 18);
    for (int more = 2; all.empty() && more > 0; --more) {   // in the middle of exec there is none for a moment
        usleep(500);
        all = read_proc(file_of(id, "environ"), 1 << 18);
    }
    auto wanted = std::string(name) + "=";
    for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) == all.npos ? all.size() : all.find('\0', at) + 1)
        if (all.compare(at, wanted.size(), wanted) == 0)
            return all.c_str() + at + wanted.size();
    return "";
}

bool kill_in_rounds(Choice choose, milliseconds limit)
{
    auto end = since_start(CLOCK_MONOTONIC) + limit;
    for (;;) {
        Picked now = pick(choose);
        for (std::vector<Relative> before; since_start(CLOCK_MONOTONIC) < end; now = pick(choose)) {
            if (std::ranges::all_of(now.chosen, [&](auto& each) { return each.state == 'T' || is_in(before, each); }))
                break;
            signal_together(now, SIGSTOP);
            before = now.chosen;
        }
        if (now.chosen.empty())
            return true;
        signal_together(now, SIGKILL);
        if (since_start(CLOCK_MONOTONIC) >= end)
            return false;
        nap(milliseconds(2));
    }
}

long threads_of_machine()
{
    auto text = read_proc("/proc/loadavg", 128);   // "0.20 0.18 0.12 RUNNING/ALL LAST"
    auto slash = text.find('/');
    return slash == text.npos ? 0 : std::atol(text.c_str() + slash + 1);
}

void reap_strangers(const std::vector<pid_t>& own)
{
    for (;;) {
        siginfo_t ended{};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || ended.si_pid == 0)
            return;
        if (std::ranges::find(own, ended.si_pid) != own.end())
            return;   // its owner looks for it, and for the others we come again
        waitpid(ended.si_pid, nullptr, WNOHANG);
    }
}

}
