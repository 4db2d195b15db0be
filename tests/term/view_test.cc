// The view in a terminal emulator: what a person sees after each frame, and what is never touched again.
#include "term/view.h"

#include "base/text.h"
#include "support/screen.h"
#include "term/editor.h"
#include "term/pace.h"
#include "term/tool_text.h"

#include <catch2/catch.hpp>
#include <random>

using namespace ik;
using namespace ik::term;
using ik::test::Screen;

namespace {

using Rows = std::vector<std::string>;

const Look coloured{{Depth::many, false}};

// A view and the terminal that it writes to.
struct Scene {
    explicit Scene(Size size = {20, 6}, Look look = coloured) : screen(size.columns, size.rows), view(look, size) {}

    std::string frame()
    {
        auto bytes = view.show(live);
        screen.watch();
        screen.feed(bytes);
        return bytes;
    }
    void resize(int columns, int rows)
    {
        screen.resize(columns, rows);
        view.resize({columns, rows});
    }
    void type(std::string_view text)
    {
        live.input = {Line(std::string("> ") + std::string(text))};
        live.cursor = Place{0, live.input[0].text.size()};
    }
    Rows all() const { return screen.everything(); }
    Place cursor() const { return {static_cast<std::size_t>(screen.line_of_cursor()), static_cast<std::size_t>(screen.cursor_column())}; }

    Screen screen;
    View view;
    Live live;
};

Line cut(Line line)
{
    line.cut = true;
    return line;
}

}

TEST_CASE("view: a stream that grows, becomes final and goes up")
{
    Scene scene;
    scene.type("");
    scene.live.status = {cut(Line("working 1 s", {.ink = Ink::faint}))};
    scene.frame();
    CHECK(scene.all() == Rows{"working 1 s", ">"});
    std::string words;
    for (auto word : {"Two ", "files, ", "both ", "of them empty."}) {
        scene.live.text = {Line(words += word)};
        scene.frame();
    }
    CHECK(scene.all() == Rows{"Two files, both of t", "hem empty.", "working 1 s", ">"});
    CHECK(scene.cursor() == Place{3, 2});
    scene.view.print(Line(words));
    scene.live.text.clear();
    scene.frame();
    CHECK(scene.all() == Rows{"Two files, both of t", "hem empty.", "working 1 s", ">"});
    for (int i = 0; i < 20; ++i) scene.view.print(Line("line " + std::to_string(i)));
    scene.live.status.clear();
    scene.frame();
    auto all = scene.all();
    CHECK(all.size() == 23);
    CHECK(all[2] == "line 0");
    CHECK(all[21] == "line 19");
    CHECK(all[22] == ">");
    CHECK(scene.cursor() == Place{22, 2});
    CHECK(scene.screen.cursor_visible());
}

TEST_CASE("view: nothing is sent for nothing new, and one row for one row")
{
    Scene scene({40, 10});
    scene.type("hello");
    scene.live.status = {cut(Line("working 1 s"))};
    scene.live.text = {Line("a"), Line("b"), Line("c")};
    CHECK(scene.frame() != "");
    CHECK(scene.frame() == "");
    auto copy = scene.live;
    scene.live = copy;
    CHECK(scene.frame() == "");
    scene.view.resize({40, 10});
    CHECK(scene.frame() == "");
    scene.live.status = {cut(Line("working 2 s"))};
    auto bytes = scene.frame();
    CHECK(bytes.find("working 2 s") != std::string::npos);
    CHECK(bytes.find("hello") == std::string::npos);
    CHECK(scene.screen.touched() == 3);
    CHECK(bytes.size() < 80);
    CHECK(bytes.starts_with("\x1b[?2026h"));
    CHECK(bytes.ends_with("\x1b[?2026l"));
    scene.live.cursor->byte -= 1;   // the cursor alone
    bytes = scene.frame();
    CHECK(scene.screen.touched() == -1);
    CHECK(scene.cursor() == Place{4, 6});
}

TEST_CASE("view: text that ends at the edge")
{
    Scene scene({10, 5});
    scene.type("12345678");   // with the label exactly a row
    scene.frame();
    CHECK(scene.all() == Rows{"> 12345678"});
    CHECK(scene.cursor() == Place{1, 0});
    scene.type("123456789");
    scene.frame();
    CHECK(scene.all() == Rows{"> 12345678", "9"});
    CHECK(scene.cursor() == Place{1, 1});
    scene.type("12345678");
    scene.frame();
    CHECK(scene.all() == Rows{"> 12345678"});
    scene.view.print(Line("exactly 10"));
    scene.view.print(Line("and the next"));
    scene.type("");
    scene.frame();
    CHECK(scene.all() == Rows{"exactly 10", "and the ne", "xt", ">"});
}

