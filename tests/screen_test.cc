// The conversation as a person at a terminal sees it: the screen's bytes go through a terminal emulator, and keys come
// from the other end of a pty.
#include "screen.h"

#include "support/screen.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

using namespace ik;
using namespace std::chrono_literals;
using ik::test::eventually;
using Did = ik::Screen::Did;

namespace {

struct Sized { int columns = 60, rows = 16; };

// A terminal with a screen of ours on it.
struct Stage {
    explicit Stage(ik::Screen::Options options = {}, Sized size = {}) : seen(size.columns, size.rows)
    {
        int m, s;
        winsize window{static_cast<unsigned short>(size.rows), static_cast<unsigned short>(size.columns), 0, 0};
        REQUIRE(openpty(&m, &s, nullptr, nullptr, &window) == 0);
        master = Fd(m);
        slave = Fd(s);
        make_nonblocking(master);
        options.in = options.out = slave.get();
        if (options.terminal.term.empty()) options.terminal.term = "xterm-256color";
        screen.emplace(std::move(options));
        turn();
    }

    void look()
    {
        char buffer[65536];
        for (std::ptrdiff_t n; (n = read_some(master.get(), buffer, sizeof buffer)) > 0;) {
            bytes.append(buffer, static_cast<std::size_t>(n));
            seen.feed({buffer, static_cast<std::size_t>(n)});
        }
        if (auto replies = seen.replies(); !replies.empty()) write_all(master.get(), replies);
    }

    // One turn of a loop that waits for nothing else.
    void turn()
    {
        Poll poll;
        screen->add_to(poll);
        poll.until(Clock::now() + 20ms);
        poll.wait();
        screen->advance(poll);
        while (auto did = screen->next()) dids.push_back(std::move(*did));
        look();
    }

    bool until(auto claim)
    {
        return eventually([&] { return claim() || (turn(), claim()); });
    }

    void type(const std::string& keys) { REQUIRE(write_all(master.get(), keys)); }

    std::string text() const
    {
        std::string out;
        for (auto& row : seen.everything()) out += row + "\n";
        return out;
    }
    bool shows(std::string_view words) const { return text().find(words) != std::string::npos; }
    bool shown(std::string_view words) { return until([&] { return shows(words); }); }
    bool gone(std::string_view words) { return until([&] { return !shows(words); }); }

    // The next thing of that kind that the person did.
    std::optional<Did> did(Did::Kind kind)
    {
        std::optional<Did> out;
        until([&] {
            while (!dids.empty() && !out) {
                if (dids.front().kind == kind) out = dids.front();
                dids.erase(dids.begin());
            }
            return out.has_value();
        });
        return out;
    }

    // All that is to be shown is.
    void settle()
    {
        for (bool quiet = false; !quiet;) {
            auto before = bytes.size();
            for (int i = 0; i < 3; ++i) turn();
            quiet = bytes.size() == before;
        }
    }

    std::string row_of_cursor() const { return seen.row(seen.cursor_row()); }

    Fd master, slave;
    test::Screen seen;
    std::optional<ik::Screen> screen;
    std::vector<Did> dids;
    std::string bytes;
};

ToolCall bash(const std::string& command) { return {"1", "bash", object({{"command", command}})}; }

Json output(const std::string& text) { return object({{"tool_success", true}, {"result", object({{"output", text}})}}); }

Question question(std::string always = "")
{
    return {.preview = {.subject = "bash", .lines = {"rm -rf build"}, .hunks = {}, .note = ""}, .reason = "it removes files", .always = std::move(always)};
}

std::string colours_of(const std::string& bytes)   // the sequences that colour
{
    std::string out;
    for (auto at = bytes.find("\x1b["); at != std::string::npos; at = bytes.find("\x1b[", at + 1)) {
        auto end = bytes.find_first_not_of("0123456789;", at + 2);
        if (end != std::string::npos && bytes[end] == 'm') out += bytes.substr(at + 1, end - at) + " ";
    }
    return out;
}

}

