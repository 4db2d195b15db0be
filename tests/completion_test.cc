// Completion as a person has it: in real shells, and what `ikigai completion --of` says to any shell.
#include "completion.h"
#include "support/terminal.h"
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace ik;
using namespace ik::test;

namespace {

using Names = std::set<std::string>;

// The words that are offered for the last of these.
Names offered(const Home& home, std::vector<std::string> words)
{
    words.insert(words.begin(), {"completion", "--of"});
    auto ran = ikigai(home, words);
    INFO(ran.err);
    CHECK(ran.status == 0);
    Names out;
    for (std::string line; !ran.out.empty() && ran.out.find('\n') != std::string::npos; ran.out.erase(0, line.size() + 1)) {
        line = ran.out.substr(0, ran.out.find('\n'));
        out.insert(line.substr(0, line.find('\t')));
    }
    return out;
}

bool includes(const Names& all, const Names& some) { return std::ranges::includes(all, some); }

Names options_in_help(const Home& home, const std::vector<std::string>& words)
{
    auto command = words;
    command.push_back("--help");
    auto help = ikigai(home, command).out;
    Names out;
    for (std::size_t at = 0; (at = help.find("\n  -", at)) != help.npos; ++at) {
        auto word = help.substr(at + 3, help.find_first_of(" \n", at + 3) - at - 3);
        for (std::size_t comma; (comma = word.find(',')) != word.npos; word.erase(0, comma + 1)) out.insert(word.substr(0, comma));
        out.insert(word);
    }
    return out;
}

bool has(const std::string& shell) { return run({.argv = {"/usr/bin/env", shell, "-c", "true"}}).status == 0; }

// What bash makes of the words, the last being typed.
Names in_bash(const Home& home, std::vector<std::string> words)
{
    words.insert(words.begin(), {"/bin/bash", "-c", R"(source <("$0" completion bash) || exit
        complete -p ikigai >&2
        COMP_WORDS=("$0" "$@") COMP_CWORD=$#
        _ikigai "$0" "${COMP_WORDS[COMP_CWORD]}"
        printf '%s\n' "${COMPREPLY[@]}")", ikigai()});
    auto ran = run({.argv = words, .env = home.env()});
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.err == "complete -F _ikigai ikigai\n");
    Names out;
    for (std::size_t end; (end = ran.out.find('\n')) != ran.out.npos; ran.out.erase(0, end + 1))
        if (end > 0) out.insert(ran.out.substr(0, end));
    return out;
}

}

TEST_CASE("completion: offers the options and commands that the help has")
{
    Home home;
    const Names special{"audit", "llm", "standby", "store"};   // audit has commands of its own, below; the others' options are for who starts them
    for (auto& command : offered(home, {""})) {
        INFO(command);
        bool is_tool = ikigai(home, {command, "--schema"}).status == 0;
        if (is_tool) CHECK(offered(home, {command, "--"}) == Names{"--schema", "--help", "--man", "--version"});
        else if (!special.contains(command)) CHECK(offered(home, {command, "-"}) == options_in_help(home, {command}));
    }
    CHECK(offered(home, {"audit", ""}) == Names{"show", "verify"});
    CHECK(offered(home, {"audit", "show", "-"}) == options_in_help(home, {"audit", "show"}));
    CHECK(includes(offered(home, {""}), {"chat", "completion", "man", "run", "sessions", "bash", "file-read", "web-fetch"}));
    CHECK(offered(home, {"sa"}) == Names{"sandbox"});
    CHECK(includes(offered(home, {"-"}), {"--licenses", "--print", "--version", "-p"}));   // chat's too, whose name may be left out
    CHECK(offered(home, {"chat", "--no-"}) == Names{"--no-compact", "--no-save"});
}

TEST_CASE("completion: offers the values of options and what commands take")
{
    Home home;
    home.tool("uptime_of", "#!/bin/sh\n[ \"$1\" ] && echo '{\"name\":\"uptime_of\",\"description\":\"How long\"}'\n");
    home.write(".ikigai/tools/never", "");   // no tool
    CHECK(offered(home, {"chat", "--sandbox", ""}) == Names{"off", "read-only", "workspace"});
    CHECK(offered(home, {"chat", "--sandbox=re"}) == Names{"--sandbox=read-only"});
    CHECK(offered(home, {"--approve", "=", "au"}) == Names{"auto"});
    CHECK(offered(home, {"--approve", "="}) == Names{"ask", "auto", "edits", "plan"});
    CHECK(includes(offered(home, {"chat", "--provider", ""}), {"anthropic", "offline", "openai"}));
    CHECK(offered(home, {"chat", "--model", ""}) == Names{});
    CHECK(offered(home, {"chat", "--system-file", ""}) == Names{":files"});
    CHECK(offered(home, {"trust", ""}) == Names{":folders"});
    CHECK(offered(home, {"sandbox", "--", ""}) == Names{":commands"});
    CHECK(offered(home, {"sandbox", "--policy", "off", "--", "ls", ""}) == Names{":files"});
    CHECK(offered(home, {"run", "up"}) == Names{"uptime_of"});
    CHECK(offered(home, {"run", "uptime_of", ""}) == Names{});
    CHECK(offered(home, {"chat", "--tools", "bash,up"}) == Names{"bash,uptime_of"});
    CHECK(offered(home, {"completion", ""}) == Names{"bash", "fish", "zsh"});
    CHECK(includes(offered(home, {"man", ""}), {"grep", "ikigai", "security", "tools"}));
    CHECK(offered(home, {"no-such-command", ""}) == Names{});
    CHECK(includes(offered(home, {}), {"chat", "run"}));
    CHECK(ikigai(home, {"completion", "--of", "run", "upt"}).out == "uptime_of\tHow long\n");
}

