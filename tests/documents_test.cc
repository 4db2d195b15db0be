// The documents are true: the tools in them run, the conversation happens as it stands there, and
// what the pages name exists in the program and the other way round.
#include "base/poll.h"
#include "base/process.h"
#include "base/text.h"
#include "sandbox.h"
#include "settings.h"
#include "support/documents.h"
#include "support/server.h"
#include "support/terminal.h"
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sys/utsname.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// Every match's first group.
Names all(const std::string& text, const std::string& expression)
{
    std::regex regex(expression);
    Names out;
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) out.insert((*it)[1]);
    return out;
}

Names without(Names names, const Names& others)
{
    for (auto& other : others) names.erase(other);
    return names;
}

struct Script { std::string name, language; Lines text; };

// The tools in a document: blocks that name their own file in ~/.ikigai/tools.
std::vector<Script> scripts(const std::string& document)
{
    std::vector<Script> out;
    for (auto& block : blocks(document)) {
        std::smatch match;
        auto head = block.empty() ? "" : block[0] + "\n" + (block.size() > 1 ? block[1] : "");
        if (!std::regex_search(head, match, std::regex("~/\\.ikigai/tools/([a-z_]+)")))
            continue;
        auto language = head.starts_with("/*") ? "c" : head.find("python3") != head.npos ? "python" : "sh";
        out.push_back({match[1], language, block});
    }
    return out;
}

constexpr const char* sources[] = {"README.md", "man/ikigai-tools.7"};

// A user who has nothing set up yet.
struct User {
    Folder folder;
    std::vector<std::string> env{"HOME=" + folder / ".home", "PATH=/usr/local/bin:/usr/bin:/bin:" + std::string(std::getenv("PATH")),
                                 "TERM=dumb", "NO_COLOR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL",
                                 "IKIGAI_PROVIDER", "IKIGAI_MODEL", "IKIGAI_BASE_URL", "IKIGAI_LIBEXEC_DIR", "IKIGAI_SANDBOX=off",   // what holds a home is no workspace
                                 "IKIGAI_CONTEXT_WINDOW=1000000"};   // known: a scripted server is not asked for it

    User() { fs::create_directories(folder / ".home"); }

    Ran ikigai(std::vector<std::string> words, std::string input = "") const
    {
        words.insert(words.begin(), ik::test::ikigai());
        return run({.argv = words, .input = std::move(input), .env = env, .limit = std::chrono::seconds(60)});
    }
    std::string help(const std::string& command) const { return command.empty() ? ikigai({"--help"}).out : ikigai({command, "--help"}).out; }

    void install(const Script& script) const
    {
        auto path = ".home/.ikigai/tools/" + script.name;
        if (script.language != "c")
            return folder.write(path, joined(script.text), 0755);
        folder.write(script.name + ".c", joined(script.text));
        fs::create_directories(fs::path(folder / path).parent_path());
        auto ran = sh("cc -o " + path + " " + script.name + ".c 2>&1");
        INFO(ran.out);
        REQUIRE(ran.status == 0);
    }

    bool has_python() const { return run({.argv = {"/usr/bin/env", "python3", "-c", ""}, .env = env}).status == 0; }
};

struct Enveloped { Json envelope; int status; std::string err; };

Enveloped through_host(const User& user, const std::string& tool, const std::string& arguments)
{
    auto ran = user.ikigai({"run", tool, arguments});
    auto envelope = parse_json(ran.out);
    UNSCOPED_INFO(tool << " " << arguments << " -> " << ran.status << " " << ran.out << ran.err);
    REQUIRE(envelope);
    return {*envelope, ran.status, ran.err};
}

Json result(const User& user, const std::string& tool, const std::string& arguments)
{
    auto ran = through_host(user, tool, arguments);
    CHECK(ran.status == 0);
    REQUIRE(ran.envelope.find("result"));
    return *ran.envelope.find("result");
}

std::string refused(const User& user, const std::string& tool, const std::string& arguments)
{
    auto ran = through_host(user, tool, arguments);
    CHECK(ran.status == 1);
    CHECK(ran.envelope.text("error_code") == "INVALID_PARAMS");
    return std::string(ran.envelope.text("error"));
}

