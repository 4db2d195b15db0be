// Trust in what a folder brings: what is shown, what a yes covers, and everything that ends it.
#include "trust.h"

#include "base/places.h"
#include "host.h"
#include "support/server.h"
#include "support/terminal.h"

#include <csignal>
#include <sys/wait.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;
const std::string tools_line = "The tools in .ikigai/tools are not used";

// A home, and a project beside it that is the current folder.
struct Scene {
    Home home;
    Folder project;

    Scene() { tool("mark"); }

    void tool(const std::string& name, const std::string& more = "") const
    {
        project.write(".ikigai/tools/" + name, "#!/bin/sh\ntouch ran\n" + more + "echo '{\"name\":\"" + name + "\",\"description\":\"d\"}'\n", 0755);
    }
    Ran ikigai(std::vector<std::string> words) const { return test::ikigai(home, std::move(words)); }

    // Trusts the project as it is, and tells whether its tool is there.
    void trust() const
    {
        auto ran = ikigai({"trust", "--yes"});
        INFO(ran.out << ran.err);
        REQUIRE(ran.status == 0);
        REQUIRE(offers_mark());
    }
    bool offers_mark() const { return ikigai({"discover"}).out.find("mark ") != std::string::npos; }
    std::string complaint() const { return ikigai({"discover"}).err; }

    std::vector<std::string> environment_of() const
    {
        return environment_with(home.env({"TERM=dumb", "IKIGAI_PROVIDER=offline"}));
    }
};

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// With one space between columns.
std::string squeezed(std::string text)
{
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
}

// `ikigai` as a user without rights.
Ran as_nobody(const Home& home, std::vector<std::string> words)
{
    words.insert(words.begin(), {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ikigai()});
    return run({.argv = std::move(words), .env = home.env()});
}

void give(const std::string& path, uid_t user)
{
    for (auto& entry : fs::recursive_directory_iterator(path)) REQUIRE(lchown(entry.path().c_str(), user, user) == 0);
    REQUIRE(lchown(path.c_str(), user, user) == 0);
}

}

TEST_CASE("trust: nothing of a project is used before it is trusted, anywhere; --trust is for one run")
{
    Scene scene;
    for (auto words : std::vector<std::vector<std::string>>{{"discover"}, {"run", "mark", "{}"}, {"chat", "-p", "help", "--provider", "offline"}, {"chat", "--provider", "offline"}}) {
        INFO(words[0]);
        CHECK(says(scene.ikigai(words).err, "ikigai: " + tools_line + " without --trust (see ikigai trust)\n"));
    }
    for (auto* word : {"config", "doctor"})
        CHECK(says(scene.ikigai({word}).out, tools_line + " without --trust"));
    CHECK_FALSE(scene.project.exists("ran"));
    auto once = scene.ikigai({"run", "mark", "{}", "--trust"});
    CHECK(once.status == 0);
    CHECK(once.err == "");
    CHECK_FALSE(scene.offers_mark());
    CHECK(scene.ikigai({"trust", "--list"}).out == "");
}

