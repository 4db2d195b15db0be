// The editor: keys in, text and cursor out, as data. '|' is the cursor.
#include "term/editor.h"

#include "base/text.h"
#include "support/world.h"
#include "term/width.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace ik;
using namespace ik::term;

namespace {

const std::map<std::string, Key> names = {
    {"enter", {Key::enter}}, {"A-enter", {Key::enter, {}, false, true}}, {"S-enter", {Key::enter, {}, false, false, true}}, {"C-enter", {Key::enter, {}, true}},
    {"tab", {Key::tab}}, {"S-tab", {Key::tab, {}, false, false, true}}, {"bs", {Key::backspace}}, {"A-bs", {Key::backspace, {}, false, true}}, {"del", {Key::erase}}, {"esc", {Key::escape}},
    {"up", {Key::up}}, {"down", {Key::down}}, {"left", {Key::left}}, {"right", {Key::right}}, {"C-left", {Key::left, {}, true}}, {"C-right", {Key::right, {}, true}},
    {"home", {Key::home}}, {"end", {Key::end}}, {"pgup", {Key::page_up}}, {"f1", {Key::function, "1"}}, {"space", {Key::text, " "}},
};

// "abc <left> <C-a>": text, and keys in <>.
std::vector<Key> keys(std::string_view script)
{
    std::vector<Key> out;
    while (!script.empty()) {
        if (script[0] != '<') {
            auto size = utf8_length(script);
            out.push_back({Key::text, std::string(script.substr(0, size))});
            script.remove_prefix(size);
            continue;
        }
        auto name = std::string(script.substr(1, script.find('>') - 1));
        script.remove_prefix(name.size() + 2);
        if (auto known = names.find(name); known != names.end())
            out.push_back(known->second);
        else
            out.push_back({Key::text, name.substr(2), name[0] == 'C', name[0] == 'A'});
    }
    return out;
}

const std::vector<std::string> past{"make test", "git log", "first\nsecond", "make"};

struct Typing {
    Editor editor;
    std::vector<std::string> sent;
    Outcome last;
    std::vector<std::string> history = past;

    void press(const Key& key)
    {
        last = editor.on(key, history);
        if (last.kind == Outcome::send) sent.push_back(last.text);
    }
    Typing& operator()(std::string_view script)
    {
        for (auto& key : keys(script)) press(key);
        return *this;
    }
    Typing& paste(std::string text) { return press({Key::paste, std::move(text)}), *this; }

    std::string state() const { return std::string(editor.text()).insert(editor.cursor(), "|"); }
    std::string screen() const
    {
        auto drawn = editor.draw(Line("> "));
        drawn.lines[drawn.cursor.line].text.insert(drawn.cursor.byte, "|");
        std::string out;
        for (auto& line : drawn.lines) out += (out.empty() ? "" : "\n") + line.text;
        return out;
    }
};

std::string numbered(int lines, const std::string& word = "line")
{
    std::string out;
    for (int i = 1; i <= lines; ++i) out += word + std::to_string(i) + "\n";
    return out;
}

}