std::size_t size_of(const Json& json, const char* name)
{
    auto* list = json.find(name) ? json.find(name)->as<Json::Array>() : nullptr;
    REQUIRE(list);
    return list->size();
}

void try_load_average(const User& user)
{
    auto answer = result(user, "load_average", "{}");
    CHECK(size_of(answer, "load") == 3);
    REQUIRE(answer.find("processors"));
    CHECK(answer.find("processors")->as<std::int64_t>());
}

void try_largest_files(const User& user)
{
    user.folder.write("files/small", "1");
    user.folder.write("files/deep/large", "1234567890");
    CHECK(result(user, "largest_files", R"({"path":"files","count":1})").dump() == R"({"files":[{"path":"files/deep/large","size":10}]})");
    CHECK(size_of(result(user, "largest_files", R"({"path":"files"})"), "files") == 2);
    CHECK(result(user, "largest_files", R"({"path":"nowhere"})").dump() == R"({"error":"Not a folder: nowhere","error_code":"NOT_A_FOLDER"})");
    CHECK(refused(user, "largest_files", "{}") == "Tool 'largest_files': missing required parameter: path");
    refused(user, "largest_files", R"({"path":"files","count":0})");
}

void try_full_disks(const User& user)
{
    CHECK(size_of(result(user, "full_disks", R"({"percent":0})"), "disks") > 0);
    CHECK(result(user, "full_disks", R"({"percent":101})").dump() == R"({"disks":[]})");
    CHECK(refused(user, "full_disks", "{}") == "Tool 'full_disks': missing required parameter: percent");
}

void try_port_open(const User& user)
{
    ModelServer server({});
    auto at = [](int port) { return object({{"host", "127.0.0.1"}, {"port", port}}).dump(); };
    auto open = through_host(user, "port_open", at(server.port()));
    CHECK(open.envelope.dump() == R"({"tool_success":true,"result":{"open":true}})");
    CHECK(open.err.ends_with("port_open: 127.0.0.1:" + std::to_string(server.port()) + "\n"));
    auto closed = result(user, "port_open", at(closed_port()));
    REQUIRE(closed.find("open"));
    CHECK(*closed.find("open") == Json(false));
    refused(user, "port_open", R"({"host":"127.0.0.1","port":0})");
}

void try_kernel_release(const User& user)
{
    utsname system{};
    uname(&system);
    CHECK(result(user, "kernel_release", "{}") == object({{"release", system.release}}));
}

const std::map<std::string, void (*)(const User&)> trials = {
    {"full_disks", try_full_disks}, {"kernel_release", try_kernel_release}, {"largest_files", try_largest_files},
    {"load_average", try_load_average}, {"port_open", try_port_open},
};

void try_scripts(const std::function<bool(const Script&)>& wanted)
{
    User user;
    std::vector<Script> chosen;
    for (auto* source : sources)
        for (auto& script : scripts(source))
            if (wanted(script)) chosen.push_back(script);
    REQUIRE(!chosen.empty());
    for (auto& script : chosen) user.install(script);

    auto listed = parse_json(user.ikigai({"discover", "--json"}).out);
    REQUIRE(listed);
    INFO(listed->dump());
    CHECK(size_of(*listed, "skipped") == 0);
    std::map<std::string, Json> found;
    for (auto& tool : *listed->find("tools")->as<Json::Array>()) found[std::string(tool.text("name"))] = tool;
    for (auto& script : chosen) {
        INFO(script.name);
        auto& tool = found[script.name];
        CHECK(tool.text("origin") == "user");
        CHECK(tool.text("path") == user.folder / (".home/.ikigai/tools/" + script.name));
        REQUIRE(tool.find("schema"));
        CHECK(!tool.find("schema")->text("description").empty());
        CHECK(tool.find("schema")->find("parameters")->text("type") == "object");
        REQUIRE(trials.contains(script.name));
        for (auto* sandbox : {"IKIGAI_SANDBOX=off", "IKIGAI_SANDBOX=workspace"}) {
            if (std::string_view(sandbox).ends_with("workspace") && no_sandbox()) continue;
            INFO(sandbox);
            user.env.push_back(sandbox);
            trials.at(script.name)(user);
        }
    }
}

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
    return n;
}

