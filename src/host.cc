#include "host.h"

#include "base/text.h"
#include "environment.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t max_stdout = 256 << 20;
constexpr std::size_t stdout_in_memory = 256 << 10;

bool is_required(const Json& parameters, const std::string& name)
{
    auto* required = parameters.find("required");
    auto* names = required ? required->as<Json::Array>() : nullptr;
    return names && std::ranges::find(*names, Json(name)) != names->end();
}

}

Result<Json> fitting_arguments(const Tool& tool, const Json& arguments)
{
    auto& parameters = *tool.schema.find("parameters");
    Json fitting = arguments.null() ? Json(Json::Object{}) : arguments;
    if (auto* members = fitting.as<Json::Object>())
        std::erase_if(*members, [&](auto& m) { return m.second.null() && !is_required(parameters, m.first); });
    if (auto ok = validate(parameters, fitting); !ok)
        return Error{code::invalid_params, "Tool '" + tool.name + "': " + ok.error().message};
    return fitting;
}

void Host::refuse(ToolCall call, Json envelope) { finished_.push_back({std::move(call), std::move(envelope), {}, {}, {}}); }

void Host::run(const Tool* tool, ToolCall call)
{
    if (!tool)
        return refuse(call, not_found(call));
    auto arguments = fitting_arguments(*tool, call.arguments);
    if (!arguments)
        return refuse(call, failure(arguments.error().code, arguments.error().message));

    if (auto why = options_.objection ? options_.objection(*tool) : std::nullopt)
        return refuse(call, failure(code::tool_denied, "Tool '" + tool->name + "': " + *why));

    Outbox outbox(options_.outputs, call.id);
    auto output = outbox.file("running");
    auto output_path = output ? output->second : "";
    auto child = Child::start({.argv = tool->argv, .env = tool_environment(tool->name, options_.session, output_path),
                               .input = arguments->dump(), .limit = options_.limit,
                               .max_out = max_stdout, .out_in_memory = stdout_in_memory});
    if (!child)
        return refuse(call, failure(code::tool_crashed, "Tool '" + tool->name + "' cannot be started: " + child.error().message));
    running_.push_back({std::move(call), std::move(*child), std::move(outbox), std::move(output_path)});
}

void Host::cancel()
{
    for (auto& running : running_) {
        running.cancelled = true;
        running.child.stop();
    }
}

void Host::add_to(Poll& poll) const
{
    for (auto& running : running_)
        running.child.add_to(poll);
}

void Host::advance(const Poll& poll)
{
    for (auto& running : running_) {
        running.child.advance(poll);
        if (running.child.exit)
            finish(running);
    }
    std::erase_if(running_, [](auto& running) { return running.child.exit.has_value(); });
}

void Host::finish(Running& running)
{
    auto& child = running.child;
    if (!running.output.empty()) {
        unlink(running.output.c_str());
        rmdir(options_.outputs.c_str());   // stays where something is kept in it
    }
    Ending ending{.exit = *child.exit, .timed_out = child.timed_out(), .cancelled = running.cancelled, .too_much = child.too_much(),
                  .broken = child.out.failure ? std::strerror(child.out.failure) : "", .limit = options_.limit};
    auto told = report(running.call, ending, read_output(child.out, running.outbox), std::move(child.err));
    Finished finished{std::move(running.call), {}, std::move(told.notices), std::move(told.words),
                      std::chrono::duration_cast<milliseconds>(child.age())};
    finished.envelope = capped(std::move(told), child.out, running.outbox);
    finished_.push_back(std::move(finished));
}

}