TEST_CASE("screen: a prompt at once, and what is typed is said")
{
    Stage stage;
    CHECK(stage.shown("❯"));
    CHECK(stage.seen.cursor_visible());
    stage.type("what is here?\r");
    auto did = stage.did(Did::said);
    REQUIRE(did);
    CHECK(did->text == "what is here?");
    stage.screen->said(did->text);
    stage.settle();
    CHECK(stage.text() == "❯ what is here?\n❯\n");
    CHECK(stage.seen.title().empty());
}

TEST_CASE("screen: a whole turn as a person sees it")
{
    Stage stage({}, {60, 20});
    stage.screen->said("look");
    stage.screen->event(ModelSaid{"I **loo"});
    CHECK(stage.shown("● I **loo"));
    stage.screen->event(ModelSaid{"k**.\n\n- one\n- two\n"});
    CHECK(stage.shown("● I look."));
    CHECK(stage.screen->spoke());
    stage.screen->event(ModelDone{"tool_use"});
    stage.screen->call(bash("ls -la"));
    stage.screen->result(bash("ls -la"), output("total 24\n\x1b[31mred\x1b[0m\nthird\nfourth\n"), 12ms);
    stage.screen->notice(object({{"kind", "config_required"}, {"content", "Configuration Required"}}));
    stage.screen->event(ModelSaid{"Done."});
    stage.screen->event(ModelDone{"end_turn"});
    stage.screen->end({"end_turn", "", ""});
    stage.settle();
    CHECK(stage.text() == "❯ look\n● I look.\n\n- one\n- two\n→ bash: command=\"ls -la\"\n← total 24\n  red\n  third …\n⚠ Configuration Required\n● Done.\n\n❯\n");
    CHECK(stage.seen.cell(0, 2).bold);                     // what was said
    CHECK(stage.seen.cell(1, 4).bold);                     // **look**
    CHECK(stage.seen.cell(5, 0).colour == 242);
    CHECK(stage.seen.cell(7, 2).colour == 1);              // the tool's own red
    CHECK(stage.seen.cell(9, 0).colour == 179);
    CHECK(stage.screen->spoke() == false);
}

TEST_CASE("screen: finished lines are not touched again, and an unchanged frame is not sent")
{
    Stage stage({}, {40, 8});
    for (int i = 0; i < 30; ++i) stage.screen->say("line " + std::to_string(i) + "\n");
    stage.settle();
    stage.seen.watch();
    auto before = stage.bytes.size();
    stage.screen->status({});
    stage.screen->queue({});
    stage.screen->event(ModelThought{"hm"});
    stage.settle();
    CHECK(stage.bytes.size() == before);
    stage.type("x");
    CHECK(stage.shown("❯ x"));
    CHECK(stage.seen.touched() == 30);
    stage.screen->event(ModelSaid{"text"});
    CHECK(stage.shown("● text"));
    CHECK(stage.seen.touched() == 30);
    for (int i = 0; i < 30; ++i) CHECK(stage.shows("line " + std::to_string(i) + "\n"));
}