// The environment of a user, whole.
std::vector<std::string> environment_of(const User& user)
{
    return environment_with(user.env);
}

// "-p", "--print" of the option lines of a help text.
Names options_in_help(const std::string& help)
{
    Names out;
    for (auto& line : lines_of(help))
        if (line.starts_with("  -"))
            for (auto& word : all(line.substr(0, line.find(' ', 2)), "(--?[a-z][a-z-]*)")) out.insert(word);
    return out;
}

Names subcommands(const User& user)
{
    Names out;
    for (auto& line : between(lines_of(user.help("")), "Subcommands:", "Tools"))
        if (!line.empty()) out.insert(line.substr(2, line.find(' ', 2) - 2));
    return out;
}

Names applets(const User& user)
{
    auto lines = lines_of(user.ikigai({"applets"}).out);
    return Names(lines.begin(), lines.end());
}

Lines page() { return lines_of(document("man/ikigai.1")); }

// The names of `.It Fl x , -long` lines, as they are typed.
Names options_in_page(const Lines& lines)
{
    Names out;
    for (auto& line : lines)
        if (line.starts_with(".It Fl "))
            for (auto word : split(std::string_view(line).substr(7, line.find(" Ar ") - 7), ' '))
                if (word != ",") out.insert("-" + std::string(word));
    return out;
}

std::string source_text()
{
    std::string out;
    for (auto& entry : fs::recursive_directory_iterator(root() + "/src"))
        if (entry.is_regular_file()) out += document(fs::relative(entry.path(), root()));
    return out;
}

}

TEST_CASE("documents: every tool in them is tried here")
{
    Names names;
    for (auto* source : sources)
        for (auto& script : scripts(source)) names.insert(script.name);
    Names tried;
    for (auto& [name, trial] : trials) tried.insert(name);
    CHECK(names == tried);
}

TEST_CASE("documents: the commands that try a tool, as ikigai-tools has them")
{
    User user;
    for (auto& script : scripts("man/ikigai-tools.7"))
        if (script.language == "sh") user.install(script);
    auto path = "PATH=" + fs::path(ikigai()).parent_path().string() + ":/usr/bin:/bin";
    user.env.push_back(path);
    auto commands = commands_in("man/ikigai-tools.7", ".Sh DESCRIPTION", ".Sh DISCOVERY");
    CHECK(commands.size() == 3);
    for (auto& command : commands) {
        INFO(command);
        auto ran = run({.argv = {"/bin/sh", "-c", command}, .env = user.env});
        CHECK(ran.status == 0);
        CHECK(ran.out.find(command.find("discover") == command.npos ? "\"disks\":" : "full_disks") != std::string::npos);
    }
}

TEST_CASE("documents: the tools in shell and C work")
{
    try_scripts([](auto& script) { return script.language != "python"; });
}

TEST_CASE("documents: the tools in Python work")
{
    if (!User().has_python())
        return skip("there is no python3 here");
    try_scripts([](auto& script) { return script.language == "python"; });
}

TEST_CASE("documents: the conversation in the README happens as it stands there")
{
    Lines transcript;
    for (auto& block : blocks("README.md"))
        if (!block.empty() && block.front() == "$ ikigai chat") transcript = Lines(block.begin() + 1, block.end());
    REQUIRE(!transcript.empty());

    User user;
    Terminal terminal({ikigai(), "chat"}, environment_of(user));
    const std::string prompt = "❯ ";
    std::size_t prompts = 0;
    for (auto& line : transcript)
        if (line.starts_with(prompt)) {
            ++prompts;
            terminal.shown_when([&] { return count(terminal.shown(), prompt) == prompts; });
            terminal.type(line.substr(prompt.size()) + "\n");
        }
    CHECK(terminal.shown_when([] { return false; }) == joined(transcript));
    CHECK(terminal.status() == 0);
}

