// build/bench [ROW[,ROW...]]: a table of figures. It judges nothing: the exit status is 0 whatever they are.
#include "rows.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

namespace ik::bench {
namespace {

namespace fs = std::filesystem;

std::string first_of(std::initializer_list<const char*> paths)
{
    for (auto* path : paths)
        if (fs::exists(path))
            return fs::canonical(path);
    return "";
}

Place place()
{
    auto parts = fs::read_symlink("/proc/self/exe").parent_path();
    auto root = parts.parent_path();
    auto* named = std::getenv("CORPUS");   // as the working folder has it that is left below
    std::string corpus = named && fs::is_directory(named) ? fs::canonical(named).string() : "";
    // Not in /tmp: what others have there, beside the home, would get a rule of the sandbox each.
    std::string folder = "/var/tmp/ikigai-bench-XXXXXX";
    if (!mkdtemp(folder.data()))
        throw fs::filesystem_error("no temporary folder", std::error_code(errno, std::generic_category()));
    auto all = fs::canonical(folder);   // the home is no part of what tools may write to
    fs::create_directory(all / "home");
    fs::create_directory(all / "work");
    fs::current_path(all / "work");
    setenv("HOME", (all / "home").c_str(), 1);
    return {root / "bin/ikigai", root / "libexec/ikigai", parts, first_of({"/bin/busybox", "/usr/bin/busybox"}), first_of({"/usr/bin/curl"}),
            first_of({"/usr/bin/rg"}), first_of({"/usr/bin/fdfind", "/usr/bin/fd"}), corpus, all / "work", all / "home"};
}

std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, value < 10 ? "%.2f" : "%.1f", value);
    return text;
}

std::string wall(const std::optional<Cost>& cost) { return cost ? number(cost->wall_ms) : "-"; }
std::string cpu(const std::optional<Cost>& cost) { return cost ? number(cost->cpu_ms) : "-"; }

void print(const Line& line)
{
    std::printf("%-9s %-34s %8s %8s %7s %7s  %-26s %8s %8s  %-12s %-8s %s\n", line.row.c_str(), line.ours.c_str(), wall(line.our_cost).c_str(),
                cpu(line.our_cost).c_str(), line.our_memory ? number(line.our_memory->rss_mb).c_str() : "-",
                line.our_memory ? number(line.our_memory->pss_mb).c_str() : "-", line.reference.c_str(), wall(line.reference_cost).c_str(),
                cpu(line.reference_cost).c_str(), line.figure.c_str(), line.goal.c_str(), line.met ? *line.met ? "met" : "NOT MET" : "");
    std::fflush(stdout);
}

bool wanted(std::string_view rows, std::string_view name)
{
    return rows.empty() || ("," + std::string(rows) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

void measure(std::string_view rows)
{
    auto here = place();
    std::printf("%-9s %-34s %8s %8s %7s %7s  %-26s %8s %8s  %-12s %-8s\n", "row", "ours", "ms", "cpu ms", "RSS MB", "PSS MB", "reference", "ms",
                "cpu ms", "figure", "goal");
    for (auto& row : all_rows())
        if (wanted(rows, row.name))
            try {
                for (auto& line : row.measure(here))
                    print(line);
            } catch (const std::exception& e) {
                std::printf("%-9s not measured: %s\n", std::string(row.name).c_str(), e.what());
            }
    fs::current_path("/");
    fs::remove_all(fs::path(here.folder).parent_path());
}

}
}

int main(int argc, char** argv)
{
    try {
        ik::bench::measure(argc > 1 ? argv[1] : "");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench: %s\n", e.what());
    }
    return 0;
}
