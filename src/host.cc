#include "host.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace ik {
namespace {

std::string words_of(const ToolCall& call)
{
    auto command = call.arguments.text("command");
    return command.empty() ? call.arguments.dump() : std::string(command);
}

bool make_empty(const std::string& path) { return bool(Fd(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))); }

}

Host::~Host()
{
    for (auto& path : unused_) unlink(path.c_str());
    rmdir(options_.outputs.c_str());   // stays where something is kept in it
}

std::string Host::take_output()
{
    while (!unused_.empty()) {
        auto path = std::move(unused_.back());
        unused_.pop_back();
        if (access(path.c_str(), W_OK) == 0)
            return path;
        unlink(path.c_str());
    }
    auto made = Outbox(options_.outputs, "running").file(std::to_string(numbers_));
    return made ? made->second : "";
}

void Host::give_back_output(const std::string& path, bool nobody_has_it)
{
    if (nobody_has_it && make_empty(path)) unused_.push_back(path);
    else if (!path.empty()) unlink(path.c_str());
}

void Host::refuse(ToolCall call, Json envelope) { finished_.push_back({std::move(call), std::move(envelope), {}, {}, {}}); }

void Host::run(const Tool* tool, const ToolCall& call, bool outside)
{
    if (!tool)
        return refuse(call, not_found(call));
    if (auto why = options_.objection ? options_.objection(*tool) : std::nullopt)
        return refuse(call, failure(code::tool_denied, "Tool '" + tool->name + "': " + *why));
    if (options_.sandbox && running_.empty())
        options_.sandbox->remember();
    ++numbers_;
    auto output = take_output();
    auto running = Running::start(*tool, call, {.number = numbers_, .session = options_.session, .outputs = options_.outputs, .output = output,
                                                .limits = options_.rules.limits(*tool), .grants = options_.rules.grants(*tool), .cgroups = &cgroups_,
                                                 .sandbox = outside ? nullptr : options_.sandbox});
    if (!running) {
        give_back_output(output, true);
        return refuse(call, failure(running.error().code, running.error().message));
    }
    running_.push_back(std::move(*running));
}

std::size_t Host::running() const
{
    return static_cast<std::size_t>(std::ranges::count(running_, false, &Running::background));
}

void Host::cancel()
{
    for (auto& running : running_)
        if (!running.background()) running.cancel();
}

void Host::add_to(Poll& poll) const
{
    for (auto& running : running_)
        running.add_to(poll);
    left_.add_to(poll);
}

void Host::advance(const Poll& poll)
{
    for (auto& running : running_) {
        running.advance(poll);
        if (running.ended())
            finish(running);
    }
    std::erase_if(running_, [](auto& running) { return running.ended(); });
    left_.advance();
}

void Host::finish(Running& running)
{
    auto finished = running.finish();
    if (options_.sandbox && !running.sandboxed())
        options_.sandbox->remember();   // what was done outside was meant
    auto group = running.take_cgroup();
    bool nobody_left = cgroups_.take_back(group);
    if (!nobody_left)
        left_.keep(std::move(group));
    give_back_output(running.output_path(), nobody_left);
    if (running.background())
        ended_.push_back({running.number(), std::move(finished)});
    else
        finished_.push_back(std::move(finished));
}

int Host::put_in_background(Running& one)
{
    one.put_in_background();
    finished_.push_back({one.call(), in_background(one.call(), one.number(), one.output_so_far(), one.output_file()), {}, {}, one.age()});
    return one.number();
}

Result<int> Host::put_in_background(std::string_view call_id)
{
    auto one = std::ranges::find_if(running_, [&](auto& running) { return !running.background() && running.call().id == call_id; });
    if (one == running_.end())
        return Error{code::tool_not_found, "No call '" + std::string(call_id) + "' runs"};
    return put_in_background(*one);
}

Result<int> Host::put_in_background(int number)
{
    auto one = std::ranges::find_if(running_, [&](auto& running) { return !running.background() && running.number() == number; });
    if (one == running_.end())
        return Error{code::tool_not_found, "No call runs as " + std::to_string(number)};
    return put_in_background(*one);
}

std::vector<pid_t> Host::own(std::vector<pid_t> others) const
{
    for (auto& running : running_) others.push_back(running.id());
    if (cgroups_.guard()) others.push_back(cgroups_.guard());
    if (options_.sandbox) others.push_back(options_.sandbox->standby());
    return others;
}

std::vector<Job> Host::calls() const
{
    std::vector<Job> out;
    for (auto& running : running_) {
        Job job{running.number(), running.id(), running.call().name, words_of(running.call()), running.age()};
        if (running.background()) job.state = Job::State::background;
        else job.limit = running.limit();
        out.push_back(std::move(job));
    }
    return out;
}

std::vector<LeftProcess> Host::left(const std::vector<pid_t>& others) { return left_.look(own(others), numbers_); }

std::vector<Job> Host::jobs(const std::vector<pid_t>& others)
{
    auto out = calls();
    for (auto& each : left(others))
        out.push_back({each.number, each.process.id, each.tool, each.command, age(each.process), {}, Job::State::left});
    return out;
}

bool Host::stop(int number)
{
    auto one = std::ranges::find(running_, number, &Running::number);
    if (one == running_.end())
        return left_.stop(number);
    one->cancel();
    return true;
}

void Host::tidy(const std::vector<pid_t>& others)
{
    reap_strangers(own(others));
    left_.tidy();
}

}