TEST_CASE("documents: ikigai.1 names the commands that exist")
{
    User user;
    auto synopsis = joined(between(page(), ".Sh SYNOPSIS", ".Sh DESCRIPTION"));
    auto described = joined(between(page(), ".Sh DESCRIPTION", ".Ss OPTIONS"));
    CHECK(all(synopsis, "\\.Cm ([a-z-]+)") == subcommands(user));
    CHECK(all(described, "\\.It Cm ([a-z-]+)") == subcommands(user));
    for (auto& name : subcommands(user)) CHECK(user.ikigai({name, "--help"}).status == 0);
}

TEST_CASE("documents: ikigai.1 names the options that exist")
{
    User user;
    CHECK(options_in_page(between(page(), ".Ss OPTIONS OF CHAT", ".Ss THE CONVERSATION")) == options_in_help(user.help("chat")));

    Names known{"--schema", "--man", "--file"};
    for (auto command : {"", "chat", "config", "discover", "doctor", "models", "run", "sandbox", "trust", "applets", "install-links", "sessions", "man", "completion"})
        known.merge(options_in_help(user.help(command)));
    known.merge(options_in_help(user.ikigai({"audit", "show", "--help"}).out));
    auto text = document("man/ikigai.1");
    auto named = options_in_page(page());
    for (auto& name : all(text, "Fl (-?[a-z][a-z-]*)")) named.insert("-" + name);
    CHECK(without(named, known) == Names{});
    CHECK(without(known, named) == Names{});
    CHECK(without(all(document("README.md"), "[^a-z-](--[a-z][a-z-]+)"), known) == Names{});
}

TEST_CASE("documents: ikigai.1 names the slash commands that exist")
{
    User user;
    auto said = user.ikigai({"chat", "--provider", "offline"}, "/help\n");
    CHECK(said.status == 0);
    CHECK(all(joined(page()), "\\.It Cm (/[a-z]+)") == all(said.out, "  (/[a-z]+)"));
}

TEST_CASE("documents: the stream has the lines that ikigai.1 shows")
{
    User user;
    auto pattern = R"re("type":"([a-z_]+)")re";
    Names shown = all(joined(between(page(), ".Sh OUTPUT FORMATS", ".Sh ENVIRONMENT")), pattern), seen;

    user.folder.write(".home/.ikigai/tools/glob", "#!/bin/sh\n[ \"$1\" ] && echo '{\"name\":\"glob\"}' && exit\necho '{\"_event\":{\"kind\":\"note\"}}'\n", 0755);
    seen.merge(all(user.ikigai({"chat", "--provider", "offline", "-p", "list", "--output-format", "stream-json"}).out, pattern));
    ModelServer server({refusal(429, "slowly", {"retry-after-ms: 1"}), stream_of({thinking("hm"), text("yes")}), refusal(400, "no")});
    for (int i = 0; i < 2; ++i)
        seen.merge(all(user.ikigai({"chat", "--base-url", server.base_url(), "--model", "m", "-p", "x", "--output-format", "stream-json"}).out, pattern));
    CHECK(seen == shown);
}

TEST_CASE("documents: the exit status of chat is what ikigai.1 says")
{
    User user;
    auto offline = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"chat", "--provider", "offline"});
        return user.ikigai(words).status;
    };
    CHECK(offline({"-p", "list"}) == 0);
    CHECK(user.ikigai({"chat", "--provider", "openai-chat", "--model", "m", "--base-url", "http://127.0.0.1:9", "-p", "x"}).status == 1);
    CHECK(user.ikigai({"chat", "--provider", "openai-chat", "-p", "x"}).status == 2);
    CHECK(user.ikigai({"chat", "-p", "x"}).status == 2);
    CHECK(offline({"--no-such-option"}) == 2);
    CHECK(offline({"-p", "list", "--max-turns", "1"}) == 3);
    CHECK(offline({"-p", "run sleep 60", "--timeout", "0.1"}) == 3);
    CHECK(offline({"-p", "run ls", "--approve", "ask"}) == 4);
    for (auto& [name, status] : std::map<std::string, std::string>{{"INT", "130"}, {"TERM", "143"}, {"HUP", "129"}}) {
        User other;
        auto ran = run({.argv = {"/bin/sh", "-c", ikigai() + " chat --provider offline -p 'run touch up; exec sleep 60' </dev/null >out & p=$!; "
                                                  "until [ -e up ]; do sleep 0.02; done; kill -" + name + " $p; wait $p 2>err; echo $?"},
                        .env = other.env});
        CHECK(ran.out == status + "\n");
    }
    CHECK(all(joined(between(page(), ".Sh EXIT STATUS", "Of\n")), "\\.It ([0-9]+ ?\\+? ?N?)\n") == Names{"0", "1", "2", "3", "4", "128 + N"});
}