TEST_CASE("editor: keys and what comes of them")
{
    struct Case { std::string_view script, state; };
    auto c = GENERATE(values<Case>({
        {"abc", "abc|"}, {"abc<left>X", "abX|c"}, {"abc<C-a>X", "X|abc"}, {"abc<home><end>X", "abcX|"}, {"abc<C-b><C-b><C-f>X", "abX|c"},
        {"abc<bs>", "ab|"}, {"abc<home><del>", "|bc"}, {"abc<home><C-d>", "|bc"}, {"abc<home><bs>", "|abc"},
        {"one two three<C-w>", "one two |"}, {"one two  <C-w>", "one |"}, {"a/b-c<A-bs>", "a/b-|"}, {"one two<A-b>X", "one X|two"}, {"one two<home><A-f>X", "oneX| two"},
        {"one two<home><A-d>", "| two"}, {"one two<C-left><C-left><C-right>X", "oneX| two"},
        {"one two<A-b><C-k>", "one |"}, {"one two<A-b><C-u>", "|two"}, {"one two<A-b><C-k><home><C-y>", "two|one "},
        {"a b c<C-w><C-w><C-y><C-y>", "a b cb c|"},            // kills in a row are one
        {"a b<C-w>x<C-w><C-y>", "a x|"},
        // lines
        {"one<C-j>two", "one\ntwo|"}, {"one<A-enter>two", "one\ntwo|"}, {"one<S-enter>two", "one\ntwo|"}, {"one\\<enter>two", "one\ntwo|"},
        {"one<C-j>two<C-a>X", "one\nX|two"}, {"one<C-j>two<up>X", "oneX|\ntwo"}, {"one<C-j>two<up><down>X", "one\ntwoX|"},
        {"longer<C-j>a<C-j>longest<up><up>X", "longerX|\na\nlongest"}, {"one<C-j>two<C-u><C-u>", "one|"}, {"one<C-j>two<up><C-k>", "one|two"}, {"one<C-j>two<up><C-a><C-k><C-k>", "|two"},
        {"漢字x<C-j>abcde<up>X", "漢字xX|\nabcde"}, {"abcde<C-j>漢字<up>X", "abcdX|e\n漢字"},
        // clusters
        {"e\u0301x<left><bs>", "|x"}, {"a👍🏽<bs>", "a|"}, {"a👨‍👩‍👧‍👦b<left><left>X", "aX|👨‍👩‍👧‍👦b"}, {"🇩🇪🇫🇷<left>X", "🇩🇪X|🇫🇷"}, {"漢<home><del>", "|"},
        // undo: a word at a time; of kills
        {"one two<C-_>", "one |"}, {"one two<C-_><C-_>", "|"}, {"one two<C-w><C-_>", "one two|"}, {"one<C-c><C-_>", "one|"}, {"<C-_>", "|"}, {"ab<left>c<C-_>", "a|b"},
        // history
        {"<up>", "make|"}, {"<up><up><up>", "first|\nsecond"}, {"<up><up><up><up>", "git log|"}, {"draft<up><down>", "draft|"}, {"draft<up><up><up><up><up><up><up>", "make test|"}, {"<C-p><C-n>x", "x|"},
        {"<down>", "|"},
        // search
        {"<C-r>git", "|git log"}, {"<C-r>make", "|make"}, {"<C-r>make<C-r>", "|make test"}, {"<C-r>make<C-r><C-r>", "|make test"}, {"<C-r>make t", "|make test"}, {"x<C-r>git<C-c>", "x|"},
        {"x<C-r>git<C-g>", "x|"}, {"<C-r>git<esc>!", "!|git log"}, {"<C-r>log<end>!", "git log!|"}, {"<C-r>sec", "first\n|second"}, {"<C-r>gitx<bs><esc>!", "!|git log"}, {"ab<C-r>git<esc><C-_>", "ab|"},
        {"<C-r>zzz", "|"}, {"ab<C-r><esc>", "ab|"},
        // nothing
        {"<pgup><f1><A-x><C-x>", "|"}, {"!ls", "!ls|"},
    }));
    INFO(c.script);
    CHECK(Typing()(c.script).state() == c.state);
}

TEST_CASE("editor: outcomes")
{
    struct Case { std::string_view script; Outcome::Kind last; };
    auto c = GENERATE(values<Case>({
        {"a", Outcome::changed}, {"a<enter>", Outcome::send}, {"<enter>", Outcome::nothing}, {"  <enter>", Outcome::nothing}, {"<C-j><enter>", Outcome::nothing},
        {"a<C-c>", Outcome::cleared}, {"a<C-c><C-c>", Outcome::leave_asked}, {"<C-c>", Outcome::leave_asked}, {"<C-c><C-c>", Outcome::quit}, {"<C-c>a<bs><C-c>", Outcome::leave_asked},
        {"<C-d>", Outcome::quit}, {"a<C-d>", Outcome::nothing}, {"<esc>", Outcome::stop}, {"a<esc>", Outcome::stop}, {"<C-g>", Outcome::outside}, {"<C-t>", Outcome::background},
        {"<C-l>", Outcome::clear_screen}, {"<C-z>", Outcome::suspend}, {"/he<tab>", Outcome::complete}, {"look at @sr<tab>", Outcome::complete}, {"hello<tab>", Outcome::nothing}, {"<left>", Outcome::nothing},
        {"a<right>", Outcome::nothing}, {"<up>", Outcome::changed}, {"<bs>", Outcome::nothing}, {"<C-r>git<enter>", Outcome::send},
    }));
    INFO(c.script);
    CHECK(Typing()(c.script).last.kind == c.last);
}

