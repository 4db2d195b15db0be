// ikigai: one executable, many programs.
//
//   argv[0] or the first word names an applet   applets/    one tool, one process: JSON in, JSON out
//   ikigai llm                                  llm/        the child that talks to the model's service
//   ikigai chat                                 chat.cc     the conversation: one loop over
//                                                 agent/session   what happened -> what is to be done
//                                                 agent/registry  which tools there are
//                                                 host            tool calls as children -> envelopes
//                                                 mouth           what is shown
//                                                 start           settings, provider, key: before it
//   ikigai store                                store/      the child that owns the database of sessions
//   ikigai sessions                             sessions
//   ikigai config, models                       inquiries
//   ikigai doctor                               doctor
//   ikigai trust                                consent     trust in what a project brings: trust
//   ikigai audit                                audit
//   ikigai man, --licenses                      manual
//   ikigai completion                           completion: what could come next; suggest: names for that
//   ikigai run, discover, applets, …            this file
//
// base/ knows nothing of ikigai. Applets are dispatched before anything else is touched: they start as
// fast as the smallest of programs.
#include "applets/applet.h"

#include "audit.h"
#include "base/fd.h"
#include "base/places.h"
#include "base/standby.h"
#include "base/text.h"
#include "chat.h"
#include "completion.h"
#include "consent.h"
#include "discover.h"
#include "doctor.h"
#include "environment.h"
#include "inquiries.h"
#include "llm/llm.h"
#include "llm/provider.h"
#include "manual.h"
#include "mouth.h"
#include "run.h"
#include "sandboxed.h"
#include "say.h"
#include "sessions.h"
#include "start.h"
#include "store/store.h"
#include "suggest.h"
#include "supervise.h"
#include "version.h"
#include "words.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
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

std::string version_text()
{
    return std::string("ikigai ") + version + " (" + commit() + ", " + compiler() + ")\n" + library_versions() + "\n";
}

// The parser's tables, and those of the applets, as completion sees them.
Outline outline(const CLI::App& app)
{
    Outline out{app.get_name(), app.get_description(), {}, {}, {}};
    for (auto* option : app.get_options()) {
        auto takes = option->get_items_expected_max() == 0 ? "" : option->get_type_name();
        if (option->get_positional()) {
            out.operands.push_back({takes, option->get_items_expected_max() > 1});
            continue;
        }
        Outline::Option known{{}, option->get_description(), takes};
        for (auto& name : option->get_snames()) known.names.push_back("-" + name);
        for (auto& name : option->get_lnames()) known.names.push_back("--" + name);
        out.options.push_back(known);
    }
    for (auto* sub : app.get_subcommands(nullptr))
        out.commands.push_back(outline(*sub));
    return out;
}