TEST_CASE("documents: the pages name the variables that are read")
{
    auto source = source_text();
    auto text = document("man/ikigai.1"), tools = document("man/ikigai-tools.7");
    Names named;
    for (auto& line : all(joined(between(page(), ".Sh ENVIRONMENT", ".Sh FILES")), "\\.It Ev ([A-Z_ ,]+)"))
        named.merge(all(line, "([A-Z_]+)"));
    for (auto& name : named) {
        INFO(name);
        auto is_setting = std::ranges::any_of(setting_rows(), [&](auto& row) { return row.variable() == name; });
        CHECK((is_setting || source.find('"' + name + '"') != source.npos));
    }
    Names read = all(source, "(?:getenv|variable|in_home|envname)\\(\"([A-Z_]+)\"");
    read.merge(all(source, "_keys\\[\\] = \\{\"([A-Z_]+)\""));
    read.merge(all(User().help("chat"), "Env:([A-Z_]+)"));
    for (auto& name : without(read, {"PATH", "USER"})) {
        INFO(name);
        CHECK((named.contains(name) || tools.find("Ev " + name) != tools.npos));
    }
}

TEST_CASE("documents: ikigai.1 describes every setting, and what a provider, a price and a tool's limits are made of")
{
    Names settings, members;
    for (auto& row : setting_rows()) settings.insert(std::string(row.key.name));
    for (auto keys : {provider_keys(), price_keys(), tool_keys()})
        for (auto& key : keys) members.insert(std::string(key.name));
    CHECK(all(joined(between(page(), ".Ss Settings", ".Ss Providers")), "\\.It Va ([a-z_]+)") == settings);
    CHECK(all(joined(between(page(), ".Ss Providers", ".Ss Keys")), "\\.It Va ([a-z_]+)") == members);
}

TEST_CASE("documents: the configurations in the README and in ikigai.1 are read without a complaint")
{
    User user;
    std::size_t tried = 0;
    for (auto* source : {"README.md", "man/ikigai.1"})
        for (auto& block : blocks(source))
            if (!block.empty() && block.front().starts_with("{") && block.front().find("\"type\"") == std::string::npos && block.size() > 2 && block.back() == "}") {
                user.folder.write(".home/.config/ikigai/config.json", joined(block));
                auto ran = user.ikigai({"config", "--json"});
                INFO(joined(block) << ran.out);
                CHECK(ran.out.find(R"("warnings":[])") != std::string::npos);
                ++tried;
            }
    CHECK(tried == 2);
}

TEST_CASE("documents: a tool gets the variables that ikigai-tools names, and no secrets")
{
    User user;
    auto section = joined(between(lines_of(document("man/ikigai-tools.7")), ".Ss Environment", ".Sh ENVELOPES"));
    auto given = all(section.substr(section.find("Added are")), "Ev ([A-Z_]+)");
    CHECK(given.size() == 9);
    user.folder.write(".home/.ikigai/tools/told", "#!/bin/sh\n[ \"$1\" ] && echo '{\"name\":\"told\"}' && exit\n"
                                                 "printf '{\"variables\":\"%s\"}' \"$(env | sed 's/=.*//' | tr '\\n' ' ')\"\n", 0755);
    auto flat = std::regex_replace(section, std::regex("\n"), " ");
    auto contained = all(flat.substr(flat.find("contain"), flat.find("or end in") - flat.find("contain")), "([A-Z_]{5,})");
    auto last = all(flat.substr(flat.find("or end in"), flat.find("whatever") - flat.find("or end in")), "(_[A-Z]+)");
    CHECK(contained.size() == 8);
    CHECK(last.size() == 5);
    for (auto& word : contained) user.env.push_back("HIDDEN_" + word + "_X=1");
    for (auto& word : last) user.env.push_back("HIDDEN" + word + "=1");
    auto told = result(user, "told", "{}");
    auto names = all(std::string(told.text("variables")), "([A-Za-z_]+) ");
    CHECK(without(given, names) == Names{});
    for (auto& name : names) CHECK(!name.starts_with("HIDDEN"));
}