TEST_CASE("completion: offers the sessions that were kept, with their titles")
{
    Home home;
    CHECK(offered(home, {"sessions", ""}) == Names{"export", "import", "list", "rm", "search", "show"});
    CHECK(offered(home, {"sessions", "show", ""}) == Names{});
    CHECK(!home.exists(".local/state"));   // who looks makes nothing
    ikigai(home, {"chat", "--provider", "offline", "-p", "run echo one", "--session", "first"});
    CHECK(ikigai(home, {"completion", "--of", "sessions", "show", "fi"}).out == "first\trun echo one\n");
    CHECK(offered(home, {"-r", ""}) == Names{"first"});
    CHECK(offered(home, {"sessions", "rm", "other", "f"}) == Names{"first"});
    CHECK(offered(home, {"sessions", "import", ""}) == Names{":files"});
    CHECK(offered(home, {"sessions", "search", ""}) == Names{});
}

TEST_CASE("completion: a shell that there is not")
{
    Home home;
    auto ran = ikigai(home, {"completion", "tcsh"});
    CHECK(ran.status == 2);
    CHECK(ran.err.find("tcsh") != std::string::npos);
    CHECK(ikigai(home, {"completion"}).status == 2);
}

TEST_CASE("completion: in bash")
{
    Home home;
    home.write("a file", "");
    home.write("a folder/b", "");
    CHECK(in_bash(home, {"doct"}) == Names{"doctor"});
    CHECK(in_bash(home, {"chat", "--thinking", ""}) == Names{"high", "low", "medium", "none"});
    CHECK(in_bash(home, {"chat", "--thinking", "=", "l"}) == Names{"low"});
    CHECK(in_bash(home, {"chat", "--thinking", "="}) == Names{"high", "low", "medium", "none"});
    CHECK(in_bash(home, {"chat", "--system-file", "a"}) == Names{"a file", "a folder"});
    CHECK(in_bash(home, {"trust", "a"}) == Names{"a folder"});
    CHECK(includes(in_bash(home, {"sandbox", "--", "tru"}), {"true"}));
    CHECK(in_bash(home, {"run", "nothing"}) == Names{});
}

TEST_CASE("completion: by the Tab key of an interactive bash")
{
    Home home;
    auto folder = ikigai().substr(0, ikigai().rfind('/'));
    Terminal terminal({"/bin/bash", "--norc", "--noprofile", "-i"}, environment_with(home.env({"PATH=" + folder + ":/usr/bin:/bin", "PS1=ready> ", "TERM=dumb", "INPUTRC=/dev/null"})));
    terminal.shows("ready> ");
    terminal.type("source <(ikigai completion bash)\necho loa\"\"ded\n");
    terminal.shows("\nloaded\n");
    terminal.type("ikigai completion ba\t >/dev/null; echo st\"\"atus $?\n");
    terminal.shows("ikigai completion bash ");
    terminal.shows("\nstatus 0\n");
    terminal.type("exit\n");
    CHECK(terminal.status() == 0);
}

TEST_CASE("completion: zsh and fish read their scripts, and complete by them", "[.systems]")
{
    Home home;
    auto in = [&](const std::string& shell, const std::string& words) {
        auto ran = run({.argv = {"/usr/bin/env", shell, "-c", words, ikigai()}, .env = home.env()});
        INFO(shell << ": " << words << "\n" << ran.out << ran.err);
        CHECK(ran.status == 0);
        return ran.out;
    };
    if (!has("zsh") || !has("fish"))
        return skip("zsh and fish are not here: make/packages zsh fish");
    home.write("script", ikigai(home, {"completion", "zsh"}).out);
    CHECK(in("zsh", "zsh -n script 2>&1") == "");
    home.write("script", ikigai(home, {"completion", "fish"}).out);
    CHECK(in("fish", "fish -n script 2>&1") == "");
    auto fish = [&](const std::string& line) { return in("fish", "set PATH (string replace -r '/[^/]*$' '' " + ikigai() + ") $PATH; ikigai completion fish | source; complete -C '" + line + "'"); };
    CHECK(fish("ikigai docto") == "doctor\tWhether everything is in order for a conversation\n");
    CHECK(fish("ikigai chat --thinking ") == "high\nlow\nmedium\nnone\n");
    CHECK(fish("ikigai chat --system-file scr") == "script\n");
    CHECK(fish("ikigai chat --sandbox=re") == "--sandbox=read-only\n");
}

TEST_CASE("completion: by the Tab key of an interactive zsh", "[.systems]")
{
    if (!has("zsh"))
        return skip("zsh is not here: make/packages zsh");
    Home home;
    auto folder = ikigai().substr(0, ikigai().rfind('/'));
    Terminal terminal({"/usr/bin/env", "zsh", "-f", "-i"}, environment_with(home.env({"PATH=" + folder + ":/usr/bin:/bin", "PS1=ready> ", "TERM=dumb"})));
    terminal.shows("ready> ");
    terminal.type("autoload -Uz compinit && compinit -u -D; source <(ikigai completion zsh); echo loa\"\"ded\n");
    terminal.shows("loaded\n");
    terminal.type("ikigai completion ba\t >/dev/null; echo st\"\"atus $?\n");
    terminal.shows("ikigai completion bash ");
    terminal.shows("status 0\n");
    terminal.type("exit\n");
    CHECK(terminal.status() == 0);
}
