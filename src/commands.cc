#include "commands.h"

#include "base/text.h"
#include "chat.h"
#include "session_commands.h"

#include <algorithm>
#include <charconv>

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

Status model(Chat& chat, std::string_view name)
{
    if (!name.empty()) chat.use_model(std::string(name));
    chat.mouth().say("Model: " + harmless(chat.session().options().model) + "\n");
    return Done{};
}

Status thinking(Chat& chat, std::string_view level)
{
    constexpr std::string_view levels[] = {"none", "low", "medium", "high"};
    if (!level.empty() && std::ranges::find(levels, level) == std::end(levels))
        return Error{code::usage, "There is no level '" + std::string(level) + "': none, low, medium or high"};
    if (!level.empty()) chat.session().use_thinking(std::string(level));
    auto& now = chat.session().options().thinking;
    chat.mouth().say("Thinking: " + (now.empty() ? "as the model likes" : now) + "\n");
    return Done{};
}

Status system(Chat& chat, std::string_view text)
{
    if (!text.empty()) chat.session().use_system(clean_utf8(text));
    chat.mouth().say(harmless(chat.session().options().system) + "\n");
    return Done{};
}

Status cost(Chat& chat, std::string_view)
{
    chat.mouth().say(chat.figures());
    return Done{};
}

Status retry(Chat& chat, std::string_view)
{
    return chat.retry() ? Status(Done{}) : Error{code::usage, "Nothing has been said yet"};
}

Status approve(Chat& chat, std::string_view word)
{
    auto& approval = chat.calls().approval();
    if (!word.empty()) {
        auto mode = approve_named(word);
        if (!mode)
            return Error{code::usage, "There is no mode '" + std::string(word) + "': auto, edits, ask or plan"};
        if (*mode < approval.policy().loosest)
            return Error{code::usage, "The policy of this machine permits no looser mode than " + std::string(name_of(approval.policy().loosest))};
        approval.set_mode(*mode);
    }
    chat.mouth().say("Approval: " + std::string(name_of(approval.policy().approve)) + "\n");
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

std::string time_text(milliseconds time)
{
    auto seconds = time.count() / 1000;
    if (seconds < 60) return std::to_string(seconds) + " s";
    if (seconds < 3600) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
    return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

std::string time_of(const Job& job)
{
    if (job.state == Job::State::left) return time_text(job.age) + ", left running";
    if (job.state == Job::State::background) return time_text(job.age) + ", in the background";
    return time_text(job.age) + (job.limit ? " of " + time_text(*job.limit) : "");
}

// A command on one line, cut where it is long.
std::string one_line(std::string_view text)
{
    std::string out(utf8_prefix(text, 200));
    std::ranges::replace(out, '\n', ' ');
    return out + (out.size() < text.size() ? " …" : "");
}

Result<int> number_in(std::string_view text)
{
    int number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return Error{code::usage, "'" + std::string(text) + "' is not a number. /ps shows the numbers."};
    return number;
}

Status ps(Chat& chat, std::string_view arguments)
{
    auto jobs = chat.calls().host().jobs(chat.others());
    if (arguments.starts_with("stop")) {
        auto number = number_in(trim(arguments.substr(4)));
        if (!number)
            return number.error();
        if (!chat.calls().host().stop(*number))
            return Error{code::usage, "There is no " + std::to_string(*number) + ". /ps shows the numbers."};
        chat.mouth().say("Stopping " + std::to_string(*number) + "\n");
        return Done{};
    }
    if (!arguments.empty())
        return Error{code::usage, "/ps " + std::string(arguments) + ": it is /ps or /ps stop N."};
    std::string out = jobs.empty() ? "Nothing runs\n" : "";
    for (auto& job : jobs)
        out += padded(std::to_string(job.number), 4) + padded(std::to_string(job.id), 8) + padded(job.tool.empty() ? "?" : job.tool, 12) + " "
             + padded(time_of(job), 24) + " " + one_line(job.command) + "\n";
    chat.mouth().say(harmless(out));
    return Done{};
}

Status background(Chat& chat, std::string_view arguments)
{
    Job* one = nullptr;
    auto calls = chat.calls().host().calls();
    auto number = arguments.empty() ? Result<int>(0) : number_in(arguments);
    if (!number)
        return number.error();
    for (auto& job : calls)   // without a number it is the last one
        if (job.state == Job::State::running && (job.number == *number || !*number)) one = &job;
    if (!one)
        return Error{code::usage, *number ? "No tool runs as " + std::to_string(*number) + ". /ps shows the numbers." : "No tool runs that could go into the background."};
    if (auto put = chat.calls().host().put_in_background(one->number); !put)
        return put.error();
    chat.mouth().say(harmless(one->tool + " goes on in the background as " + std::to_string(one->number) + "\n"));
    return Done{};
}

Status help(Chat& chat, std::string_view);

struct Command {
    const char* name;
    const char* arguments;
    const char* help;
    Status (*run)(Chat&, std::string_view arguments);
    bool any_time = false;   // also while the model or a tool is at work
};

constexpr Command commands[] = {
    {"approve", "[MODE]", "What is asked about: auto, edits, ask or plan", approve},
    {"bg", "[N]", "Let a running tool go on in the background", background, true},
    {"clear", "", "Begin a new conversation", new_session},
    {"compact", "[WHAT]", "Summarise the conversation; keep WHAT in particular", compact},
    {"cost", "", "Tokens and dollars so far", cost},
    {"export", "[FORM] [FILE]", "Write the conversation to a file: markdown, jsonl or html", export_session},
    {"fork", "", "Go on in a copy of the conversation", fork_session},
    {"help", "", "List the commands", help},
    {"mark", "[LABEL]", "Name this point, to come back to it", mark_session},
    {"model", "[NAME]", "Show the model, or use another one", model},
    {"new", "", "Begin a new conversation", new_session},
    {"ps", "[stop N]", "What runs, and what tools left running; stop one", ps, true},
    {"quit", "", "End the conversation", quit},
    {"refresh", "", "Look for tools again", refresh},
    {"resume", "[ID]", "Go on with a conversation that was kept", resume_session},
    {"retry", "", "Ask the last message again", retry},
    {"rewind", "[LABEL|N]", "Back to a mark, or before the last N messages", rewind_session},
    {"sessions", "", "The conversations of this folder", list_sessions},
    {"system", "[TEXT]", "Show the system text, or use another one", system},
    {"thinking", "[LEVEL]", "How much the model is to think: none, low, medium, high", thinking},
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

std::string_view name_in(std::string_view line)
{
    auto end = line.find_first_of(" \t");
    return line.substr(1, end == line.npos ? line.npos : end - 1);
}

Status dispatch(Chat& chat, std::string_view line)
{
    auto end = line.find_first_of(" \t");
    auto name = name_in(line);
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

std::vector<term::Candidate> command_candidates()
{
    std::vector<term::Candidate> out;
    for (auto& command : commands) out.push_back({"/" + std::string(command.name), command.help});
    return out;
}

bool is_for_any_time(std::string_view line)
{
    auto command = line.starts_with('/') ? std::ranges::find(commands, name_in(line), &Command::name) : std::end(commands);
    return command != std::end(commands) && command->any_time;
}

void run_command(Chat& chat, std::string_view line)
{
    if (auto done = dispatch(chat, line); !done)
        chat.mouth().warn(done.error().message);
}

}