TEST_CASE("view: wide, joined and combined characters")
{
    Scene scene({10, 5});
    scene.type("1234567漢");
    scene.frame();
    CHECK(scene.all() == Rows{"> 1234567", "漢"});
    CHECK(scene.cursor() == Place{1, 2});
    scene.view.print(Line("123456789漢字"));
    scene.type("e\u0301e\u0301");
    scene.frame();
    CHECK(scene.all() == Rows{"123456789", "漢字", "> e\u0301e\u0301"});
    CHECK(scene.cursor() == Place{2, 4});
    scene.type("שלום");
    scene.frame();
    CHECK(scene.cursor() == Place{2, 6});
    // This terminal takes a joined emoji for several: the cursor stands right behind it, and nothing wraps.
    scene.type("👨‍👩‍👧‍👦");
    scene.frame();
    CHECK(scene.cursor().line == 2);
    CHECK(scene.all().size() == 3);
    scene.type("👨‍👩‍👧x👨‍👩‍👧");
    scene.frame();
    CHECK(scene.screen.touched() == 2);
    scene.type("");
    scene.frame();
    auto all = scene.all();
    CHECK(Rows(all.begin(), all.begin() + 2) == Rows{"123456789", "漢字"});
}

TEST_CASE("view: live lines that are taller than the screen")
{
    Scene scene({20, 5});
    scene.view.print(Line("above"));
    std::vector<Line> many;
    for (int i = 0; i < 12; ++i) many.push_back(Line("row " + std::to_string(i)));
    scene.live.text = many;
    scene.type("x");
    scene.frame();
    auto all = scene.all();
    CHECK(all.front() == "above");
    CHECK(Rows(all.end() - 5, all.end()) == Rows{"row 8", "row 9", "row 10", "row 11", "> x"});
    // a long text in the editor: around the cursor
    scene.live.text.clear();
    scene.live.input = many;
    scene.live.cursor = Place{3, 2};
    scene.frame();
    all = scene.all();
    CHECK(Rows(all.end() - 5, all.end()) == Rows{"row 3", "row 4", "row 5", "row 6", "row 7"});
    CHECK(scene.screen.cursor_row() == 0);
    scene.live.cursor = Place{11, 6};
    scene.frame();
    CHECK(scene.screen.cursor_row() == 4);
    scene.type("");
    for (auto& line : many) scene.view.print(line);
    scene.frame();
    all = scene.all();
    CHECK(all.size() == 14);
    CHECK(all.front() == "above");
    CHECK(all[12] == "row 11");
}

TEST_CASE("view: an editor of several lines, with a menu that comes and goes")
{
    Scene scene({30, 8});
    scene.view.print(Line("before"));
    Editor editor;
    auto press = [&](const Key& key) {
        editor.on(key, {});
        auto drawn = editor.draw(Line("❯ ", {.ink = Ink::prompt}));
        scene.live.input = drawn.lines;
        scene.live.cursor = drawn.cursor;
        scene.live.below = editor.menu();
        scene.frame();
        CHECK((scene.screen.touched() < 0 || scene.screen.touched() >= 1));
    };
    scene.frame();
    for (char c : std::string("/mo")) press({Key::text, std::string(1, c)});
    press({Key::tab});
    editor.offer({{"/model", "Change the model"}, {"/more", "More"}});
    press({Key::tab});
    CHECK(scene.all() == Rows{"before", "❯ /mo", "› /model         Change the m…", "  /more          More"});
    CHECK(scene.cursor() == Place{1, 5});
    CHECK(scene.screen.cell(2, 2).reverse);
    press({Key::enter});
    CHECK(scene.all() == Rows{"before", "❯ /model"});
    press({Key::text, "j", true});
    press({Key::text, "x"});
    CHECK(scene.all() == Rows{"before", "❯ /model", "  x"});
    CHECK(scene.cursor() == Place{2, 3});
    press({Key::up});
    CHECK(scene.cursor() == Place{1, 3});
    CHECK(scene.screen.cell(1, 0).bold);
    CHECK(scene.screen.cell(1, 0).colour == 73);
    CHECK(scene.screen.cell(1, 2).plain_colour);
}

