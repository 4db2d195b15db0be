// A whole conversation in a real tmux: what stands on the screen, and what is left of it.
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace ik;
using namespace ik::test;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string quoted(const std::string& text)
{
    std::string out = "'";
    for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

// A tmux of the test's own, with a shell in it that is about to run ikigai.
class Tmux {
public:
    Tmux(const Home& home, std::vector<std::string> env, int columns = 60, int rows = 20) : socket_(home / "tmux")
    {
        std::string variables = "PS1='$ ' LC_ALL=C.UTF-8 ";
        for (auto& entry : home.env(std::move(env)))
            if (auto end = entry.find('='); end != entry.npos) variables += entry.substr(0, end) + "=" + quoted(entry.substr(end + 1)) + " ";
        tmux("-f /dev/null new-session -d -x " + std::to_string(columns) + " -y " + std::to_string(rows) + " " + quoted("exec env " + variables + "bash --norc --noprofile"));
        REQUIRE(shows("$"));
    }
    Tmux(const Tmux&) = delete;
    ~Tmux() { tmux("kill-server"); }

    void type(const std::string& text) { tmux("send-keys -l " + quoted(text)); }
    void key(const std::string& name) { tmux("send-keys " + name); }
    void enter(const std::string& text) { type(text), key("Enter"); }
    void resize(int columns, int rows) { tmux("resize-window -x " + std::to_string(columns) + " -y " + std::to_string(rows)); }

    std::string screen() const { return tmux("capture-pane -p"); }
    std::string all() const { return tmux("capture-pane -p -J -S -"); }   // with the scrollback, wrapped lines joined

    bool shows(const std::string& part) const
    {
        bool there = eventually([&] { return holds(screen(), part); });
        INFO("waiting for " << part << " on\n" << screen());
        CHECK(there);
        return there;
    }

private:
    std::string tmux(const std::string& words) const { return sh("tmux -u -S " + quoted(socket_) + " " + words + " 2>&1").out; }
    std::string socket_;
};

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t out = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
    return out;
}

Reply call_of(const std::string& command) { return stream_of({call("c1", "bash", object({{"command", command}}).dump())}); }