TEST_CASE("trust: what is shown, without a terminal nobody is asked, and what is remembered")
{
    Scene scene;
    scene.project.write(".ikigai/config.json", "{\n\"max_turns\": 5,\n\"system\": \"be \\u001b[2J bad\",\n\"base_url\": \"http://evil\"}");
    scene.project.write(".ikigai/tools/.hidden", "x", 0755);
    scene.project.write(".ikigai/tools/lib/helper", "x", 0755);
    scene.project.write(".ikigai/tools/a\nb\033[1m", "#!/bin/sh\n", 0755);
    scene.project.write("far", "#!/bin/sh\n", 0755);
    fs::create_symlink("../../far", scene.project / ".ikigai/tools/near");
    auto ran = scene.ikigai({"trust"});
    INFO(ran.out);
    CHECK(ran.status == 2);
    CHECK(ran.err == "ikigai: there is no terminal to ask at: --yes trusts it as it is\n");
    CHECK(ran.out.starts_with(scene.project.path + "/.ikigai  "));
    CHECK(says(ran.out, "would run:\n  .ikigai/tools/a b^[[1m "));
    auto digest = sh("sha256sum < .ikigai/tools/mark").out.substr(0, 12);
    CHECK(says(ran.out, "  .ikigai/tools/mark                   " + digest + "\n"));
    CHECK(says(ran.out, " -> " + scene.project / "far\n"));
    CHECK(says(ran.out, "would set:\n  system: \"be \\u001B[2J bad\"\n  max_turns: 5\n  (.ikigai/config.json:4: \"base_url\" is not for a project to set)\n"));
    CHECK(says(ran.out, "and has 2 other files\n"));
    CHECK(ran.out.find('\033') == std::string::npos);
    CHECK_FALSE(scene.project.exists("ran"));

    CHECK(scene.ikigai({"trust", "--yes"}).out.ends_with("Trusted: " + scene.project.path + "\n"));
    CHECK(scene.offers_mark());
    CHECK(says(squeezed(scene.ikigai({"config"}).out), "max_turns 5 (.ikigai/config.json:2)"));
    CHECK(scene.ikigai({"trust"}).out.ends_with("It is trusted.\n"));
    struct stat info {};
    REQUIRE(stat((scene.home / ".config/ikigai/trusted.json").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
    CHECK(says(scene.ikigai({"trust", "--list"}).out, "  " + scene.project.path + "\n"));
    CHECK(scene.ikigai({"trust", "--remove", scene.project.path}).out == "No longer trusted: " + scene.project.path + "\n");
    CHECK_FALSE(scene.offers_mark());
    auto again = scene.ikigai({"trust", "--remove"});
    CHECK(again.status == 1);
    CHECK(again.err == "ikigai: " + scene.project.path + " is not trusted\n");
    CHECK(scene.ikigai({"trust", "--remove", "--yes"}).status == 2);
}

TEST_CASE("trust: whatever changes in .ikigai ends it")
{
    Scene scene;
    auto& project = scene.project;
    project.write(".ikigai/config.json", R"({"max_turns":5})");
    project.write("one", "#!/bin/sh\necho '{\"name\":\"one\"}'\n", 0755);
    fs::copy_file("one", "two");
    fs::create_symlink("../../one", ".ikigai/tools/link");
    fs::create_directories("shelf");
    project.write("shelf/part", "1");
    fs::create_directory_symlink("../shelf", ".ikigai/shelf");
    struct Change { const char* what; std::function<void()> make; };
    const Change changes[] = {
        {"content", [&] { scene.tool("mark", "true\n"); }},
        {"content of the same size", [&] { scene.tool("mark", "echo\n"); scene.trust(); scene.tool("mark", "ohce\n"); }},
        {"mode", [&] { fs::permissions(".ikigai/tools/mark", fs::perms(0700)); }},
        {"mode of the folder", [&] { fs::permissions(".ikigai/tools", fs::perms(0700)); }},
        {"a file more", [&] { project.write(".ikigai/tools/more", "x"); }},
        {"a file less", [&] { fs::remove(".ikigai/tools/more"); }},
        {"an empty folder more", [&] { fs::create_directory(".ikigai/empty"); }},
        {"another name", [&] { fs::rename(".ikigai/empty", ".ikigai/void"); }},
        {"the settings", [&] { project.write(".ikigai/config.json", R"({"max_turns":6})"); }},
        {"a link, though to the same content", [&] { fs::remove(".ikigai/tools/link"); fs::create_symlink("../../two", ".ikigai/tools/link"); }},
        {"what a link leads to", [&] { project.write("two", "#!/bin/sh\n", 0755); }},
        {"what is in a linked folder", [&] { project.write("shelf/part", "2"); }},
    };
    for (auto& change : changes) {
        INFO(change.what);
        scene.trust();
        change.make();
        CHECK_FALSE(scene.offers_mark());
        CHECK(says(scene.complaint(), "have changed since they were trusted (see ikigai trust)"));
        CHECK(says(squeezed(scene.ikigai({"config"}).out), "max_turns 50 "));
    }
    scene.trust();
    project.write("other", "x");   // outside
    CHECK(scene.offers_mark());
}

TEST_CASE("trust: is for one place, however it is reached")
{
    Scene scene;
    Folder away;
    fs::create_directory_symlink(scene.project.path, away / "link");
    fs::create_directories(scene.project / "sub");
    CHECK(scene.ikigai({"trust", "--yes", "link/sub/.."}).out.ends_with("Trusted: " + scene.project.path + "\n"));
    fs::current_path(away / "link");
    CHECK(scene.offers_mark());
    fs::current_path(scene.project.path);
    CHECK(scene.offers_mark());
    fs::copy(scene.project / ".ikigai", away / ".ikigai", fs::copy_options::recursive);
    fs::current_path(away.path);
    CHECK_FALSE(scene.offers_mark());
    CHECK(says(scene.complaint(), tools_line + " without --trust (see"));
    CHECK(scene.ikigai({"trust", "sub"}).err == "ikigai: sub: No such file or directory\n");
    CHECK(scene.ikigai({"trust", scene.project / "sub"}).err == "ikigai: there is nothing to trust in " + scene.project / "sub: no tools and no settings of a project\n");
    CHECK(scene.ikigai({"trust", scene.project / "sub"}).status == 2);
    fs::rename(".ikigai", "moved");
    fs::create_directory_symlink("moved", ".ikigai");
    scene.trust();
    fs::copy("moved", "other", fs::copy_options::recursive);
    fs::remove(".ikigai");
    fs::create_directory_symlink("other", ".ikigai");
    CHECK_FALSE(scene.offers_mark());
    CHECK(fs::current_path() == away.path);
}

TEST_CASE("trust: one's own ~/.ikigai is no project, through a link neither")
{
    Home home;
    home.tool("mine", "#!/bin/sh\necho '{\"name\":\"mine\"}'\n");
    fs::create_directories(home / "project");
    auto mine = [&] {
        auto ran = ikigai(home, {"discover", "--json", "--trust"}, "", {"IKIGAI_LIBEXEC_DIR=/no/such"});
        return ran.err + std::string(parse_json(ran.out)->find("tools")->as<Json::Array>()->at(0).text("origin"));
    };
    CHECK(mine() == "user");
    fs::current_path(home / "project");
    fs::create_directory_symlink("../.ikigai", ".ikigai");
    CHECK(mine() == "user");
    CHECK(ikigai(home, {"trust"}).status == 2);
}

TEST_CASE("trust: what cannot be trusted, even with --trust, and never a hang")
{
    Scene scene;
    scene.trust();
    auto refused = [&](const std::string& why) {
        auto ran = scene.ikigai({"run", "mark", "{}", "--trust"});
        INFO(ran.err);
        CHECK(ran.err == "ikigai: " + tools_line + ", whoever trusts them: " + why + "\n");
        CHECK(scene.ikigai({"trust", "--yes"}).status == 1);
        CHECK_FALSE(scene.offers_mark());
    };
    auto with = [&](const std::string& name, const std::function<void(const std::string&)>& make, const std::string& why) {
        INFO(name);
        make(".ikigai/" + name);
        refused(why);
        fs::remove_all(".ikigai/" + name);
        CHECK(scene.ikigai({"trust", "--yes"}).status == 0);
    };
    with("fifo", [](auto& path) { REQUIRE(mkfifo(path.c_str(), 0644) == 0); }, ".ikigai/fifo is neither a file nor a folder");
    with("device", [](auto& path) { fs::create_symlink("/dev/zero", path); }, ".ikigai/device is neither a file nor a folder");
    with("dangling", [](auto& path) { fs::create_symlink("nothing", path); }, ".ikigai/dangling leads to nothing");
    with("loop", [](auto& path) { fs::create_symlink("loop", path); }, "cannot read .ikigai/loop: Too many levels of symbolic links");
    with("large", [&](auto& path) { scene.project.write(path, ""); fs::resize_file(path, (64 << 20) + 1); }, "more than 64 MB are in it");
    with("many", [&](auto& path) { for (int i = 0; i < 1000; ++i) scene.project.write(path + "/" + std::to_string(i), ""); }, "more than 1000 files are in it");
    with("self", [](auto& path) { fs::create_directory_symlink(".", path); }, ".ikigai/self" + [] { std::string out; for (int i = 0; i < 16; ++i) out += "/self"; return out; }() + " is more than 16 folders deep");
    with("open", [&](auto& path) { scene.project.write(path, "", 0646); }, ".ikigai/open is writable by others");
    with("shared", [](auto& path) { fs::create_directory(path); REQUIRE(chmod(path.c_str(), 01777) == 0); }, ".ikigai/shared is writable by others");
    with("far", [&](auto& path) { scene.project.write("open/x", "x"); REQUIRE(chmod("open", 0777) == 0); fs::create_symlink("../open/x", path); }, scene.project / "open is writable by others");
    REQUIRE(mkfifo(".ikigai/config.json", 0644) == 0);
    CHECK(says(scene.complaint(), "whoever trusts them: .ikigai/config.json is neither a file nor a folder\n"));
    fs::remove(".ikigai/config.json");
    REQUIRE(chmod(scene.project.path.c_str(), 0777) == 0);
    refused(scene.project.path + " is writable by others");
    REQUIRE(chmod(scene.project.path.c_str(), 0755) == 0);
    scene.trust();
    if (!is_root())
        return;
    REQUIRE(chown(".ikigai/tools/mark", nobody, nobody) == 0);
    refused(".ikigai/tools/mark belongs to nobody (65534)");
}

TEST_CASE("trust: as a user without rights")
{
    if (!is_root())
        return skip("every other case is run as such a user");
    Scene scene;
    give(scene.home.path, nobody);
    auto project = scene.project.path;
    CHECK(as_nobody(scene.home, {"trust", "--yes"}).status == 0);   // it is root's: that is as good as theirs
    give(project, nobody);
    auto ran = as_nobody(scene.home, {"trust", "--yes"});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(as_nobody(scene.home, {"run", "mark", "{}"}).status == 0);
    scene.project.write(".ikigai/secret", "x", 0600);   // of root's, not to be read
    CHECK(says(as_nobody(scene.home, {"run", "mark", "{}"}).err, "whoever trusts them: cannot read .ikigai/secret: Permission denied\n"));
    fs::remove(".ikigai/secret");
    REQUIRE(chown(".ikigai/tools/mark", 54321, 54321) == 0);
    CHECK(says(as_nobody(scene.home, {"run", "mark", "{}", "--trust"}).err, ".ikigai/tools/mark belongs to 54321\n"));
    // root in their project: theirs are not root's
    CHECK(says(scene.ikigai({"discover", "--trust"}).err, "whoever trusts them: " + project + " belongs to nobody (65534)\n"));
}

TEST_CASE("trust: many at once lose nothing")
{
    Home home;
    constexpr int many = 24;
    for (int i = 0; i < many; ++i)
        home.write("p" + std::to_string(i) + "/.ikigai/config.json", "{}");
    std::vector<Child> children;
    auto env = environment();
    std::erase_if(env, [](auto& entry) { return entry.starts_with("HOME=") || entry.starts_with("XDG_"); });
    env.push_back("HOME=" + home.path);
    for (int i = 0; i < many; ++i) {
        auto child = Child::start({.argv = {ikigai(), "trust", "--yes", "p" + std::to_string(i)}, .env = env, .no_stdin = true, .limit = std::chrono::seconds(30)});
        REQUIRE(child);
        children.push_back(std::move(*child));
    }
    for (auto& child : children) {
        while (!child.exit) {
            Poll poll;
            child.add_to(poll);
            poll.wait();
            child.advance(poll);
        }
        INFO(child.err);
        CHECK(child.exit->status() == 0);
    }
    auto listed = ikigai(home, {"trust", "--list"}).out;
    CHECK(std::count(listed.begin(), listed.end(), '\n') == many);
    CHECK(sh("ls -A .config/ikigai").out == ".trusted.lock\ntrusted.json\n");
}

TEST_CASE("trust: a broken list is said, not written over")
{
    Scene scene;
    const std::string list = ".config/ikigai/trusted.json";
    for (std::string text : {"{\"projects\":{\n", "[]", R"({"projects":{"/x":{}}})"}) {
        scene.home.write(list, text, 0600);
        auto ran = scene.ikigai({"trust", "--yes"});
        CHECK(ran.status == 1);
        CHECK(says(ran.err, "ikigai: " + scene.home / list + ":"));
        CHECK(scene.home.read(list) == text);
        CHECK(says(scene.complaint(), tools_line + " without --trust: " + scene.home / list + ":"));
        CHECK(scene.ikigai({"trust", "--list"}).status == 1);
    }
    scene.home.write(list, R"({"projects":{}})", 0666);
    CHECK(says(scene.ikigai({"trust", "--yes"}).err, "others can write to " + scene.home / list));
    fs::remove(scene.home / list);
    REQUIRE(chmod((scene.home / ".config").c_str(), 0777) == 0);
    CHECK(says(scene.ikigai({"trust", "--yes"}).err, scene.home / ".config is writable by others"));
}

TEST_CASE("trust: is looked at again before each start")
{
    Scene scene;
    auto project = ProjectTrust::here(true);
    CHECK_FALSE(project.objection());
    scene.tool("mark");   // written anew, the same
    CHECK_FALSE(project.objection());
    CHECK(ProjectTrust::here().objection() == "its folder is not trusted");
    scene.project.write(".ikigai/x", "");
    CHECK(project.objection() == "its folder changed since it was trusted");
    auto early = project;
    CHECK(early.withdraw_if_changed());
    CHECK_FALSE(early.trusted());
    CHECK(says(early.line(), "they have changed since they were trusted"));
    fs::remove(".ikigai/x");
    CHECK_FALSE(project.objection());
    REQUIRE(chmod(".ikigai", 0777) == 0);
    CHECK(project.objection() == scene.project / ".ikigai is writable by others");
    REQUIRE(chmod(".ikigai", 0755) == 0);

    // through the host: a tool that changes itself runs once
    scene.tool("mark", "[ \"$1\" ] || echo true >> .ikigai/tools/mark\n");
    scene.trust();
    ModelServer server({stream_of({call("c1", "mark", "{}")}), stream_of({call("c2", "mark", "{}"), call("c3", "bash", R"({"command":"echo ok"})", 1)}), stream_of({text("done")})});
    auto ran = ikigai(scene.home, {"chat", "-p", "go"}, "", {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    auto sent = server.requests().at(2).body;
    CHECK(says(sent, R"({\"tool_success\":false,\"error\":\"Tool 'mark': its folder changed since it was trusted\",\"error_code\":\"TOOL_DENIED\"})"));
    CHECK(says(sent, R"({\"tool_success\":true,\"result\":{\"output\":\"ok\",\"exit_code\":0}})"));
    CHECK(says(server.requests().at(1).body, R"({\"tool_success\":true,\"result\":{\"name\":\"mark\")"));
}

TEST_CASE("trust: an unchanged folder that has settled costs a look, not a reading")
{
    Scene scene;
    auto snapshot = Snapshot::of(".ikigai");
    REQUIRE(snapshot);
    CHECK_FALSE(snapshot->seems_unchanged());   // it changed just now: it may change unseen
    CHECK(eventually([&] { snapshot = Snapshot::of(".ikigai"); return snapshot && snapshot->seems_unchanged(); }));
    auto digest = snapshot->digest();
    REQUIRE(chmod(".ikigai/tools/mark", 0750) == 0);
    CHECK_FALSE(snapshot->seems_unchanged());
    CHECK(Snapshot::of(".ikigai")->digest() != digest);
}

TEST_CASE("trust: the question before a conversation, once, and again when something has changed")
{
    Scene scene;
    auto talk = [&](const std::string& answer, const std::string& expected) {
        Terminal terminal({ikigai(), "chat"}, scene.environment_of());
        auto shown = [&](const std::string& part) { return says(terminal.shown_when([&] { return says(terminal.shown(), part); }), part); };
        if (!answer.empty()) {
            CHECK(shown("[y/N] "));
            CHECK(says(terminal.shown(), "would run:\n  .ikigai/tools/mark "));
            CHECK(says(terminal.shown(), expected));
            CHECK_FALSE(fs::exists("ran"));
            terminal.type(answer + "\n");
        }
        terminal.type("/tool\n");
        CHECK(shown("Available tools:"));
        CHECK(shown("web_search_google"));
        terminal.type("/quit\n");
        CHECK(terminal.status() == 0);
        CHECK(says(terminal.shown(), "[y/N]") == !answer.empty());
        return says(terminal.shown(), "  mark ");
    };
    for (auto* no : {"n", " ", "maybe"}) {
        CHECK_FALSE(talk(no, "Trust it? "));
        CHECK_FALSE(fs::exists("ran"));
    }
    CHECK(talk("y", "Trust it? "));
    fs::remove("ran");
    CHECK(talk("", ""));
    fs::remove("ran");
    scene.tool("other");
    CHECK(talk("yes", "It has changed since it was trusted. Trust it as it is now? "));
    CHECK(scene.offers_mark());
}

TEST_CASE("trust: /refresh looks at it again")
{
    Scene scene;
    scene.trust();
    Terminal terminal({ikigai(), "chat"}, scene.environment_of());
    auto shown = [&](const std::string& part) { return says(terminal.shown_when([&] { return says(terminal.shown(), part); }), part); };
    terminal.type("/tool mark\n");
    CHECK(shown("mark - d"));
    scene.tool("other");
    terminal.type("/refresh\n");
    CHECK(shown("have changed since they were trusted (see ikigai trust)"));
    terminal.type("/tool mark\n");
    CHECK(shown("Tool 'mark' not found"));
    scene.trust();
    terminal.type("/refresh\n/tool other\n");
    CHECK(shown("other - d"));
    terminal.type("/quit\n");
    CHECK(terminal.status() == 0);
}

TEST_CASE("trust: ikigai trust at a terminal")
{
    Scene scene;
    auto ask = [&](const std::string& answer) {
        Terminal terminal({ikigai(), "trust"}, scene.environment_of(), "y\n");   // typed ahead: for something else
        terminal.shown_when([&] { return says(terminal.shown(), "Trust it? [y/N] "); });
        terminal.type(answer + "\n");
        auto status = terminal.status();
        terminal.shown_when([&] { return says(terminal.shown(), "rusted: "); });
        return std::pair(status, terminal.shown());
    };
    auto [no, said_no] = ask("n");
    CHECK(no == 1);
    CHECK(says(said_no, "ikigai: not trusted: " + scene.project.path));
    CHECK_FALSE(scene.offers_mark());
    auto [yes, said_yes] = ask("Y");
    CHECK(yes == 0);
    CHECK(says(said_yes, "Trusted: " + scene.project.path));
    CHECK(scene.offers_mark());
}
