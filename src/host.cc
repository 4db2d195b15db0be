#include "host.h"

#include "base/credentials.h"
#include "base/text.h"
#include "environment.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
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

// Files that a built-in tool may read though nobody else may. Only where it is really ours.
std::vector<std::string> granted_files(const Tool& tool)
{
    std::error_code failed;
    bool searches = tool.name == "web_search_brave" || tool.name == "web_search_google";
    if (!searches || !std::filesystem::equivalent(tool.argv[0], "/proc/self/exe", failed))
        return {};
    return {credentials_path()};
}

// Calls take with every text in json, until it says yes.
bool any_text(const Json& json, const auto& take)
{
    if (auto* text = json.as<std::string>())
        return take(*text);
    if (auto* array = json.as<Json::Array>())
        return std::ranges::any_of(*array, [&](auto& item) { return any_text(item, take); });
    auto* object = json.as<Json::Object>();
    return object && std::ranges::any_of(*object, [&](auto& member) { return any_text(member.second, take); });
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

    auto confinement = rules(*tool);
    if (!confinement)
        return refuse(call, failure(code::tool_crashed, "Tool '" + tool->name + "' cannot be started: " + confinement.error().message));
    if (options_.sandbox && running_.empty())
        options_.sandbox->remember();

    Outbox outbox(options_.outputs, call.id);
    auto output = outbox.file("running");
    auto output_path = output ? output->second : "";
    auto child = Child::start({.argv = tool->argv, .env = tool_environment(tool->name, options_.session, output_path, options_.sandbox ? options_.sandbox->temporary() : ""),
                               .input = arguments->dump(), .confinement = *confinement, .limit = options_.limit,
                               .max_out = max_stdout, .out_in_memory = stdout_in_memory});
    if (!child)
        return refuse(call, failure(code::tool_crashed, "Tool '" + tool->name + "' cannot be started: " + child.error().message));
    running_.push_back({std::move(call), std::move(*child), std::move(outbox), std::move(output_path)});
}

Result<const Confinement*> Host::rules(const Tool& tool) const
{
    if (!options_.sandbox)
        return static_cast<const Confinement*>(nullptr);
    return options_.sandbox->confinement(granted_files(tool));
}

// What the sandbox had to do with how the call went.
std::string Host::hint(const Json& envelope) const
{
    std::string out;
    if (!options_.sandbox)
        return out;
    for (auto& sentence : options_.sandbox->put_back())
        out += (out.empty() ? "" : "; ") + sentence;
    any_text(envelope, [&](const std::string& text) {
        auto refused = options_.sandbox->refused(text);
        if (refused) out += (out.empty() ? "" : "; ") + *refused;
        return refused.has_value();
    });
    return clean_utf8(out);
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
        if (!options_.sandbox || !options_.sandbox->active())   // its rules are of this folder, which it removes itself
            rmdir(options_.outputs.c_str());   // stays where something is kept in it
    }
    Ending ending{.exit = *child.exit, .timed_out = child.timed_out(), .cancelled = running.cancelled, .too_much = child.too_much(),
                  .broken = child.out.failure ? std::strerror(child.out.failure) : "", .limit = options_.limit};
    auto told = report(running.call, ending, read_output(child.out, running.outbox), std::move(child.err));
    if (auto why = hint(told.envelope); !why.empty())
        told.envelope.set("hint", why);
    Finished finished{std::move(running.call), {}, std::move(told.notices), std::move(told.words),
                      std::chrono::duration_cast<milliseconds>(child.age())};
    finished.envelope = capped(std::move(told), child.out, running.outbox);
    finished_.push_back(std::move(finished));
}

}