TEST_CASE("screen: nothing wakes it when nothing goes on, and once a second does when something does")
{
    Stage stage;
    stage.settle();
    auto waits = [&](milliseconds limit) {
        Poll poll;
        stage.screen->add_to(poll);
        poll.until(Clock::now() + limit);
        auto begin = Clock::now();
        poll.wait();
        auto took = Clock::now() - begin;
        stage.screen->advance(poll);
        stage.look();
        return took >= limit;
    };
    CHECK(waits(1500ms));
    stage.screen->status({{.what = "bash: make test", .since = Clock::now() - 12s}}, Figures{{12'345, 340, 0}, 0.5});
    CHECK(stage.shown("bash: make test · 12 s · Esc to stop"));
    CHECK(stage.shows("12.3k in, 340"));
    stage.settle();
    CHECK_FALSE(waits(5000ms));
    CHECK(stage.shown("bash: make test · 13 s"));
    stage.screen->status({});
    CHECK(stage.gone("make test"));
    stage.settle();
    CHECK(waits(1500ms));
}

TEST_CASE("screen: what runs: its limit, pauses, several at once, what the model does")
{
    Stage stage({}, {80, 16});
    auto now = Clock::now();
    stage.screen->status({{.what = "bash: sleep", .since = now - 110s, .limit = 120s}, {.what = "grep: x", .since = now - 3700s}, {.what = "asking again", .until = now + 4500ms}});
    CHECK(stage.shown("bash: sleep · 1 min 50 s of 2 min 0 s · Esc to stop"));
    CHECK(stage.shows("grep: x · 1 h 1 min\n"));
    CHECK(stage.shown("asking again · in 4 s"));
    stage.screen->status({{.what = "", .since = now}});
    CHECK(stage.shown("waiting for the model · "));
    stage.screen->event(ModelThought{"Hm, "});
    CHECK(stage.shown("thinking… · "));
    stage.screen->event(ModelSaid{"Yes."});
    CHECK(stage.shown("answering · "));
}

TEST_CASE("screen: keys that are not text")
{
    Stage stage;
    stage.type("\x1b");
    CHECK(stage.did(Did::stop));
    stage.type("\x14");
    CHECK(stage.did(Did::background));
    stage.type("half\x03");
    CHECK(stage.gone("half"));
    stage.type("\x03");
    CHECK(stage.did(Did::interrupt));
    CHECK(stage.shown("Ctrl+C once more"));
    stage.type("a");
    CHECK(stage.gone("Ctrl+C once more"));
    stage.type("\x7f\x03");
    CHECK(stage.did(Did::interrupt));
    stage.type("\x03");
    CHECK(stage.did(Did::quit));
    stage.type("\x04");
    CHECK(stage.did(Did::quit));
}

TEST_CASE("screen: a question is answered by a key")
{
    struct Case { const char* keys; char answer; const char* text; };
    for (auto& [keys, answer, text] : {Case{"y", 'y', ""}, {"S", 's', ""}, {"a", 'a', ""}, {"n", 'n', ""}, {"\x1b", 'n', ""}, {"wuse make\r", 'w', "use make"}, {"\tno\r", 'w', "no"}, {"qx\ry", 'y', ""}}) {
        INFO(keys);
        Stage stage({}, {80, 16});
        stage.screen->ask(question("bash(rm *)"));
        REQUIRE(stage.shown("⚠ Allow bash? it removes files\n    rm -rf build\n  y once · s this session · n no · w no, and why · a always: bash(rm *)"));
        stage.settle();
        stage.type(keys);
        auto did = stage.did(Did::answered);
        REQUIRE(did);
        CHECK(did->answer == answer);
        CHECK(did->text == text);
        CHECK(stage.gone("Allow"));
        CHECK_FALSE(stage.screen->asking());
    }
}

TEST_CASE("screen: what is not offered is no answer")
{
    Stage stage;
    auto q = question();
    q.session = false;
    stage.screen->ask(q);
    REQUIRE(stage.shown("y once · n no"));
    CHECK_FALSE(stage.shows("always"));
    stage.settle();
    stage.type("as");
    stage.settle();
    CHECK(stage.dids.empty());
    CHECK(stage.screen->asking());
    stage.screen->ask_no_more();
    CHECK(stage.gone("Allow"));
}

TEST_CASE("screen: what was typed before a question could be seen does not answer it")
{
    Stage stage;
    stage.settle();
    stage.type("y");   // on its way, when it is asked
    stage.screen->ask(question());
    REQUIRE(stage.shown("Allow bash?"));
    stage.settle();
    CHECK(stage.screen->asking());
    CHECK(stage.dids.empty());
    CHECK(stage.shown("❯ y"));       // a draft, below the question
    stage.type("es");                // and the person types on
    REQUIRE(stage.until([&] { return stage.shows("❯ yes"); }));
    CHECK(stage.screen->asking());
    std::this_thread::sleep_for(600ms);   // a pause, which makes of the next key an answer
    stage.type("n");
    auto did = stage.did(Did::answered);
    REQUIRE(did);
    CHECK(did->answer == 'n');
    CHECK(stage.shown("❯ yes"));
}

TEST_CASE("screen: a word to the model can be thought better of")
{
    Stage stage;
    stage.screen->ask(question());
    REQUIRE(stage.shown("Allow"));
    stage.settle();
    stage.type("wfoo");
    REQUIRE(stage.shown("No, because: foo"));
    stage.type("\x1b");
    REQUIRE(stage.shown("y once"));
    stage.type("\x03");
    CHECK(stage.did(Did::interrupt));
    CHECK(stage.screen->asking());
}

TEST_CASE("screen: columns of a result stay columns, from its first line on")
{
    Stage stage;
    stage.screen->result(bash("uniq -c"), output("\n \n   1893 /\n    212 /cart\n\n"), 5ms);
    CHECK(stage.shown("←    1893 /\n      212 /cart\n"));
    stage.screen->result(bash("true"), output(" \n\n"), 5ms);
    CHECK(stage.shown("← (no output)\n"));
}

TEST_CASE("screen: a change is shown in colours, with the call or with the question")
{
    test::Folder folder;
    folder.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    ToolCall edit{"1", "file_edit", object({{"file_path", "a.txt"}, {"old_string", "four"}, {"new_string", "4"}})};
    Question about{.preview = preview_of(edit), .reason = "", .always = ""};
    const std::string change = "\n  @@ -1,7 +1,7 @@\n    one\n    two\n    three\n  - four\n  + 4\n    five\n    six\n    seven\n";
    Stage stage({}, {60, 40});
    stage.screen->call(edit);
    stage.screen->ask(about);
    REQUIRE(stage.shown("→ file_edit: file_path=\"a.txt\"" + change + "⚠ Allow file_edit a.txt?\n  y once"));
    CHECK_FALSE(stage.shows("old_string"));
    CHECK(stage.seen.cell(5, 2).colour == 167);
    CHECK(stage.seen.cell(6, 2).colour == 108);
    stage.settle();
    stage.type("y");
    REQUIRE(stage.did(Did::answered));
    // Once more, with something between the call and its question.
    stage.screen->call(edit);
    stage.screen->warn("something else");
    stage.screen->ask(about);
    REQUIRE(stage.shown("something else\n⚠ Allow file_edit a.txt?" + change + "  y once"));
    // And where the file has changed meanwhile.
    stage.screen->ask_no_more();
    stage.screen->call(edit);
    folder.write("a.txt", "one\nfour\n");
    stage.screen->ask({.preview = preview_of(edit), .reason = "", .always = ""});
    REQUIRE(stage.shown("seven\n⚠ Allow file_edit a.txt?\n  @@ -1,2 +1,2 @@\n    one\n  - four\n  + 4\n  y once"));
}

TEST_CASE("screen: a long change goes where it can be scrolled to")
{
    test::Folder folder;
    std::string content;
    for (int i = 0; i < 100; ++i) content += "row " + std::to_string(i) + "\n";
    ToolCall write{"1", "file_write", object({{"file_path", "new.txt"}, {"content", content}})};
    Question about{.preview = preview_of(write), .reason = "", .always = ""};
    Stage stage;
    stage.screen->ask(about);
    REQUIRE(stage.shown("⚠ Allow file_write new.txt?\n  y once"));
    for (int i : {0, 50, 99}) CHECK(stage.shows("+ row " + std::to_string(i) + "\n"));
    stage.settle();
    stage.type("y");
    REQUIRE(stage.did(Did::answered));
    // The call of that name that comes next shows its own.
    stage.screen->call({"2", "file_write", object({{"file_path", "new.txt"}, {"content", "short\n"}})});
    CHECK(stage.shown("→ file_write: file_path=\"new.txt\"\n  @@ -0,0 +1 @@\n  + short\n"));
}

TEST_CASE("screen: messages wait, are shown, and can be had back")
{
    Stage stage;
    stage.screen->status({{.what = "", .since = Clock::now()}});
    stage.screen->queue({"first", "second\nof two lines"});
    REQUIRE(stage.shown("› first\n› second …\n❯"));
    stage.type("\x1b[A");
    auto did = stage.did(Did::took_back);
    REQUIRE(did);
    CHECK(did->text == "second\nof two lines");
    CHECK(stage.shown("› first\n❯ second\n  of two lines"));
    stage.screen->queue({"first"});
    stage.settle();
    CHECK(stage.shows("› first\n❯ second\n"));
}

TEST_CASE("screen: Tab completes commands by the caller, and paths by itself")
{
    test::Folder folder;
    folder.write("src/alpha.cc", "");
    folder.write("src/beta one.cc", "");
    folder.write("src/.hidden", "");
    Stage stage;
    stage.type("/he\t");
    auto did = stage.did(Did::complete);
    REQUIRE(did);
    CHECK(did->text == "/he");
    stage.screen->candidates({{"/help", "List the commands"}, {"/tool", "List the tools"}});
    CHECK(stage.shown("❯ /help"));
    stage.type("\x15look at @s\t");
    CHECK(stage.shown("❯ look at @src/"));
    stage.type("\t");
    REQUIRE(stage.shown("  @src/beta\\ one.cc"));
    CHECK(stage.shows("@src/alpha.cc"));
    CHECK_FALSE(stage.shows("hidden"));
    stage.type("b\t");
    CHECK(stage.shown("❯ look at @src/beta\\ one.cc"));
}

TEST_CASE("screen: a long paste is folded, and sent whole")
{
    Stage stage;
    std::string paste;
    for (int i = 0; i < 213; ++i) paste += "line " + std::to_string(i) + "\n";
    stage.type("\x1b[200~" + paste + "\x1b[201~");
    REQUIRE(stage.shown("❯ [pasted 213 lines]"));
    stage.type("\r");
    auto did = stage.did(Did::said);
    REQUIRE(did);
    CHECK(did->text == paste);
    stage.screen->said(did->text);
    CHECK(stage.shown("❯ line 0\n  line 1\n  line 2\n  … 211 more lines\n"));
}

TEST_CASE("screen: resized in the middle of a stream")
{
    Stage stage({}, {60, 12});
    stage.screen->said("go");
    std::string words;
    for (int i = 0; i < 40; ++i) {
        stage.screen->event(ModelSaid{"word" + std::to_string(i) + (i % 10 == 9 ? "\n\n" : " ")});
        stage.turn();
        if (i % 7 == 6) {
            int columns = i % 2 ? 30 : 55;
            winsize window{12, static_cast<unsigned short>(columns), 0, 0};
            ioctl(stage.master.get(), TIOCSWINSZ, &window);
            stage.seen.resize(columns, 12);
            stage.screen->resized();
        }
    }
    stage.screen->event(ModelDone{"end_turn"});
    stage.screen->end({"end_turn", "", ""});
    stage.settle();
    auto text = stage.text();
    std::string joined;
    for (char c : text)
        if (c != '\n' && c != ' ') joined += c;
    for (int i = 0; i < 40; ++i) CHECK(joined.find("word" + std::to_string(i)) != std::string::npos);
    CHECK(stage.row_of_cursor() == "❯");
}

TEST_CASE("screen: 20 columns, and few rows")
{
    Stage stage({}, {20, 6});
    stage.screen->status({{.what = "bash: make everything", .since = Clock::now()}});
    stage.screen->event(ModelSaid{"| name | what it does |\n|---|---|\n| first | a long sentence |\n"});
    stage.screen->call(bash("echo one two three four"));
    stage.screen->ask(question());
    REQUIRE(stage.shown("y once"));
    stage.settle();
    CHECK(stage.seen.cursor_visible());
    for (auto& row : stage.seen.everything()) CHECK(term::width(row) <= 20);
    stage.type("y");
    CHECK(stage.did(Did::answered));
}

TEST_CASE("screen: no colours where none are wanted, and ASCII where nothing else is to be had")
{
    Stage stage({.terminal = {"xterm-256color", "truecolor", "1", ""}});
    stage.screen->said("go");
    stage.screen->event(ModelSaid{"**bold** `code`\n"});
    stage.screen->call(bash("ls"));
    stage.screen->warn("careful");
    stage.settle();
    CHECK(colours_of(stage.bytes).empty());
    CHECK(stage.shows("⚠ careful"));

    Stage ascii({.charset = term::Charset::ascii});
    ascii.screen->said("go");
    ascii.screen->event(ModelSaid{"> “quoted”\n"});
    ascii.screen->call(bash("ls"));
    ascii.screen->warn("careful");
    ascii.settle();
    CHECK(ascii.text() == "> go\n* > \"quoted\"\n-> bash: command=\"ls\"\n! careful\n>\n");
    for (char c : ascii.bytes) REQUIRE(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("screen: what models and tools say does not drive the terminal")
{
    Stage stage;
    std::string bad = "\x1b]0;title\x07\x1b[2J\x1b[H\x1b]52;c;aGk=\x07\u202E\x90q\x9b";
    stage.screen->event(ModelSaid{bad + "\n\n"});
    stage.screen->call(bash(bad));
    stage.screen->result(bash(bad), output(bad), 1ms);
    stage.screen->warn(bad);
    stage.screen->say(bad);
    stage.screen->status({{.what = bad, .since = Clock::now()}});
    stage.screen->ask({.preview = {.subject = "bash", .lines = {bad}, .hunks = {}, .note = bad}, .reason = bad, .always = bad});
    REQUIRE(stage.shown("y once"));
    CHECK(stage.seen.title().empty());
    CHECK(stage.seen.bells() == 0);
    CHECK(stage.bytes.find("\x1b]52") == std::string::npos);
    CHECK(stage.bytes.find("\u202E") == std::string::npos);
    CHECK(stage.seen.everything().size() > 4);
}

TEST_CASE("screen: the terminal is given back as it was found")
{
    Stage stage;
    stage.screen->event(ModelSaid{"half a sen"});
    stage.turn();
    stage.screen->leave();
    stage.look();
    CHECK(stage.text() == "● half a sen\n");
    CHECK(stage.seen.cursor_visible());
    CHECK(stage.seen.cursor_row() == 1);
    CHECK(stage.seen.cursor_column() == 0);
    termios modes{};
    tcgetattr(stage.slave.get(), &modes);
    CHECK((modes.c_lflag & ICANON));
    CHECK((modes.c_lflag & ECHO));
    CHECK(stage.bytes.ends_with("\x1b[?2004l\x1b[?7h\x1b[?25h"));
}

TEST_CASE("screen: a terminal that vanishes")
{
    Stage stage;
    stage.settle();
    stage.master.reset();
    CHECK(eventually([&] {
        Poll poll;
        stage.screen->add_to(poll);
        poll.until(Clock::now() + 10ms);
        poll.wait();
        stage.screen->advance(poll);
        return stage.screen->lost();
    }));
}

TEST_CASE("screen: stopped and continued by somebody else")
{
    Stage stage;
    stage.screen->say("before");
    stage.type("draft");
    REQUIRE(stage.shown("❯ draft"));
    termios cooked{}, now{};
    tcgetattr(stage.slave.get(), &cooked);
    cooked.c_lflag |= ICANON | ECHO;
    tcsetattr(stage.slave.get(), TCSANOW, &cooked);
    stage.seen.feed("\r\n[1]+ Stopped\r\n$ fg\r\n");
    stage.screen->continued();
    stage.screen->continued();
    stage.settle();
    CHECK(stage.text() == "before\n❯ draft\n[1]+ Stopped\n$ fg\n❯ draft\n");
    tcgetattr(stage.slave.get(), &now);
    CHECK_FALSE((now.c_lflag & ICANON));
}

TEST_CASE("screen: what comes while an editor has the terminal is shown behind it")
{
    test::Folder folder;
    folder.write("editor", "#!/bin/sh\necho in the editor\nwhile ! [ -e go ]; do sleep 0.01; done\n", 0755);
    setenv("VISUAL", (folder.path + "/editor").c_str(), 1);
    Stage stage;
    stage.type("\x07");
    REQUIRE(stage.shown("in the editor"));
    CHECK(stage.screen->away());
    auto before = stage.bytes.size();
    stage.screen->event(ModelSaid{"meanwhile\n\n"});
    stage.screen->ask(question());
    stage.settle();
    CHECK(stage.bytes.size() == before);
    folder.write("go", "");
    CHECK(stage.shown("in the editor\n● meanwhile\n⚠ Allow bash?"));
    unsetenv("VISUAL");
}

TEST_CASE("screen: an editor of the person's own has the terminal, and the text comes back")
{
    test::Folder folder;
    folder.write("editor", "#!/bin/sh\nstat -c %a \"$2\" > mode\ncat \"$2\" > was\nstty -a > modes\nprintf 'edited\\nby hand\\n' > \"$2\"\necho \"$1\" > option\n", 0755);
    setenv("VISUAL", (folder.path + "/editor --wait").c_str(), 1);
    Stage stage({}, {120, 16});
    stage.type("draft\x07");
    REQUIRE(stage.shown("❯ edited\n  by hand"));
    CHECK_FALSE(stage.screen->away());
    CHECK(folder.read("was") == "draft\n");
    CHECK(folder.read("mode") == "600\n");
    CHECK(folder.read("option") == "--wait\n");
    CHECK(folder.read("modes").find(" icanon") != std::string::npos);
    stage.type("\r");
    auto did = stage.did(Did::said);
    REQUIRE(did);
    CHECK(did->text == "edited\nby hand");

    folder.write("editor", "#!/bin/sh\nexit 3\n", 0755);
    stage.type("kept\x07");
    CHECK(stage.shown("ended with status 3: the text is as it was"));
    CHECK(stage.shown("❯ kept"));
    unsetenv("VISUAL");
}

TEST_CASE("screen: history is kept in its file")
{
    test::Folder folder;
    {
        Stage stage({.history_path = folder / "state/history"});
        stage.type("remember me\r");
        REQUIRE(stage.did(Did::said));
    }
    Stage stage({.history_path = folder / "state/history"});
    stage.type("\x1b[A");
    CHECK(stage.shown("❯ remember me"));
}

TEST_CASE("screen: plain: lines only, no cursor is moved")
{
    Stage stage({.plain = true});
    REQUIRE(stage.shown("❯"));
    stage.type("hello\n");
    auto did = stage.did(Did::said);
    REQUIRE(did);
    CHECK(did->text == "hello");
    stage.screen->said(did->text);
    stage.screen->status({{.what = "", .since = Clock::now()}});
    stage.screen->event(ModelSaid{"Some **te"});
    CHECK(stage.shown("● Some **te"));
    stage.screen->event(ModelSaid{"xt**\nmore\n"});
    stage.screen->event(ModelDone{"end_turn"});
    stage.screen->ask(question());
    REQUIRE(stage.shown("y once"));
    stage.settle();
    stage.type("yes, and more\n");   // no answer: it was begun before
    REQUIRE(stage.did(Did::said));
    stage.type("y\n");
    REQUIRE(stage.did(Did::answered));
    stage.screen->status({});
    stage.screen->end({"end_turn", "", ""});
    stage.settle();
    CHECK(stage.row_of_cursor() == "❯");
    auto text = stage.text();
    CHECK(text.find("● Some **text**\nmore\n") != std::string::npos);
    CHECK(text.find("Some") == text.rfind("Some"));
    CHECK(stage.bytes.find('\x1b') == std::string::npos);
    stage.type("\x04");
    CHECK(stage.did(Did::quit));
}
