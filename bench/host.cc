// host: one call as the loop makes it, sandbox and limits on, many times in this process, beside the same tool by
// posix_spawn alone. What `ikigai run` costs from its start to its end stands beside it.
#include "rows.h"

#include "host.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace ik::bench {
namespace {

constexpr int calls = 200;
constexpr const char* arguments = R"({"command":"true"})";

Tool bash(const Place& here)
{
    auto path = here.libexec + "/bash";
    return {"bash", path, "system", {path}, *parse_json(R"({"name":"bash","description":"","parameters":{"type":"object","properties":{"command":{"type":"string"}}}})")};
}

void call(Host& host, const Tool& tool)
{
    host.run(&tool, {"call", tool.name, *parse_json(arguments)});
    for (;;) {
        for (auto& finished : host.take_finished()) {
            if (*finished.envelope.find("tool_success") != Json(true))
                throw std::runtime_error("a call failed: " + finished.envelope.dump());
            return;
        }
        Poll poll;
        host.add_to(poll);
        poll.wait();
        host.advance(poll);
    }
}

Line line(const std::string& name, const Pairs& measured, double figure, double goal, const char* unit)
{
    char text[32], wanted[32];
    std::snprintf(text, sizeof text, *unit ? "+%.2f%s" : "ratio %.2f%s", figure, unit);
    std::snprintf(wanted, sizeof wanted, "<= %.4g%s", goal, unit);
    return {.row = "host", .ours = name, .reference = "posix_spawn of bash (true)", .our_cost = measured.median_of_ours(),
            .reference_cost = measured.median_of_reference(), .figure = text, .goal = wanted, .met = figure <= goal};
}

// The time that the loop has while the model thinks, much shortened. The reference gets it too: after a pause everything
// is a little slower.
void think() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

// prepared: as the loop does it meanwhile.
Pairs in_this_process(const Place& here, const Command& alone, Sandbox* sandbox, bool prepared)
{
    Host host({.session = "bench", .outputs = here.folder + "/outputs", .rules = {}, .sandbox = sandbox});
    auto tool = bash(here);
    auto ours = [&] {
        if (prepared) sandbox->prepare();
        think();
        return cost_of([&] { call(host, tool); });
    };
    auto reference = [&] {
        think();
        return run(alone);
    };
    return in_turn(calls, ours, reference);
}

}

std::vector<Line> calls_of_the_host(const Place& here, const Command& alone)
{
    auto sandbox = Sandbox::make({.self = here.bin});
    if (!sandbox || !sandbox->active())
        throw std::runtime_error("there is no sandbox here");
    auto measured = in_this_process(here, alone, &*sandbox, true);
    auto at_once = in_this_process(here, alone, &*sandbox, false);
    auto open = in_this_process(here, alone, nullptr, false);
    sandbox->close();
    auto beside = [](const char* name, const Pairs& pairs) {
        auto out = line(name, pairs, pairs.ratio(), 0, "");
        out.goal = "-";
        out.met = {};
        return out;
    };
    return {line("one call: bash (true), sandboxed", measured, measured.ratio(), 1.25, ""),
            line("the same", measured, measured.difference_ms(), 2, " ms"),
            beside("(the same, with nothing prepared)", at_once), beside("(the same, not in the sandbox)", open)};
}

}