Outline whole_outline(const CLI::App& app)
{
    auto out = outline(app);
    for (auto* applet : all_applets()) {
        Outline tool{command_of(*applet), applet->doc.summary, {}, {}, {}};
        for (auto& option : applet_options()) tool.options.push_back({{option}, "", ""});
        out.commands.push_back(tool);
    }
    return out;
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
    auto own = [](std::string_view word) { return word == "-h" || word == "--help" || word == "--version" || word == "--licenses"; };
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
    bool licences = false;
    app.add_flag("--licenses", licences, "The licence, and those of what is linked in");
    app.footer([] {
        std::string out = "Tools (each also a program: --schema, --help, --man):\n";
        for (auto* applet : all_applets())
            out += "  " + command_of(*applet) + std::string(28 - command_of(*applet).size(), ' ') + applet->doc.summary + "\n";
        return out;
    });

    hide_secrets();   // before there is a second process
    ChatWords words;
    auto* chat_command = app.add_subcommand("chat", "The conversation");
    add_chat_options(*chat_command, words);

    bool json = false, trust = false;
    std::string dialect;
    auto* discover_command = app.add_subcommand("discover", "The tools that there are");
    discover_command->add_option("--format", dialect, "As that provider would be offered them: " + provider_names())->type_name("PROVIDER");
    discover_command->add_flag("--json", json, "As one JSON object");
    discover_command->add_flag("--trust", trust, "Also those in ./.ikigai/tools");

    RunOptions run;
    std::optional<double> limit;
    auto* run_command = app.add_subcommand("run", "One tool through the host: checks, limits, envelope");
    run_command->add_option("tool", run.tool, "Its name")->required()->type_name("TOOL");
    run_command->add_option("arguments", run.arguments, "A JSON object; standard input without it")->type_name("JSON");
    run_command->add_option("--timeout", limit, "Time limit of the call, in seconds")->check(CLI::PositiveNumber);
    run_command->add_flag("--trust", trust, "Also tools in ./.ikigai/tools");

    Words set;
    add_sandbox_option(*run_command, set);
    std::vector<std::string> command_words;
    auto* sandbox_command = app.add_subcommand("sandbox", "A command, confined as tools are: ikigai sandbox -- CMD ARGS");
    add_sandbox_option(*sandbox_command, set, "--policy");
    sandbox_command->add_option("command", command_words, "And its arguments")->required()->type_name("CMD");
    auto* config_command = app.add_subcommand("config", "Every setting, its value and where it came from");
    config_command->add_flag("--json", json, "As one JSON object");
    config_command->add_flag("--trust", trust, "Follow ./.ikigai/config.json");
    auto* models_command = app.add_subcommand("models", "The models that the provider has");
    auto* doctor_command = app.add_subcommand("doctor", "Whether everything is in order for a conversation");
    for (auto* command : {models_command, doctor_command}) {
        command->add_flag("--json", json, "As one JSON object");
        add_provider_options(*command, set, trust);
    }

    TrustWords trust_words;
    auto* trust_command = app.add_subcommand("trust", "Show what a folder's .ikigai would run and set, and trust it as it is");
    trust_command->add_option("folder", trust_words.folder, "The folder with .ikigai in it; the current one by default")->type_name("DIR");
    auto* yes = trust_command->add_flag("--yes", trust_words.yes, "Trust it without being asked");
    auto* list = trust_command->add_flag("--list", trust_words.list, "List the folders that are trusted");
    trust_command->add_flag("--remove", trust_words.remove, "Trust it no longer")->excludes(yes)->excludes(list);

    std::string log;
    std::size_t count = 20;
    auto* audit_command = app.add_subcommand("audit", "The log of tool calls")->require_subcommand(1);
    auto* verify_command = audit_command->add_subcommand("verify", "Whether its chain is whole");
    auto* show_command = audit_command->add_subcommand("show", "Its last entries");
    for (auto* command : {verify_command, show_command})
        command->add_option("file", log, "The log; the user's own without it")->type_name("FILE");
    show_command->add_option("-n", count, "How many")->capture_default_str();

    auto* applets_command = app.add_subcommand("applets", "The tools that are built in");
    std::string folder;
    auto* links_command = app.add_subcommand("install-links", "Make a link for every built-in tool");
    links_command->add_option("folder", folder, "Where")->required()->type_name("DIR");
    SessionsWords kept;
    auto* sessions_command = app.add_subcommand("sessions", "Conversations that were kept: list, show, search, export, import, rm");
    sessions_command->add_option("action", kept.action, "list, show ID, search WORDS, export ID, import FILE or rm ID...")->type_name("ACTION");
    sessions_command->add_option("words", kept.ids, "Ids (their beginning is enough), words or a file")->type_name("WORDS");
    sessions_command->add_flag("--json", kept.json, "list, search: as JSON");
    sessions_command->add_flag("--all", kept.all, "list: those of all folders");
    sessions_command->add_option("--limit", kept.limit, "list, search: at most so many")->check(CLI::Range(1, 1'000'000))->type_name("N");
    sessions_command->add_option("--format", kept.format, "export: markdown, jsonl or html")->check(CLI::IsMember({"markdown", "jsonl", "html"}))->type_name("FORMAT");
    sessions_command->add_option("-o,--output", kept.file, "export: into a file")->type_name("FILE");
    sessions_command->add_flag("--yes", kept.yes, "rm: do not ask");
    std::string page, shell;
    auto* man_command = app.add_subcommand("man", "The manual, where there is no man");
    man_command->add_option("page", page, "ikigai, tools, security, hacking or a built-in tool")->type_name("PAGE");
    auto* completion_command = app.add_subcommand("completion", "The completion of a shell, to be read by it");
    completion_command->add_option("shell", shell, "Which")->required()->check(CLI::IsMember(completion_shells()))->type_name("SHELL");
    completion_command->add_option("--of", command_words, "What could be the last of these words; for the scripts")->type_name("WORD");
    app.add_subcommand("standby", "The child that is confined ahead of time and becomes the next tool");
    app.add_subcommand("store", "The child that keeps conversations: events in, answers out");
    auto* llm_command = app.add_subcommand("llm", "The child that talks to the model's service: requests in, events out");

    bool bare = argc == 1;
    auto is_known = [&](std::string_view word) {
        return std::ranges::any_of(app.get_subcommands(nullptr), [&](auto* sub) { return sub->get_name() == word; });
    };
    if (!bare && !std::strcmp(argv[1], "help"))
        return print(app.help());
    if (!bare && argv[1][0] != '-' && !is_known(argv[1]))
        return unknown(argv[1], app);
    if (argc > 2 && !std::strcmp(argv[1], "completion") && !std::strcmp(argv[2], "--of"))   // any words, unparsed
        return suggest(expected(whole_outline(app), "chat", std::vector<std::string>(argv + 3, argv + argc)), self);
    try {
        app.parse(words_of(argc, argv));
    } catch (const CLI::ParseError& e) {
        std::ostringstream out, err;
        if (app.exit(e, out, err) == 0)
            return print(out.str());
        return fail(std::string(e.what()) + "." + suggestion(argc, argv, app), 2);
    }
    if (licences) return show_licences();
    if (*man_command) return show_page(page);
    if (*completion_command) return print(completion_script(shell));
    if (*discover_command) return discover(json, dialect, ProjectTrust::here(trust), self);
    if (*trust_command) return ik::trust_command(trust_words);
    if (*verify_command) return verify_audit(log.empty() ? audit_log() : log);
    if (*show_command) return show_audit(log.empty() ? audit_log() : log, count);
    if (*applets_command) return applets();
    if (*links_command) return install_links(folder, self);
    if (*llm_command) return llm(argc - 1, argv + 1);
    if (*sessions_command) return sessions(kept);
    if (*config_command || *models_command || *doctor_command || *sandbox_command) {
        auto project = ProjectTrust::here(trust);
        auto settings = settings_of(set, project);
        if (*config_command) return print(config_text(settings, json));
        if (*sandbox_command) return run_sandboxed(command_words, sandbox_of(settings));
        if (*models_command) return models(settings, json, self.self);
        return doctor(settings, json, project, self);
    }
    if (bare && !(isatty(0) && isatty(1)))
        return print(app.help());

    if (!*run_command)
        return run_chat(words, self);
    run.project = ProjectTrust::here(trust);
    auto settings = settings_of(set, run.project);
    for (auto& warning : settings.warnings) warn(warning);
    run.audit = audit_to(settings.text("audit"));
    run.rules = ToolRules(settings);
    if (limit) run.rules.set_time(milliseconds(static_cast<long long>(*limit * 1000)));
    run.sandbox = sandbox_of(settings);
    if (auto why = cannot_sandbox(run.sandbox))
        return fail(*why + ". With --sandbox off they run without.", 2);
    supervise();
    return run_tool(std::move(run), self);
}

}
}