TEST_CASE("view: a resize in the middle of a stream")
{
    for (auto [columns, rows] : {std::pair{20, 8}, {10, 8}, {60, 8}, {30, 4}, {30, 20}, {3, 3}, {1, 1}, {2, 2}}) {
        INFO(columns << "x" << rows);
        Scene scene({30, 8});
        for (int i = 0; i < 5; ++i) scene.view.print(Line("final " + std::to_string(i)));
        scene.live.text = {Line("the text that is just coming in from far away")};
        scene.type("typed");
        scene.frame();
        scene.resize(columns, rows);
        scene.frame();
        scene.live.text = {Line("the text that is just coming in from far away, and goes on")};
        scene.frame();
        auto all = scene.all();
        // A terminal that does not reflow cuts what is too wide; the lines are all there.
        for (std::size_t i = 0; i < 5; ++i) CHECK(all.at(i).starts_with(("final " + std::to_string(i)).substr(0, static_cast<std::size_t>(columns))));
        CHECK(scene.screen.cursor_row() < rows);
        scene.view.print(scene.live.text[0]);
        scene.live.text.clear();
        scene.type("");
        scene.frame();
        scene.resize(30, 8);
        scene.frame();
        CHECK(scene.all().back() == ">");
    }
}

TEST_CASE("view: what models and tools write cannot leave its lines")
{
    Scene scene({40, 8});
    scene.view.print(Line("secret line"));
    scene.type("");
    scene.frame();
    for (auto evil : {"\x1b[2J\x1b[H", "\x1b[5A overwrite", "\r\r up", "\x1b]0;title\x07", "\x1b]52;c;aGk=\x07", "\x1bP+q544e\x1b\\", "\x1b[?1049h", "\x1b[8m hidden", "\x1b""c", "\x1b[6n\x05",
                      "a\u202Eb", "\x9b""2J", "\u009B2J", "\b\b\b\b", "\v\f", "\x1b#8", "\x1b[1;1r", "\x0e\x0f", "x\ny"}) {
        scene.live.text = {Line(evil)};
        scene.frame();
        scene.view.print(Line(evil));
        for (auto& line : tool_lines(evil)) scene.view.print(line);
        scene.live.text.clear();
        scene.frame();
        CHECK(scene.all().front() == "secret line");
        CHECK(scene.all().back() == ">");
        CHECK(scene.screen.title() == "");
        CHECK(scene.screen.replies() == "");
        CHECK(scene.screen.bells() == 0);
        CHECK_FALSE(scene.screen.alternate());
    }
}

TEST_CASE("view: colours of tools end with their line")
{
    auto lines = tool_lines("\x1b[1;31mred\nplain\x1b[38;5;200mpink\x1b[0m end\r\n\x1b[38;2;1;2;3mrgb\x1b[5;8mx\x1b[31");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == Line("red", {.bold = true, .front = {Colour::indexed, 1}}));
    CHECK(lines[1] == Line("plain").add("pink", {.front = {Colour::indexed, 200}}).add(" end"));
    CHECK(lines[2].text == "rgbx\x1b[31");
    CHECK(tool_lines("").empty());
    CHECK(tool_lines("\n\n").size() == 2);
    Scene scene;
    for (auto& line : lines) scene.view.print(line);
    scene.frame();
    CHECK(scene.screen.cell(0, 0) == ik::test::ScreenCell{"r", true, false, false, false, false, 1});
    CHECK(scene.screen.cell(1, 0).plain_colour);
    CHECK(scene.screen.cell(1, 5).colour == 200);
    CHECK(scene.screen.row(2) == "rgbx^[[31");
}

