// search: grep and glob over the sources of Linux, beside ripgrep and fd on the same files with as many threads; and
// what cannot be had for less: to find the files, read them and count their newlines.
#include "rows.h"

#include "applets/scan.h"
#include "applets/walk.h"
#include "base/fd.h"
#include "base/json.h"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ik::bench {
namespace {

constexpr int pairs = 9, short_pairs = 200, glob_pairs = 21;

struct Sought {
    const char* pattern;
    double goal;
};

constexpr Sought patterns[] = {
    {"kmalloc_array", 1.05},
    {"[Tt][Oo][Dd][Oo]", 1.05},
    {"mutex_lock_interruptible|spin_trylock_irqsave|rcu_assign_pointer", 1.05},
    {"static inline [a-z_]+ [a-z0-9_]+_lock\\(", 1.05},
    {"zqxjkvbp_never_there", 1.05},
    {"[A-Z]{4,}[0-9]{3,}[a-z]+[0-9]", 1},
};

std::string fixed(const char* format, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

Command command(const Place& here, std::vector<std::string> argv, std::string input = "/dev/null")
{
    return {.argv = std::move(argv), .input = std::move(input), .env = {"PATH=/usr/bin:/bin", "LANG=C", "HOME=" + here.folder}};
}

Command tool(const Place& here, const std::string& name, const Json& arguments)
{
    auto path = here.folder + "/" + name + ".json";
    if (!(std::ofstream(path) << arguments.dump()).flush())
        throw std::runtime_error("cannot write " + path);
    return command(here, {here.libexec + "/" + name}, path);
}

// As ours: no file is left out but the hidden ones, and lines have their numbers.
Command ripgrep(const Place& here, const std::string& pattern, int threads)
{
    return command(here, {here.ripgrep, "--no-config", "--no-ignore", "-n", "--no-heading", "--color=never", "-j" + std::to_string(threads), "-e", pattern, "."});
}

Line compared(std::string row, std::string ours, std::string reference, const Pairs& measured, double goal)
{
    return {.row = std::move(row), .ours = std::move(ours), .reference = std::move(reference), .our_cost = measured.median_of_ours(),
            .reference_cost = measured.median_of_reference(), .figure = fixed("ratio %.2f", measured.ratio()), .goal = fixed("<= %.2f", goal),
            .met = measured.ratio() <= goal};
}

Line memory_line(std::string row, const Memory& ours, const Memory& reference)
{
    auto ratio = ours.rss_mb / reference.rss_mb;
    return {.row = std::move(row), .ours = "  its memory, at its peak", .reference = fixed("%.1f MB", reference.rss_mb), .our_memory = ours,
            .figure = fixed("ratio %.2f", ratio), .goal = "<= 2.00", .met = ratio <= 2};
}

// The sources as the current folder, and back again.
class Within {
public:
    explicit Within(const Place& here)
    {
        if (here.corpus.empty())
            throw std::runtime_error("there is no corpus (CORPUS=DIR names one)");
        std::filesystem::current_path(here.corpus);
        folder_ = here.folder;
    }
    Within(const Within&) = delete;
    ~Within() { std::filesystem::current_path(folder_); }

private:
    std::string folder_;
};

std::size_t lines_of(const std::string& path, std::string& buffer)
{
    Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::size_t out = 0;
    for (std::ptrdiff_t n; fd && (n = read_some(fd.get(), buffer.data(), buffer.size())) > 0;)
        out += newlines({buffer.data(), static_cast<std::size_t>(n)});
    return out;
}

Line floor_line()
{
    std::vector<double> wall, cpu;
    std::size_t lines = 0;
    std::string buffer(256 << 10, '\0');
    for (int i = 0; i < 3; ++i) {
        auto cost = cost_of([&] {
            lines = 0;
            (void)walk({.pattern = "**/*", .regular_only = true}, [&](const std::string& path) { return lines += lines_of(path, buffer), true; });
        });
        wall.push_back(cost.wall_ms);
        cpu.push_back(cost.cpu_ms);
    }
    return {.row = "grep", .ours = "(1 thread: read, count newlines)", .reference = "", .our_cost = Cost{median(wall), median(cpu)},
            .figure = fixed("%.1f M lines", static_cast<double>(lines) / 1e6)};
}

void over_the_corpus(const Place& here, int threads, std::vector<Line>& out)
{
    Within corpus(here);
    Processors some(threads);
    for (auto& [pattern, goal] : patterns) {
        auto ours = tool(here, "grep", object({{"pattern", pattern}, {"glob", "**/*"}}));
        auto reference = ripgrep(here, pattern, threads);
        reference.status = std::string(pattern).ends_with("never_there");   // 1 where nothing is found
        auto measured = in_turn(pairs, ours, reference);
        auto first = compared("grep", std::to_string(threads) + ": " + std::string(pattern).substr(0, 31), "rg -j" + std::to_string(threads), measured, goal);
        first.our_memory = memory_of(ours, here.bin);
        out.push_back(first);
        if (&pattern == &patterns[0].pattern)
            out.push_back(memory_line("grep", *first.our_memory, memory_of(reference, here.ripgrep)));
    }
}

// Twelve files of some four kilobytes.
Line a_dozen_files(const Place& here)
{
    auto folder = here.folder + "/dozen";
    std::filesystem::create_directories(folder);
    for (int i = 0; i < 12; ++i) {
        std::ofstream file(folder + "/file" + std::to_string(i) + ".c");
        for (int line = 0; line < 90; ++line)
            file << "    number += of_lines(" << line << ", " << i << ");   // TODO\n";
    }
    auto ours = tool(here, "grep", object({{"pattern", "lines.[0-9]+7, 1"}, {"glob", "**/*"}, {"path", folder}}));
    auto reference = ripgrep(here, "lines.[0-9]+7, 1", 1);
    reference.argv.back() = folder;
    Processors one(1);
    return compared("grep", "1: a dozen small files", "rg -j1", in_turn(short_pairs, ours, reference), 0.7);
}

}

std::vector<Line> grep_lines(const Place& here)
{
    if (here.ripgrep.empty())
        throw std::runtime_error("there is no rg");
    std::vector<Line> out{a_dozen_files(here)};
    over_the_corpus(here, 1, out);
    {
        Within corpus(here);
        Processors one(1);
        out.push_back(floor_line());
    }
    if (Processors::allowed() > 1)
        over_the_corpus(here, 2, out);
    return out;
}

std::vector<Line> glob_lines(const Place& here)
{
    if (here.fd.empty())
        throw std::runtime_error("there is no fd");
    Within corpus(here);
    Processors one(1);
    auto ours = tool(here, "glob", object({{"pattern", "**/*.h"}}));
    auto reference = command(here, {here.fd, "-j1", "-I", "-H", "-t", "f", "-g", "*.h"});
    auto first = compared("glob", "**/*.h", "fd -j1 -g *.h", in_turn(glob_pairs, ours, reference), 0.8);
    first.our_memory = memory_of(ours, here.bin, 5);
    return {first, memory_line("glob", *first.our_memory, memory_of(reference, here.fd, 5))};
}

}