// What nobody has caught: one sentence, then the end by SIGABRT, as it would be without it.
[[noreturn]] static void say_why()
{
    try {
        if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
        ik::write_all(2, "ikigai: out of memory\n");
    } catch (const std::exception& unexpected) {
        ik::write_all(2, "ikigai: ");
        ik::write_all(2, unexpected.what());
        ik::write_all(2, "\n");
    }
    std::abort();
}

int main(int argc, char** argv)
{
    std::set_terminate(say_why);
    ik::tidy_descriptors();
    if (argc == 0)
        return 2;
    const char* slash = std::strrchr(argv[0], '/');
    if (auto* applet = ik::find_applet(slash ? slash + 1 : argv[0]))
        return ik::serve(*applet, argc, argv);
    if (argc > 1)
        if (auto* applet = ik::find_applet(argv[1]))
            return ik::serve(*applet, argc - 1, argv + 1);
    if (argc == 2 && !std::strcmp(argv[1], "standby")) {
        int status = ik::stand_by();
        return status == 2 ? ik::fail("standby: ikigai itself starts this, with a socket as its stdin", 2) : status;
    }
    if (argc > 1 && !std::strcmp(argv[1], "llm"))
        return ik::llm(argc - 1, argv + 1);
    if (argc > 1 && !std::strcmp(argv[1], "store"))
        return ik::store(argc - 1, argv + 1, ik::sessions_file());
    return ik::program(argc, argv);
}