TEST_CASE("view: few colours, none, and light backgrounds")
{
    Style faint{.ink = Ink::faint}, warning{.ink = Ink::warning};
    CHECK(sgr(faint, {Depth::many, false}) == "\x1b[0;38;5;242m");
    CHECK(sgr(warning, {Depth::many, false}) == "\x1b[0;38;5;179m");
    CHECK(sgr(faint, {Depth::sixteen, false}) == "\x1b[0;90m");
    CHECK(sgr(faint, {Depth::none, false}) == "");
    CHECK(sgr(faint, {Depth::many, true}) != sgr(faint, {Depth::many, false}));
    Style rgb{.front = {Colour::rgb, 255, 0, 0}};
    CHECK(sgr(rgb, {Depth::full, false}) == "\x1b[0;38;2;255;0;0m");
    CHECK(sgr(rgb, {Depth::many, false}) == "\x1b[0;38;5;196m");
    CHECK(sgr(rgb, {Depth::sixteen, false}) == "\x1b[0;91m");
    CHECK(sgr({}, {Depth::full, false}) == "\x1b[m");

    struct Case { Terminal terminal; Palette palette; };
    auto c = GENERATE(values<Case>({
        {{"xterm-256color", "", "", ""}, {Depth::many, false}}, {{"xterm-256color", "truecolor", "", ""}, {Depth::full, false}}, {{"linux", "", "", ""}, {Depth::sixteen, false}},
        {{"xterm-256color", "truecolor", "1", ""}, {Depth::none, false}}, {{"dumb", "", "", ""}, {Depth::none, false}}, {{"", "", "", ""}, {Depth::none, false}}, {{"vt220", "", "", ""}, {Depth::none, false}},
        {{"rxvt", "", "", "0;15"}, {Depth::sixteen, true}}, {{"rxvt", "", "", "15;0"}, {Depth::sixteen, false}}, {{"rxvt", "", "", "0;default;15"}, {Depth::sixteen, true}}, {{"rxvt", "", "", "x;y"}, {Depth::sixteen, false}},
    }));
    CHECK(palette_for(c.terminal) == c.palette);
}

TEST_CASE("view: a terminal without colours or UTF-8")
{
    Scene scene({20, 5}, {{}, Charset::ascii});
    scene.view.print(Line("● naïve", {.ink = Ink::warning}));
    scene.type("❯");
    auto bytes = scene.frame();
    CHECK(scene.all() == Rows{"* na?ve", "> >"});
    CHECK(bytes.find("[m") == std::string::npos);
    CHECK(std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0; }));
}

TEST_CASE("view: plain mode appends and moves nothing")
{
    View view(coloured, {40, 10}, true);
    Live live;
    live.input = {Line("> ")};
    live.cursor = Place{0, 2};
    std::string out = view.show(live);
    CHECK(out == "> ");
    CHECK(view.show(live) == "");
    view.forget();   // the person pressed Enter
    live.cursor.reset();
    live.status = {Line("working 1 s")};
    CHECK(view.show(live) == "");
    live.text = {Line("Two ")};
    CHECK(view.show(live) == "Two ");
    live.text = {Line("Two files")};
    CHECK(view.show(live) == "files");
    CHECK(view.show(live) == "");
    view.print(Line("Two files.", {.bold = true}));
    view.print(Line("next\x1b[A"));
    live.text.clear();
    CHECK(view.show(live) == ".\nnext^[[A\n");
    live.cursor = Place{0, 2};
    CHECK(view.show(live) == "> ");
    view.print(Line("an event"));
    CHECK(view.show(live) == "\nan event\n> ");
    CHECK(view.leave() == "\n");
}

TEST_CASE("view: leaving, and clearing the screen")
{
    Scene scene({20, 6});
    scene.view.print(Line("one"));
    scene.live.status = {Line("status")};
    scene.type("typed");
    scene.frame();
    scene.screen.feed(scene.view.clear_screen());
    scene.frame();
    CHECK(scene.screen.row(0) == "status");
    CHECK(scene.all().front() == "one");
    scene.view.print(Line("two"));
    scene.live.cursor.reset();
    scene.frame();
    CHECK_FALSE(scene.screen.cursor_visible());
    scene.screen.feed(scene.view.leave() + "$ ");
    CHECK(scene.screen.cursor_visible());
    CHECK(scene.all() == Rows{"one", "two", "$"});
    scene.screen.feed(row_begin({20, 6}));
    scene.screen.feed("x");
    CHECK(scene.all() == Rows{"one", "two", "$", "x"});
}

