// ikigai: one executable, many programs.
//
//   argv[0] or the first word names an applet   applets/    one tool, one process: JSON in, JSON out
//   ikigai llm                                  llm/        the child that talks to the model's service
//   ikigai chat                                 chat.cc     the conversation: one loop over
//                                                 agent/session   what happened -> what is to be done
//                                                 agent/registry  which tools there are
//                                                 host            tool calls as children -> envelopes
//                                                 mouth           what is shown
//   ikigai run, discover, applets, …            this file
//
// base/ knows nothing of ikigai. Applets are dispatched before anything else is touched: they start as
// fast as the smallest of programs.
#include "applets/applet.h"

#include "agent/context.h"
#include "base/fd.h"
#include "base/places.h"
#include "base/signals.h"
#include "base/text.h"
#include "chat.h"
#include "llm/llm.h"
#include "llm/provider.h"
#include "local_server.h"
#include "mouth.h"
#include "provider_choice.h"
#include "supervise.h"
#include "version.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace ik {
namespace {

World world(const char* argv0)
{
    World out{own_path(argv0), {}};
    for (auto* applet : all_applets())
        out.builtins.push_back({link_name(*applet), schema(*applet)});
    return out;
}

int fail(const std::string& sentence, int status)
{
    write_all(2, "ikigai: " + sentence + "\n");
    return status;
}

int print(std::string_view text)
{
    return write_all(1, text) ? 0 : fail(std::string("cannot write to standard output: ") + std::strerror(errno), 1);
}

void settle(Registry& registry)
{
    while (!registry.settled()) {
        Poll poll;
        registry.add_to(poll);
        poll.wait();
        registry.advance(poll);
    }
}

int applets()
{
    std::string out;
    for (auto* applet : all_applets())
        out += command_of(*applet) + "\n";
    return print(out);
}

int install_links(const std::string& folder, const World& world)
{
    for (auto* applet : all_applets()) {
        auto link = folder + "/" + link_name(*applet), fresh = link + ".new";
        unlink(fresh.c_str());
        if (symlink(world.self.c_str(), fresh.c_str()) < 0 || rename(fresh.c_str(), link.c_str()) < 0) {
            int why = errno;
            unlink(fresh.c_str());
            return fail("cannot make the link " + link + ": " + std::strerror(why), 1);
        }
    }
    return print(std::to_string(all_applets().size()) + " links in " + folder + "\n");
}

int discover(bool json, bool trust, const World& world)
{
    Registry registry;
    registry.start(tool_places(world, trust));
    settle(registry);
    if (registry.state() == Registry::State::failed)
        fail("some tools could not be looked for: " + registry.failure(), 1);
    if (json) {
        Json::Array tools, skipped;
        for (auto& tool : registry.tools())
            tools.push_back(object({{"name", tool.name}, {"path", tool.path}, {"origin", tool.origin}, {"schema", tool.schema}}));
        for (auto& each : registry.skipped())
            skipped.push_back(object({{"path", each.path}, {"reason", each.reason}}));
        return print(object({{"tools", tools}, {"skipped", skipped}}).dump() + "\n");
    }
    std::string out;
    for (auto& tool : registry.tools()) {
        auto name = tool.name;
        name.resize(std::max<std::size_t>(name.size(), 14), ' ');
        out += name + " " + harmless(tool.schema.text("description")) + "  (" + tool.origin + ")\n";
    }
    for (auto& each : registry.skipped())
        write_all(2, harmless(each.line()) + "\n");
    return print(out.empty() ? "No tools available\n" : out);
}

Result<std::string> read_stdin()
{
    std::string input(1 << 20, '\0');
    std::size_t size = 0;
    for (;;) {
        auto n = read_some(0, input.data() + size, input.size() - size);
        if (n < 0) return Error{code::read_failed, std::string("cannot read standard input: ") + std::strerror(errno)};
        size += static_cast<std::size_t>(n);
        if (n == 0) return input.substr(0, size);
        if (size > 256u << 20) return Error{code::invalid_arg, "standard input is longer than 256 MB"};
        if (size == input.size()) input.resize(2 * size);
    }
}

// One tool through the host: what the model would be answered.
int run_tool(const std::string& name, const std::optional<std::string>& given, bool trust, double seconds, const World& world)
{
    auto text = given ? Result(*given) : read_stdin();
    if (!text)
        return fail(text.error().message, 2);
    auto arguments = trim(*text).empty() ? Result<Json>(Json(Json::Object{})) : parse_json(*text);
    if (!arguments)
        return fail("the arguments of " + name + ": " + arguments.error().message, 2);

    Registry registry;
    registry.start(tool_places(world, trust));
    settle(registry);
    Signals signals;
    int told = 0;   // the signal that ends us
    auto state = state_folder();
    auto id = new_id();
    Host host({.session = id, .outputs = (state.empty() ? temporary_folder() + "/ikigai-" + id : state + "/outputs/" + id),
               .limit = milliseconds(static_cast<long long>(seconds * 1000))});
    auto tool_name = registry.find(name) ? name : replace(name, '-', '_');
    host.run(registry.find(tool_name), {"call", registry.find(tool_name) ? tool_name : name, *arguments});
    for (;;) {
        for (auto& finished : host.take_finished()) {
            if (!finished.words.empty())
                write_all(2, finished.words + (finished.words.ends_with('\n') ? "" : "\n"));
            for (auto& notice : finished.notices)
                write_all(2, harmless(notice.text("content")) + "\n");
            int status = print(finished.envelope.dump() + "\n");
            end_what_is_left();
            if (told)
                die_of(told);
            return status ? status : *finished.envelope.find("tool_success") == Json(true) ? 0 : 1;
        }
        Poll poll;
        host.add_to(poll);
        poll.read(signals.fd());
        poll.wait();
        host.advance(poll);
        if (auto number = signals.take()) {
            told = *number;
            host.cancel();
        }
    }
}

std::string version_text()
{
    return std::string("ikigai ") + version + " (" + commit() + ", " + compiler() + ")\n" + library_versions() + "\n";
}

Result<std::string> read_file(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return Error{code::open_failed, "Cannot open file: " + path};
    return std::string(std::istreambuf_iterator<char>(in), {});
}

constexpr std::pair<const char*, Format> formats[] = {{"text", Format::text}, {"json", Format::json}, {"stream-json", Format::stream_json}};

struct ChatWords {   // the command line, as it was written
    ChatOptions options;
    std::string format = "text", system, system_file;
    std::string tools;
    double timeout = 0;
};

std::string provider_names()
{
    std::string out = "openai";
    for (auto& name : providers::names())
        if (name != "openai") out += ", " + name;
    return out;
}

void add_chat_options(CLI::App& app, ChatWords& words)
{
    auto& o = words.options;
    app.add_option("message", o.message, "Said first");
    app.add_option("-p,--print", o.print, "Answer TEXT and exit; piped standard input is added to it")->type_name("TEXT");
    app.add_option("--provider", o.provider, provider_names())->envname("IKIGAI_PROVIDER");
    app.add_option("--model", o.model, "The model's name")->envname("IKIGAI_MODEL");
    app.add_option("--base-url", o.base_url, "Address of the service, up to before /chat/completions")->type_name("URL")->envname("IKIGAI_BASE_URL");
    app.add_option("--system", words.system, "System text, instead of ikigai's own")->type_name("TEXT");
    app.add_option("--system-file", words.system_file, "The same, from a file")->type_name("FILE");
    app.add_option("--thinking", o.thinking, "none, low, medium or high")->check(CLI::IsMember({"none", "low", "medium", "high"}))->type_name("LEVEL");
    app.add_option("--output-format", words.format, "text, json or stream-json")->check(CLI::IsMember({"text", "json", "stream-json"}))->type_name("FORMAT");
    app.add_option("--max-turns", o.max_turns, "Model requests a message")->check(CLI::Range(1, 1'000'000))->capture_default_str();
    app.add_option("--tools", words.tools, "Offer only these tools, named with commas")->type_name("A,B");
    app.add_option("--timeout", words.timeout, "Time limit of the whole, in seconds")->check(CLI::PositiveNumber)->type_name("SECONDS");
    app.add_flag("--trust", o.trust, "Run the tools in ./.ikigai/tools");
}

// A server on this machine that the person at the terminal says yes to.
std::optional<LocalServer> local_server_by_consent()
{
    if (!isatty(0) || !isatty(2))
        return {};
    for (auto& server : local_servers()) {
        write_all(2, server.name + " answers at " + server.base_url + " (model " + harmless(server.model) + "). Use it? [Y/n] ");
        std::string answer(256, '\0');
        auto n = read_some(0, answer.data(), answer.size());
        auto said = lower(trim(answer.substr(0, n > 0 ? static_cast<std::size_t>(n) : 0)));
        if (n > 0 && (said.empty() || said.starts_with('y')))
            return server;
    }
    return {};
}

int run_chat(ChatWords& words, const World& world)
{
    auto& options = words.options;
    if (!words.system.empty())
        options.system = words.system;
    if (!words.system_file.empty()) {
        auto text = read_file(words.system_file);
        if (!text)
            return fail(text.error().message, 2);
        options.system = clean_utf8(*text);
    }
    for (auto& [name, format] : formats)
        if (options.print && words.format == name)
            options.format = format;
    if (!options.print && words.format != "text")
        return fail("--output-format " + words.format + " needs -p", 2);
    for (auto name : split(words.tools, ','))
        if (!trim(name).empty())
            options.tools.emplace_back(replace(trim(name), '-', '_'));
    if (words.timeout > 0)
        options.timeout = milliseconds(static_cast<long long>(words.timeout * 1000));

    auto choice = choose_provider(options.provider, options.model, options.base_url);
    bool open = !options.print && options.provider.empty() && options.model.empty() && options.base_url.empty();
    if (!choice && open)
        if (auto server = local_server_by_consent())
            choice = choose_provider("openai", server->model, server->base_url);
    if (!choice && open) {
        write_all(2, "No model is set up: the built-in offline provider answers. To change that, " + std::string(provider_settings) + ".\n");
        choice = choose_provider("offline", "", "");
    }
    if (!choice)
        return fail(choice.error().message, 2);
    options.provider = choice->provider;
    options.model = choice->model;
    options.base_url = choice->base_url;
    return chat(options, world);
}

// The word that no subcommand or applet is called.
int unknown(const std::string& word, const CLI::App& app)
{
    std::vector<std::string> names;
    for (auto* sub : app.get_subcommands(nullptr))
        names.push_back(sub->get_name());
    for (auto* applet : all_applets())
        names.push_back(command_of(*applet));
    return fail("unknown command: " + word + "." + did_you_mean(word, names) + " See ikigai --help.", 2);
}

// For an option that there is not.
std::string suggestion(int argc, char** argv, const CLI::App& app)
{
    std::vector<std::string> names;
    auto used = app.get_subcommands();
    for (auto* option : (used.empty() ? &app : used.front())->get_options())
        for (auto& name : option->get_lnames())
            names.push_back("--" + name);
    for (int i = 1; i < argc; ++i) {
        std::string word(argv[i]);
        if (word.starts_with("--") && std::ranges::find(names, word) == names.end())
            return did_you_mean(word, names);
    }
    return "";
}

// `ikigai -p hello` is `ikigai chat -p hello`.
std::vector<std::string> words_of(int argc, char** argv)
{
    std::vector<std::string> words(argv + 1, argv + argc);
    auto own = [](std::string_view word) { return word == "-h" || word == "--help" || word == "--version"; };
    if (!words.empty() && words[0].starts_with('-') && !own(words[0]))
        words.insert(words.begin(), "chat");
    std::ranges::reverse(words);   // as CLI11 wants them
    return words;
}

int program(int argc, char** argv)
{
    auto self = world(argv[0]);
    CLI::App app("An agent in a terminal, for people who run servers.", "ikigai");
    app.set_version_flag("--version", version_text());
    app.footer([] {
        std::string out = "Tools (each also a program: --schema, --help, --man):\n";
        for (auto* applet : all_applets())
            out += "  " + command_of(*applet) + std::string(28 - command_of(*applet).size(), ' ') + applet->doc.summary + "\n";
        return out;
    });

    ChatWords words;
    auto* chat_command = app.add_subcommand("chat", "The conversation");
    add_chat_options(*chat_command, words);

    bool json = false, trust = false;
    auto* discover_command = app.add_subcommand("discover", "The tools that there are");
    discover_command->add_flag("--json", json, "As one JSON object");
    discover_command->add_flag("--trust", trust, "Also those in ./.ikigai/tools");

    std::string tool;
    std::optional<std::string> arguments;
    double limit = 30;
    auto* run_command = app.add_subcommand("run", "One tool through the host: checks, limits, envelope");
    run_command->add_option("tool", tool, "Its name")->required();
    run_command->add_option("arguments", arguments, "A JSON object; standard input without it")->type_name("JSON");
    run_command->add_option("--timeout", limit, "Time limit of the call, in seconds")->check(CLI::PositiveNumber)->capture_default_str();
    run_command->add_flag("--trust", trust, "Also tools in ./.ikigai/tools");

    auto* applets_command = app.add_subcommand("applets", "The tools that are built in");
    std::string folder;
    auto* links_command = app.add_subcommand("install-links", "Make a link for every built-in tool");
    links_command->add_option("folder", folder, "Where")->required()->type_name("DIR");
    auto* llm_command = app.add_subcommand("llm", "The child that talks to the model's service: requests in, events out");

    bool bare = argc == 1;
    auto is_known = [&](std::string_view word) {
        return std::ranges::any_of(app.get_subcommands(nullptr), [&](auto* sub) { return sub->get_name() == word; });
    };
    if (!bare && !std::strcmp(argv[1], "help"))
        return print(app.help());
    if (!bare && argv[1][0] != '-' && !is_known(argv[1]))
        return unknown(argv[1], app);
    try {
        app.parse(words_of(argc, argv));
    } catch (const CLI::ParseError& e) {
        std::ostringstream out, err;
        if (app.exit(e, out, err) == 0)
            return print(out.str());
        return fail(e.what() + suggestion(argc, argv, app), 2);
    }
    if (*discover_command) return discover(json, trust, self);
    if (*applets_command) return applets();
    if (*links_command) return install_links(folder, self);
    if (*llm_command) return llm(argc - 1, argv + 1);
    if (bare && !(isatty(0) && isatty(1)))
        return print(app.help());

    supervise();
    return *run_command ? run_tool(tool, arguments, trust, limit, self) : run_chat(words, self);
}

}
}

int main(int argc, char** argv)
{
    ik::tidy_descriptors();
    if (argc == 0)
        return 2;
    const char* slash = std::strrchr(argv[0], '/');
    if (auto* applet = ik::find_applet(slash ? slash + 1 : argv[0]))
        return ik::serve(*applet, argc, argv);
    if (argc > 1)
        if (auto* applet = ik::find_applet(argv[1]))
            return ik::serve(*applet, argc - 1, argv + 1);
    if (argc > 1 && !std::strcmp(argv[1], "llm"))
        return ik::llm(argc - 1, argv + 1);
    return ik::program(argc, argv);
}