TEST_CASE("editor: what is sent")
{
    CHECK(Typing()("hello<enter>").sent == std::vector<std::string>{"hello"});
    CHECK(Typing()("a<C-j>b<enter>").sent == std::vector<std::string>{"a\nb"});
    CHECK(Typing()("path\\\\<enter>").sent == std::vector<std::string>{"path\\\\"});   // a backslash that is meant
    CHECK(Typing()("a<enter><C-_>").state() == "|");
    CHECK(Typing()("text<C-g>").last.text == "text");
    Typing typing;
    typing("old");
    typing.editor.set_text("new\r\ntext");
    CHECK(typing.state() == "new\ntext|");
    CHECK(typing("<C-_>").state() == "old|");
}

TEST_CASE("editor: a long paste is folded")
{
    auto text = numbered(213);
    Typing typing;
    typing("see ").paste(text)("!");
    CHECK(typing.screen() == "> see [pasted 213 lines]!|");
    CHECK(typing("<enter>").sent == std::vector<std::string>{"see " + text + "!"});

    typing.paste(numbered(213)).paste(numbered(213, "other")).paste(numbered(12));
    CHECK(typing.screen() == "> [pasted 213 lines][pasted 213 lines #2][pasted 12 lines]|");
    CHECK(typing("<bs>").screen() == "> [pasted 213 lines][pasted 213 lines #2]|");
    CHECK(typing("<left><left>").screen() == "> |[pasted 213 lines][pasted 213 lines #2]");
    CHECK(typing("<del>").screen() == "> |[pasted 213 lines #2]");
    CHECK(typing.editor.whole() == numbered(213, "other"));
    CHECK(typing("<C-_>").screen() == "> |[pasted 213 lines][pasted 213 lines #2]");
    CHECK(typing.editor.whole() == numbered(213) + numbered(213, "other"));
    CHECK(typing("<C-k><C-y>").editor.whole() == numbered(213) + numbered(213, "other"));
}

TEST_CASE("editor: a short paste is text")
{
    CHECK(Typing().paste(numbered(10)).state() == numbered(10) + "|");
    CHECK(Typing().paste("a\r\nb\rc").state() == "a\nb\nc|");
    CHECK(Typing().paste("caf\xC3").state() == "caf\uFFFD|");
    CHECK(Typing().paste("").last.kind == Outcome::nothing);
    CHECK(Typing().paste(std::string(20000, 'x')).screen() == "> [pasted 1 line, 19 KB]|");
    CHECK(Typing().paste("\U0010F000")("x").state() == "\uFFFDx|");   // nobody forges a fold
}

TEST_CASE("editor: lines under the label")
{
    CHECK(Typing()("one<C-j>two").screen() == "> one\n  two|");
    CHECK(Typing()("one<C-j>").screen() == "> one\n  |");
    CHECK(Typing()("").screen() == "> |");
    CHECK(Typing()("<C-r>git").screen() == "(search) git: |git log");
    CHECK(Typing()("<C-r>zzz").screen() == "(not found) zzz: |");
}

