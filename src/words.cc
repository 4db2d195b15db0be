#include "words.h"

#include "base/text.h"
#include "consent.h"
#include "llm/provider.h"
#include "say.h"
#include "start.h"

#include <CLI/CLI.hpp>
#include <fstream>

namespace ik {
namespace {

constexpr std::pair<const char*, Format> formats[] = {{"text", Format::text}, {"json", Format::json}, {"stream-json", Format::stream_json}};

Result<std::string> read_file(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return Error{code::open_failed, "Cannot open file: " + path};
    return std::string(std::istreambuf_iterator<char>(in), {});
}

// The option that stands for a setting.
CLI::Option* add_setting(CLI::App& app, const std::string& option, Words& set, const std::string& help)
{
    auto name = option == "--tools" ? "only_tools" : replace(option.substr(2), '-', '_');
    return app.add_option(option, set[name], help);
}

Status read_words(ChatWords& words)
{
    auto& options = words.options;
    if (!words.system_file.empty()) {
        auto text = read_file(words.system_file);
        if (!text)
            return text.error();
        words.set["system"] = *text;
    }
    for (auto& [name, format] : formats)
        if (options.print && words.format == name)
            options.format = format;
    options.keep = !words.no_save;
    options.resume = words.go_on ? std::optional(std::string()) : words.resume && !words.resume->empty() ? words.resume : std::nullopt;
    options.choose = words.resume && words.resume->empty();
    if (options.choose && options.print)
        return Error{code::usage, "--resume needs an ID with -p"};
    if (!options.id.empty() && !valid_id(options.id))
        return Error{code::usage, "--session: '" + options.id + "' is no id: letters, digits, - and _, 64 at most"};
    if (!options.print && words.format != "text")
        return Error{code::usage, "--output-format " + words.format + " needs -p"};
    return Done{};
}

}

std::string provider_names()
{
    std::string out;
    for (auto& name : providers::names()) out += (out.empty() ? "" : ", ") + name;
    return out;
}

void add_sandbox_option(CLI::App& app, Words& set, const std::string& option)
{
    app.add_option(option, set["sandbox"], "What tools may change: workspace, read-only or off")
        ->check(CLI::IsMember({"workspace", "read-only", "off"}))->type_name("POLICY");
}

void add_provider_options(CLI::App& app, Words& set, bool& trust)
{
    add_setting(app, "--provider", set, provider_names() + ", or one of the configuration")->type_name("PROVIDER");
    add_setting(app, "--model", set, "The model's name");
    add_setting(app, "--base-url", set, "Address of the service, up to before /chat/completions")->type_name("URL");
    app.add_flag("--trust", trust, "Run the tools in ./.ikigai/tools, and follow ./.ikigai/config.json");
}

void add_chat_options(CLI::App& app, ChatWords& words)
{
    auto& o = words.options;
    app.add_option("message", o.message, "Said first");
    app.add_option("-p,--print", o.print, "Answer TEXT and exit; piped standard input is added to it")->type_name("TEXT");
    add_provider_options(app, words.set, o.trust);
    add_sandbox_option(app, words.set);
    add_setting(app, "--system", words.set, "System text, instead of ikigai's own");
    app.add_option("--system-file", words.system_file, "The same, from a file")->type_name("FILE");
    add_setting(app, "--thinking", words.set, "none, low, medium or high")->check(CLI::IsMember({"none", "low", "medium", "high"}))->type_name("LEVEL");
    app.add_option("--output-format", words.format, "text, json or stream-json")->check(CLI::IsMember({"text", "json", "stream-json"}))->type_name("FORMAT");
    add_setting(app, "--max-turns", words.set, "Model requests a message")->check(CLI::Range(1, 1'000'000))->type_name("N");
    add_setting(app, "--approve", words.set, "auto, edits, ask or plan: what is asked about")->check(CLI::IsMember({"auto", "edits", "ask", "plan"}))->type_name("MODE");
    app.add_flag_callback("--no-compact", [&] { words.set["compact"] = "false"; }, "Never summarise the conversation by itself");
    app.add_flag("-c,--continue", words.go_on, "Go on with the last conversation of this folder");
    app.add_option("-r,--resume", words.resume, "Go on with a conversation that was kept: ID, or one that you choose")->expected(0, 1)->type_name("ID");
    app.add_option("--session", o.id, "The conversation's id: it goes on where it was kept")->type_name("ID");
    app.add_flag("--plain", o.plain, "Lines only, for screen readers and serial lines: no cursor is moved");
    app.add_flag("--no-save", words.no_save, "Keep nothing of the conversation");
    add_setting(app, "--tools", words.set, "Offer only these tools, named with commas")->type_name("A,B");
    add_setting(app, "--timeout", words.set, "Time limit of the whole, in seconds")->check(CLI::PositiveNumber)->type_name("SECONDS");
}

Settings settings_of(const Words& set, ProjectTrust& project)
{
    SettingSources sources;
    for (auto& [name, text] : set)
        if (!text.empty())
            sources.options.push_back({name, text, name == "only_tools" ? "--tools" : "--" + replace(name, '_', '-')});
    Settings settings;
    do {
        sources.trust = project.trusted();
        sources.untrusted = project.line();
        settings = read_settings(sources);
    } while (project.withdraw_if_changed());   // what was read may not be what was trusted
    return settings;
}

int run_chat(ChatWords& words, const World& world)
{
    if (auto read = read_words(words); !read)
        return fail(read.error().message, 2);
    auto& options = words.options;
    options.project = ProjectTrust::here(options.trust);
    if (!options.print)
        ask_about(options.project);
    return start_chat(options, settings_of(words.set, options.project), world);
}

}
