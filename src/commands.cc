#include "commands.h"

#include "base/text.h"
#include "chat.h"

#include <algorithm>

namespace ik {
namespace {

std::string padded(std::string_view text, std::size_t width)
{
    std::string out(text);
    out.resize(std::max(out.size(), width), ' ');
    return out;
}

std::string type_of(const Json& property)
{
    if (auto* types = property.find("type"); types && types->as<Json::Array>()) {
        std::string out;
        for (auto& type : *types->as<Json::Array>())
            if (auto* text = type.as<std::string>())
                out += (out.empty() ? "" : " or ") + *text;
        return out;
    }
    auto type = property.text("type");
    return type.empty() ? "any" : std::string(type);
}

std::string parameters_of(const Tool& tool)
{
    auto& parameters = *tool.schema.find("parameters");
    auto* required = parameters.find("required");
    auto is_required = [&](const std::string& name) {
        auto* names = required ? required->as<Json::Array>() : nullptr;
        return names && std::ranges::find(*names, Json(name)) != names->end();
    };
    std::string out;
    for (auto& [name, property] : *parameters.find("properties")->as<Json::Object>()) {
        out += "  " + name + " (" + type_of(property) + (is_required(name) ? ", required" : ", optional") + ")\n";
        if (auto description = property.text("description"); !description.empty())
            out += "    " + std::string(description) + "\n";
    }
    return out;
}

Status tool(Chat& chat, std::string_view name)
{
    auto& registry = chat.registry();
    if (!registry.settled())
        return chat.mouth().say("Loading tools…\n"), Done{};
    if (!name.empty()) {
        auto* found = registry.find(name);
        if (!found)
            return Error{code::tool_not_found, "Tool '" + std::string(name) + "' not found. Run /tool to see available tools."};
        auto parameters = parameters_of(*found);
        chat.mouth().say(harmless(found->name + " - " + std::string(found->schema.text("description")) + "\n"
                                  + (parameters.empty() ? "" : "\nParameters:\n" + parameters)));
        return Done{};
    }
    std::string out = registry.tools().empty() ? "No tools available\n" : "Available tools:\n";
    for (auto& each : registry.tools())
        out += "  " + padded(each.name, 19) + std::string(each.schema.text("description")) + "\n";
    for (auto& skipped : registry.skipped())
        out += skipped.line() + "\n";
    chat.mouth().say(harmless(out));
    return Done{};
}

Status compact(Chat& chat, std::string_view keep)
{
    if (!chat.compact(std::string(keep)))
        return Error{code::usage, "There is nothing to compact."};
    return Done{};
}

Status refresh(Chat& chat, std::string_view)
{
    chat.refresh();
    return Done{};
}

Status quit(Chat& chat, std::string_view)
{
    chat.quit();
    return Done{};
}

Status help(Chat& chat, std::string_view);

struct Command {
    const char* name;
    const char* arguments;
    const char* help;
    Status (*run)(Chat&, std::string_view arguments);
};

constexpr Command commands[] = {
    {"compact", "[WHAT]", "Summarise the conversation; keep WHAT in particular", compact},
    {"help", "", "List the commands", help},
    {"quit", "", "End the conversation", quit},
    {"refresh", "", "Look for tools again", refresh},
    {"tool", "[NAME]", "List the tools, or show one", tool},
};

Status help(Chat& chat, std::string_view)
{
    std::string out = "Commands:\n";
    for (auto& command : commands)
        out += "  " + padded("/" + std::string(command.name) + " " + command.arguments, 15) + " " + command.help + "\n";
    chat.mouth().say(out);
    return Done{};
}

Status dispatch(Chat& chat, std::string_view line)
{
    auto end = line.find_first_of(" \t");
    auto name = line.substr(1, end == line.npos ? line.npos : end - 1);
    auto arguments = end == line.npos ? "" : trim(line.substr(end));
    auto command = std::ranges::find(commands, name, &Command::name);
    if (command != std::end(commands))
        return command->run(chat, arguments);
    std::vector<std::string> names;
    for (auto& each : commands)
        names.push_back("/" + std::string(each.name));
    return Error{code::usage, "Unknown command: /" + std::string(name) + "." + did_you_mean("/" + std::string(name), names) + " /help lists them."};
}

}

void run_command(Chat& chat, std::string_view line)
{
    if (auto done = dispatch(chat, line); !done)
        chat.mouth().warn(done.error().message);
}

}