TEST_CASE("documents: ikigai-tools has the codes that the host reports")
{
    auto codes = joined(between(lines_of(document("src/base/result.h")), "// what the host reports", "// what the model"));
    auto envelopes = joined(between(lines_of(document("man/ikigai-tools.7")), ".Sh ENVELOPES", ".Sh EVENTS"));
    CHECK(all(envelopes, "\\.It Dv ([A-Z_]+)") == all(codes, "\"([A-Z_]+)\""));
}

namespace {

// The names of all test cases.
Names test_cases()
{
    Names out;
    for (auto& entry : fs::recursive_directory_iterator(root() + "/tests"))
        if (entry.path().extension() == ".cc") out.merge(all(document(fs::relative(entry.path(), root())), "TEST_CASE\\(\"([^\"]+)\""));
    return out;
}

bool is_test(const std::string& named)
{
    static const auto cases = test_cases();
    if (!named.ends_with("*"))
        return cases.contains(named);
    return std::ranges::any_of(cases, [&](auto& name) { return name.starts_with(named.substr(0, named.size() - 1)); });
}

}

TEST_CASE("documents: the figures and tests that the README points to are there")
{
    auto readme = document("README.md"), rows = document("bench/rows.cc");
    Names measured;
    for (auto& list : all(readme, "make bench ROWS=([a-z,]+)"))
        for (auto row : split(list, ',')) measured.insert(std::string(row));
    CHECK(measured.size() > 5);
    CHECK(without(measured, all(rows, "\\{\"([a-z]+)\", [a-z_]+\\}")) == Names{});

    auto table = joined(between(lines_of(readme), "## Made for servers", "## Build"));
    auto named = all(table, "`([a-z_]+: [^`]+)`");
    CHECK(named.size() > 5);
    for (auto& name : named) {
        INFO(name);
        CHECK(is_test(name));
    }
    CHECK(fs::exists(root() + "/" + *all(readme, "!\\[[^\\]]*\\]\\(([^)]+)\\)").begin()));
}

TEST_CASE("documents: each promise of ikigai-security names tests that there are")
{
    auto text = document("man/ikigai-security.7");
    auto named = all(text, "\\.It Li ([a-z_ ]+: .+)\n");
    CHECK(named.size() > 20);
    for (auto& name : named) {
        INFO(name);
        CHECK(is_test(name));
    }
}

TEST_CASE("documents: every built-in tool has its page")
{
    User user;
    auto described = joined(between(page(), ".It Ar applet", ".El"));
    auto also = joined(between(page(), ".Sh SEE ALSO", ".Sh"));
    CHECK(all(described, "\\.Cm ([a-z-]+)") == applets(user));
    for (auto& name : applets(user)) {
        INFO(name);
        auto file = std::string(std::getenv("IKIGAI_BUILD")) + "/man/ikigai-" + name + ".1";
        CHECK(fs::exists(file));
        CHECK(also.find(".Xr ikigai-" + name + " 1") != also.npos);
    }
}

TEST_CASE("documents: ikigai-hacking has every source file in its tree")
{
    Names drawn, there;
    std::string folder = "src/";
    for (auto& line : between(lines_of(document("man/ikigai-hacking.7")), "src/", "tests/")) {
        auto text = trim(line);
        auto names = split(text.substr(0, text.find("  ")), ' ');
        if (names[0].ends_with('/')) {
            folder = "src/" + std::string(names[0]);
            continue;
        }
        for (auto name : names) drawn.insert(folder + std::string(name.substr(0, name.rfind(".cc"))));
    }
    for (auto& entry : fs::recursive_directory_iterator(root() + "/src"))
        if (entry.is_regular_file()) {
            auto path = fs::relative(entry.path(), root());
            there.insert(path.extension() == ".def" ? path.string() : (path.parent_path() / path.stem()).string());
        }
    CHECK(without(there, drawn) == Names{});
    CHECK(without(drawn, there) == Names{});
}