struct Scene {
    explicit Scene(std::vector<Reply> replies) : server(std::move(replies)), tmux(home, {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"}) {}

    void start(const std::string& options = "")
    {
        tmux.enter(ikigai() + " chat " + options);
        tmux.shows("❯");
    }

    Home home;
    ModelServer server;
    Tmux tmux;
};

}

TEST_CASE("tmux: a conversation with a tool, a table and code, and the shell after it")
{
    Scene scene({call_of("echo found"), stream_of({text("Two **words** 👩‍💻 漢字\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls -la\n```\n"), text("\nDone.")})});
    scene.start();
    scene.tmux.enter("what is there?");
    scene.tmux.shows("Done.");
    auto text = scene.tmux.all();
    INFO(text);
    CHECK(holds(text, "❯ what is there?\n→ bash: command=\"echo found\"\n← found\n● Two words 👩‍💻 漢字\n"));
    CHECK(holds(text, "a │ b\n──┼──\n1 │ 2\n"));
    CHECK(holds(text, "```sh\nls -la\n```\n"));
    scene.tmux.key("C-d");
    scene.tmux.shows("$");
    scene.tmux.enter("stty -a | grep -o ' icanon'; echo back");
    scene.tmux.shows("icanon\nback");
}

TEST_CASE("tmux: a question is answered by a key, once")
{
    Scene scene({call_of("touch made"), stream_of({text("Done.")})});
    scene.start("--approve ask");
    scene.tmux.enter("go");
    scene.tmux.shows("y once");
    CHECK(holds(scene.tmux.screen(), "touch made"));
    CHECK_FALSE(scene.home.exists("made"));
    scene.tmux.type("y");
    scene.tmux.shows("● Done.");
    CHECK(scene.home.exists("made"));
    CHECK_FALSE(holds(scene.tmux.all(), "y once"));   // a question leaves nothing behind
}

TEST_CASE("tmux: Esc stops the tool and keeps what was said; what was typed meanwhile is asked then")
{
    Scene scene({call_of("touch started; sleep 100"), stream_of({text("Second.")})});
    scene.start();
    scene.tmux.enter("go");
    REQUIRE(eventually([&] { return scene.home.exists("started"); }));
    scene.tmux.shows("Esc to stop");
    scene.tmux.enter("and then");
    scene.tmux.shows("› and then");
    scene.tmux.key("Escape");
    scene.tmux.shows("● Second.");
    auto text = scene.tmux.all();
    INFO(text);
    CHECK(count(text, "✗ cancelled") == 1);
    CHECK(count(text, "❯ and then") == 1);
    CHECK(eventually([&] { return !holds(scene.tmux.screen(), "Esc to stop"); }));   // a moment later
}

TEST_CASE("tmux: Tab completes the name of a model that the service has")
{
    Scene scene({});
    scene.server.beyond([](const Request& request) {
        return request.path == "/v1/models" ? Reply{.pieces = {R"({"data":[{"id":"small-one"},{"id":"large-one"},{"id":"large-two"}]})"}} : Reply{.status = 404};
    });
    scene.start();
    scene.tmux.type("/model la");
    scene.tmux.key("Tab");
    scene.tmux.shows("❯ /model large-");
    scene.tmux.shows("large-two");
    scene.tmux.type("t");
    scene.tmux.key("Tab");
    scene.tmux.shows("❯ /model large-two");
    scene.tmux.key("Enter");
    scene.tmux.shows("Model: large-two");
}

TEST_CASE("tmux: resizing while it streams loses nothing, and says nothing twice")
{
    auto reply = stream_of({text("Line one.\n\n"), text("Line two is a longer one that wraps on a narrow screen.\n\n"), text("Line three.\n\n"), text("The end.")});
    reply.hold_before = 2;
    Scene scene({reply});
    scene.start();
    scene.tmux.enter("go");
    scene.tmux.shows("Line two");
    scene.tmux.resize(30, 12);
    scene.tmux.resize(70, 15);
    scene.server.go_on();
    scene.tmux.shows("The end.");
    auto text = scene.tmux.all();
    INFO(text);
    for (auto* line : {"Line one.", "Line three.", "The end."}) CHECK(count(text, line) == 1);
}

TEST_CASE("tmux: Ctrl+Z and fg; Ctrl+C twice")
{
    Scene scene({stream_of({text("After.")})});
    scene.start();
    scene.tmux.key("C-z");
    scene.tmux.shows("Stopped");
    scene.tmux.enter("echo in the shell");
    scene.tmux.shows("in the shell\n$");
    scene.tmux.enter("fg");
    scene.tmux.shows("chat\n❯");
    scene.tmux.enter("go");
    scene.tmux.shows("● After.");
    scene.tmux.key("C-c");
    scene.tmux.shows("Ctrl+C once more");
    scene.tmux.key("C-c");
    scene.tmux.enter("echo status $?");
    scene.tmux.shows("status 0");
}

TEST_CASE("tmux: kill -9 of the conversation leaves a usable terminal and no tool")
{
    Scene scene({call_of("echo $$ > pid; sleep 100")});
    scene.start();
    scene.tmux.enter("go");
    REQUIRE(eventually([&] { return scene.home.exists("pid") && !scene.home.read("pid").empty(); }));
    auto tool = static_cast<pid_t>(std::stoi(scene.home.read("pid")));
    scene.tmux.shows("Esc to stop");
    // The inner process is the one whose child the applet is.
    auto inner = sh("ps -o ppid= -p $(ps -o ppid= -p " + std::to_string(tool) + ")").out;
    REQUIRE(kill(static_cast<pid_t>(std::stoi(inner)), SIGKILL) == 0);
    REQUIRE(eventually([&] { return !runs(tool); }));
    scene.tmux.enter("stty -a | grep -o ' icanon'; echo back");
    scene.tmux.shows("icanon\nback");
}
