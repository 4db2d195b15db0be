#include "left.h"

#include <algorithm>
#include <csignal>
#include <map>

namespace ik {
namespace {

// With those that came after.
std::vector<Relative> tree_of(const std::vector<Relative>& roots)
{
    std::vector<Relative> out;
    for (auto& root : roots) {
        if (!lives(root))
            continue;
        out.push_back(root);
        auto below = descendants(root.id);
        out.insert(out.end(), below.begin(), below.end());
    }
    return out;
}

}

std::vector<LeftProcess> Left::look(const std::vector<pid_t>& own, int& numbers)
{
    auto spared = own;
    std::vector<LeftProcess> now;
    for (auto& each : descendants()) {
        if (std::ranges::find(spared, each.id) != spared.end() || std::ranges::find(spared, each.parent) != spared.end()) {
            spared.push_back(each.id);
            continue;
        }
        auto known = std::ranges::find(seen_, each, &LeftProcess::process);
        if (known != seen_.end()) {
            now.push_back(*known);
            continue;
        }
        auto tool = variable_of(each.id, "IKIGAI_TOOL");
        auto parent = std::ranges::find_if(now, [&](auto& other) { return other.process.id == each.parent; });
        if (tool.empty() && parent != now.end())
            tool = parent->tool;
        now.push_back({++numbers, each, std::move(tool), command_line(each.id)});
    }
    return seen_ = std::move(now);
}

bool Left::stop(int number)
{
    auto one = std::ranges::find(seen_, number, &LeftProcess::number);
    if (one == seen_.end())
        return false;
    auto all = tree_of({one->process});
    for (int signal : {SIGTERM, SIGCONT})
        for (auto& each : all) kill(each.id, signal);
    stopping_.push_back({std::move(all), Clock::now() + std::chrono::seconds(2)});
    return true;
}

void Left::keep(Cgroup group)
{
    if (!group.remove())
        groups_.push_back(std::move(group));
}

void Left::tidy()
{
    std::erase_if(groups_, [](auto& group) { return group.remove(); });
}

void Left::add_to(Poll& poll) const
{
    for (auto& stopping : stopping_)
        poll.until(stopping.kill_at);
}

void Left::advance()
{
    std::erase_if(stopping_, [](auto& stopping) {
        if (Clock::now() < stopping.kill_at)
            return false;
        for (auto& each : tree_of(stopping.all)) kill(each.id, SIGKILL);
        return true;
    });
}

std::string told(const std::vector<LeftProcess>& all)
{
    std::map<std::string, std::pair<int, std::string>> tools;
    for (auto& each : all) {
        auto& [count, list] = tools[each.tool];
        list += (count++ ? ", " : "") + std::to_string(each.process.id) + " " + each.command;
    }
    std::string out;
    for (auto& [tool, of] : tools)
        out += (tool.empty() ? "a tool" : tool) + " left " + std::to_string(of.first) + (of.first == 1 ? " process" : " processes") + " running: " + of.second + "; ended\n";
    return out;
}

}