// A view that is drawn step by step shows what one that is drawn once shows, and what is finished is not touched.
TEST_CASE("view: random frames")
{
    std::mt19937 random(5);
    static constexpr std::string_view bits[] = {"word ", "a", "漢", "e\u0301", "\x1b[2J", "\x1b[A", "\r", "\n", "\t", "1234567890", " ", "\u202E", "\xFF", "\x1b[31m", "\x9b", "שלום", "\x1b]0;x\a", "—"};
    auto text = [&](unsigned most) {
        std::string out;
        for (auto n = random() % (most + 1); n > 0; --n) out += bits[random() % std::size(bits)];
        return out;
    };
    auto line = [&](unsigned most) {
        Line out;
        for (auto n = random() % 3 + 1; n > 0; --n) out.add(text(most), Style{.ink = static_cast<Ink>(random() % 4)});
        out.cut = random() % 4 == 0;
        return out;
    };
    auto lines = [&](unsigned count, unsigned most) {
        std::vector<Line> out;
        for (auto n = random() % (count + 1); n > 0; --n) out.push_back(line(most));
        return out;
    };
    for (int round = 0; round < 150; ++round) {
        Size size{static_cast<int>(random() % 40 + 8), static_cast<int>(random() % 10 + 2)};
        Scene scene(size);
        std::vector<Line> finished;
        std::size_t rows_above = 0;
        for (int step = 0; step < 30; ++step) {
            for (auto n = random() % 4; n > 2; --n) {
                finished.push_back(line(8));
                finished.back().cut = false;
                scene.view.print(finished.back());
            }
            if (random() % 2) scene.live.text = lines(4, 8);
            if (random() % 3 == 0) scene.live.status = lines(1, 5);
            if (random() % 2) scene.live.input = lines(3, 6);
            if (random() % 4 == 0) scene.live.below = lines(3, 3);
            scene.live.cursor.reset();
            if (!scene.live.input.empty() && random() % 4) {
                auto which = random() % scene.live.input.size();
                auto& words = scene.live.input[which].text;
                scene.live.cursor = Place{which, utf8_prefix(clean_utf8(words) == words ? words : "", random() % (words.size() + 1)).size()};
            }
            scene.frame();
            REQUIRE((scene.screen.touched() < 0 || scene.screen.touched() >= static_cast<long>(rows_above)));
            Scene once(size);
            for (auto& done : finished) once.view.print(done);
            once.live = scene.live;
            once.frame();
            REQUIRE(scene.all() == once.all());
            if (scene.live.cursor) REQUIRE(scene.cursor() == once.cursor());
            REQUIRE(scene.screen.cursor_visible() == scene.live.cursor.has_value());
            REQUIRE(scene.frame() == "");
            REQUIRE(scene.screen.title() == "");
            Scene above(size);
            for (auto& done : finished) above.view.print(done);
            above.frame();
            rows_above = static_cast<std::size_t>(above.screen.line_of_cursor());
        }
    }
}

TEST_CASE("view: random resizes touch nothing that is finished")
{
    std::mt19937 random(9);
    for (int round = 0; round < 200; ++round) {
        auto size = [&] { return Size{static_cast<int>(random() % 50 + 1), static_cast<int>(random() % 12 + 1)}; };
        auto now = size();
        Scene scene(now);
        for (int step = 0; step < 20; ++step) {
            if (random() % 3 == 0) scene.view.print(Line("final " + std::string(random() % 60, 'f')));
            scene.live.text.assign(random() % 4, Line("live " + std::string(random() % 80, 'l')));
            scene.type(std::string(random() % 30, 't'));
            scene.frame();
            auto first = scene.screen.line_of_cursor() - static_cast<long>(scene.view.cursor_row());
            now = random() % 2 ? Size{size().columns, now.rows} : Size{now.columns, size().rows};
            scene.resize(now.columns, now.rows);
            scene.frame();
            // Live rows that a lower screen has pushed up stay there, as finished ones do.
            REQUIRE((scene.screen.touched() < 0 || scene.screen.touched() >= first));
            REQUIRE(scene.frame() == "");
        }
    }
}

TEST_CASE("view: frames have a pace, and no frame is due when nothing is new")
{
    using namespace std::chrono_literals;
    Pace pace;
    auto now = Clock::time_point{} + 1h;
    CHECK_FALSE(pace.due());
    CHECK_FALSE(pace.take(now));
    pace.want(now);
    CHECK(pace.due() == now);
    CHECK(pace.take(now));
    CHECK_FALSE(pace.due());
    pace.want(now + 1ms);
    pace.want(now + 2ms);
    CHECK(pace.due() == now + Pace::interval);
    CHECK_FALSE(pace.take(now + 10ms));
    CHECK(pace.take(now + 17ms));
    int frames = 0;
    for (auto t = now + 1s; t < now + 2s; t += 500us) {
        pace.want(t);
        frames += pace.take(t);
    }
    CHECK(frames <= 60);
    CHECK(frames >= 55);
}