TEST_CASE("editor: what could be completed")
{
    struct Case { std::string_view script; Wanted::Kind kind; std::string_view word, of; };
    auto c = GENERATE(values<Case>({
        {"/mo", Wanted::command, "/mo", ""}, {"/model cla", Wanted::argument, "cla", "/model"}, {"/tool ", Wanted::argument, "", "/tool"}, {"read @src/m", Wanted::path, "@src/m", ""},
        {"@my\\ fi", Wanted::path, "@my\\ fi", ""}, {"!ls /et", Wanted::path, "/et", ""}, {"hello", Wanted::nothing, "hello", ""}, {"/export @x", Wanted::path, "@x", ""}, {"a<C-j>/mo", Wanted::nothing, "/mo", ""},
    }));
    INFO(c.script);
    Typing typing;
    auto wanted = typing(c.script).editor.wanted();
    CHECK(wanted.kind == c.kind);
    CHECK(wanted.word == c.word);
    CHECK(wanted.of == c.of);
}

TEST_CASE("editor: completion")
{
    const std::vector<Candidate> commands{{"/model", "Show or change the model"}, {"/more"}, {"/mark"}, {"/quit"}};
    Typing typing;
    typing("/q<tab>");
    typing.editor.offer(commands);
    CHECK(typing.state() == "/quit |");
    CHECK(typing.editor.menu().empty());

    typing("<C-u>/m<tab>");
    typing.editor.offer(commands);
    CHECK(typing.editor.menu().size() == 3);
    CHECK(typing.editor.menu()[0].text == "  /model         Show or change the model");
    typing("o");
    CHECK(typing.editor.menu().size() == 2);   // narrowed by what is typed
    typing("<tab><tab><enter>");
    CHECK(typing.state() == "/more |");
    CHECK(typing.sent.empty());

    typing("<C-u>/mo<tab>");
    typing.editor.offer(commands);
    typing("<esc>");
    CHECK(typing.last.kind == Outcome::changed);
    CHECK(typing.editor.menu().empty());

    typing("<C-u>see @s");
    typing.editor.offer({{"@src/"}, {"@src/main.cc"}});
    CHECK(typing.state() == "see @src/|");
    typing("<S-tab>");
    CHECK(typing.editor.menu()[1].runs.size() > 1);   // the last one is chosen
    typing("<enter>");
    CHECK(typing.state() == "see @src/main.cc |");

    typing("<C-u>zzz");
    CHECK(typing.editor.offer(commands).kind == Outcome::nothing);
    std::vector<Candidate> many;
    for (int i = 0; i < 100; ++i) many.push_back({"@f" + std::to_string(i)});
    typing("<C-u>@");
    typing.editor.offer(many);
    CHECK(typing.editor.menu(8).size() == 9);
    CHECK(typing.editor.menu(8).back().text == "  1 to 8 of 100");
}

TEST_CASE("editor: random keys keep the text whole")
{
    std::mt19937 random(3);
    std::vector<Key> all;
    for (auto& [name, key] : names) all.push_back(key);
    for (char c = 'a'; c <= 'z'; ++c) all.push_back({Key::text, std::string(1, c), true}), all.push_back({Key::text, std::string(1, c), false, true});
    for (auto word : {"a", " ", "\u0301", "漢", "👍", "🏽", "\u200D", "/", "@", "\\", "\xFF", "\U0010F001", "🇩", "_"}) all.push_back({Key::text, word}), all.push_back({Key::text, word});
    all.push_back({Key::text, "_", true});
    all.push_back({Key::paste, numbered(12)});
    all.push_back({Key::paste, "x\ny\xFE"});
    all.push_back({Key::reply, "[?1u"});
    for (int round = 0; round < 200; ++round) {
        Typing typing;
        for (int i = 0; i < 200; ++i) {
            typing.press(all[random() % all.size()]);
            if (typing.last.kind == Outcome::complete) typing.editor.offer({{"/abc"}, {"/abd"}, {"@x"}, {"@漢字"}});
            auto& editor = typing.editor;
            REQUIRE(valid_utf8(editor.text()));
            REQUIRE(editor.cursor() <= editor.text().size());
            REQUIRE(utf8_prefix(editor.text(), editor.cursor()).size() == editor.cursor());
            REQUIRE(valid_utf8(editor.whole()));
            auto drawn = editor.draw(Line("> "));
            REQUIRE(drawn.cursor.line < drawn.lines.size());
            REQUIRE(drawn.cursor.byte <= drawn.lines[drawn.cursor.line].text.size());
            editor.menu();
        }
    }
}
