#include "measure.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/kcmp.h>
#include <sched.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace ik::bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }
double milliseconds(const timeval& time) { return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3; }

std::vector<char*> pointers(const std::vector<std::string>& strings)
{
    std::vector<char*> out;
    for (auto& s : strings)
        out.push_back(const_cast<char*>(s.c_str()));
    out.push_back(nullptr);
    return out;
}

pid_t start(const Command& command)
{
    auto argv = pointers(command.argv), env = pointers(command.env);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, command.input.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t id = 0;
    int failure = posix_spawn(&id, argv[0], &files, nullptr, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&files);
    if (failure)
        throw std::runtime_error(command.argv[0] + ": " + std::strerror(failure));
    return id;
}

void check(const Command& command, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == command.status)
        return;
    throw std::runtime_error(command.argv[0] + " ended with " + (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                                                      : std::to_string(WEXITSTATUS(status))));
}

// ---- Memory

std::string proc(pid_t id, const char* name) { return "/proc/" + std::to_string(id) + "/" + name; }

std::string program_of(pid_t id)
{
    char path[4096];
    auto size = readlink(proc(id, "exe").c_str(), path, sizeof path);
    return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : "";
}

std::vector<pid_t> children_of(pid_t id)
{
    std::ifstream in(proc(id, "task/") + std::to_string(id) + "/children");
    std::vector<pid_t> out;
    for (pid_t child; in >> child;)
        out.push_back(child);
    return out;
}

// Between vfork and exec a child has no memory of its own.
bool share_memory(pid_t a, pid_t b) { return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0; }

Memory memory_of(pid_t id)
{
    std::ifstream in(proc(id, "smaps_rollup"));
    Memory out;
    std::string line;
    while (std::getline(in, line)) {
        if (line.starts_with("Rss:")) out.rss_mb = std::stod(line.substr(4)) / 1024;
        if (line.starts_with("Pss:")) out.pss_mb = std::stod(line.substr(4)) / 1024;
    }
    return out;
}

void add_tree(pid_t id, const std::string& program, Memory& sum)
{
    if (program_of(id) == program) {
        auto own = memory_of(id);
        sum.rss_mb += own.rss_mb;
        sum.pss_mb += own.pss_mb;
    }
    for (auto child : children_of(id))
        if (!share_memory(id, child))
            add_tree(child, program, sum);
}

void raise_to(Memory& peak, const Memory& now)
{
    peak.rss_mb = std::max(peak.rss_mb, now.rss_mb);
    peak.pss_mb = std::max(peak.pss_mb, now.pss_mb);
}

void watch(const Command& command, const std::string& program, Memory& peak)
{
    auto id = start(command);
    int status = 0;
    while (waitpid(id, &status, WNOHANG) == 0) {
        Memory now;
        add_tree(id, program, now);
        raise_to(peak, now);
    }
    check(command, status);
}

Cost median_of(const std::vector<Cost>& costs)
{
    std::vector<double> wall, cpu;
    for (auto& cost : costs) {
        wall.push_back(cost.wall_ms);
        cpu.push_back(cost.cpu_ms);
    }
    return {median(wall), median(cpu)};
}

}

Cost run(const Command& command)
{
    auto begin = Clock::now();
    auto id = start(command);
    int status = 0;
    rusage used{};
    while (wait4(id, &status, 0, &used) < 0 && errno == EINTR)
        ;
    auto end = Clock::now();
    check(command, status);
    return {milliseconds(end - begin), milliseconds(used.ru_utime) + milliseconds(used.ru_stime)};
}

Cost cost_of(const std::function<void()>& work)
{
    auto cpu = [] {
        timespec now{};
        rusage children{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        getrusage(RUSAGE_CHILDREN, &children);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6 + milliseconds(children.ru_utime) + milliseconds(children.ru_stime);
    };
    auto start = Clock::now();
    auto before = cpu();
    work();
    return {milliseconds(Clock::now() - start), cpu() - before};
}

Memory memory_of(const Command& command, const std::string& program, int times)
{
    Memory peak;
    for (int i = 0; i < times; ++i)
        watch(command, program, peak);
    return peak;
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    auto middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Cost Pairs::median_of_ours() const { return median_of(ours); }
Cost Pairs::median_of_reference() const { return median_of(reference); }

double Pairs::ratio() const
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i)
        ratios.push_back(ours[i].wall_ms / reference[i].wall_ms);
    return median(ratios);
}

double Pairs::difference_ms() const
{
    std::vector<double> differences;
    for (std::size_t i = 0; i < ours.size(); ++i)
        differences.push_back(ours[i].wall_ms - reference[i].wall_ms);
    return median(differences);
}

Pairs in_turn(int pairs, const std::function<Cost()>& ours, const std::function<Cost()>& reference)
{
    ours();
    reference();
    Pairs out;
    for (int i = 0; i < pairs; ++i) {
        out.ours.push_back(ours());
        out.reference.push_back(reference());
    }
    return out;
}

Pairs in_turn(int pairs, const Command& ours, const Command& reference)
{
    return in_turn(pairs, [&] { return run(ours); }, [&] { return run(reference); });
}

Processors::Processors(int count) : before_(sizeof(cpu_set_t))
{
    cpu_set_t all, some;
    CPU_ZERO(&all);
    CPU_ZERO(&some);
    sched_getaffinity(0, sizeof all, &all);
    std::memcpy(before_.data(), &all, sizeof all);
    for (int i = CPU_SETSIZE; i-- > 0;)   // the first one gets the interrupts
        if (CPU_ISSET(i, &all) && CPU_COUNT(&some) < count)
            CPU_SET(i, &some);
    sched_setaffinity(0, sizeof some, &some);
}

int Processors::allowed()
{
    cpu_set_t all;
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof all, &all);
    return CPU_COUNT(&all);
}

Processors::~Processors()
{
    cpu_set_t all;
    std::memcpy(&all, before_.data(), sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

}
