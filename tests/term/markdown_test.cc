#include "term/markdown.h"
#include "term/table.h"
#include "term/width.h"

#include <catch2/catch.hpp>

using namespace ik::term;

namespace {

std::string shown(const std::vector<Line>& lines)
{
    std::string out;
    for (auto& line : lines) out += line.text + "\n";
    return out;
}

// The text in pieces of so many bytes, looked at after each.
std::string streamed(std::string_view text, std::size_t piece, Markdown::Options options = {})
{
    Markdown markdown(options);
    std::string out;
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        markdown.feed(text.substr(0, piece));
        out += shown(markdown.take_final());
        markdown.live();
    }
    markdown.end();
    return out + shown(markdown.take_final());
}

std::string whole(std::string_view text, Markdown::Options options = {}) { return streamed(text, text.size() + 1, options); }

constexpr const char* document =
    "# A *heading* here\n\nA paragraph with **bold**, *italic*, `code`, ~~gone~~\nand a [link](https://example.com/x) on\ntwo lines.\n\n"
    "- one\n- two\n  - inner\n- three\n\n1. first\n2. second\n\n   with more\n\n> a quote\n> of two lines\n\n"
    "```sh\nif true; then # why\n  echo \"$HOME\"\n\nfi\n```\n\nafter\n\n| a | b |\n|---|--:|\n| x | 10 |\n| longer | 5 |\n\n---\n\n- [x] done\n- [ ] open\n";

constexpr const char* document_shown =
    "# A heading here\n\nA paragraph with bold, italic, code, gone and a link <https://example.com/x> on two lines.\n\n"
    "- one\n- two\n  - inner\n- three\n\n1. first\n2. second\n\n   with more\n\n│ a quote of two lines\n\n"
    "```sh\nif true; then # why\n  echo \"$HOME\"\n\nfi\n```\n\nafter\n\na      │  b\n───────┼───\nx      │ 10\nlonger │  5\n\n"
    "────────────────────────────────────────\n\n- [x] done\n- [ ] open\n";

Style style_of(const std::vector<Line>& lines, std::string_view word)
{
    for (auto& line : lines)
        for (auto& piece : line.pieces())
            if (piece.text.find(word) != piece.text.npos) return piece.style;
    FAIL("no such word: " << word);
    return {};
}

}

TEST_CASE("markdown: a document as a reader sees it")
{
    CHECK(whole(document) == document_shown);
}

TEST_CASE("markdown: it is the same however it comes in pieces")
{
    for (std::size_t piece : {1, 2, 3, 7, 50})
        CHECK(streamed(document, piece) == whole(document));
}

TEST_CASE("markdown: what is final is never said again, and what is not is live at once")
{
    Markdown markdown({});
    markdown.feed("First *par");
    CHECK(markdown.take_final().empty());
    CHECK(shown(markdown.live()) == "First *par\n");
    markdown.feed("agraph*.\n\nSecond");
    CHECK(markdown.take_final().empty());   // its line may still go on
    CHECK(shown(markdown.live()) == "First paragraph.\n\nSecond\n");
    markdown.feed("\n```c\nint a;\nint");
    CHECK(shown(markdown.take_final()) == "First paragraph.\n\nSecond\n\n```c\nint a;\n");
    CHECK(shown(markdown.live()) == "int\n");
    markdown.feed(" b;\n```\n- x\n- y\n");
    CHECK(shown(markdown.take_final()) == "int b;\n```\n\n- x\n");
    CHECK(shown(markdown.live()) == "- y\n");
}

TEST_CASE("markdown: a table waits for its last row")
{
    Markdown markdown({});
    markdown.feed("| a | b |\n|---|---|\n| 1 | 2 |\n");
    CHECK(markdown.take_final().empty());
    CHECK(shown(markdown.live()) == "a │ b\n──┼──\n1 │ 2\n");
    markdown.feed("| 100 | 2 |\n\nend\n");
    CHECK(shown(markdown.take_final()) == "a   │ b\n────┼──\n1   │ 2\n100 │ 2\n");
}

TEST_CASE("markdown: code is byte for byte, and says when it never ends")
{
    std::string code = "\tint  x = '\\'';  \n  if (a<b && *c) { _d_ **e** }\n\n    ~~~\n# no heading\n";
    CHECK(whole("```c\n" + code + "```\n") == "```c\n" + code + "```\n");
    CHECK(whole("~~~~\n```\n~~~\n~~~~") == "```\n```\n~~~\n```\n");
    CHECK(whole("```\nopen") == "```\nopen\n```\n");
    CHECK(whole("- item\n\n  ```py\n  x = 1\n  ```\n") == "- item\n\n  ```py\n  x = 1\n  ```\n");
}

TEST_CASE("markdown: a paragraph has no line ends but those that it asks for")
{
    std::string words;
    for (int i = 0; i < 100; ++i) words += "word\n";
    auto out = whole(words);
    CHECK(std::count(out.begin(), out.end(), '\n') == 1);
    CHECK(whole("one  \ntwo\\\nthree") == "one\ntwo\nthree\n");
}

TEST_CASE("markdown: how words are meant")
{
    Markdown markdown({});
    markdown.feed(document);
    markdown.end();
    auto lines = markdown.take_final();
    CHECK(style_of(lines, "heading") == Style{.ink = Ink::heading, .bold = true, .italic = true});
    CHECK(style_of(lines, "bold") == Style{.bold = true});
    CHECK(style_of(lines, "italic") == Style{.italic = true});
    CHECK(style_of(lines, "code") == Style{.ink = Ink::code});
    CHECK(style_of(lines, "gone") == Style{.strike = true});
    CHECK(style_of(lines, "link").ink == Ink::link);
    CHECK(style_of(lines, "https") == Style{.ink = Ink::faint});
    CHECK(style_of(lines, "if") == Style{.ink = Ink::keyword});
    CHECK(style_of(lines, "$HOME") == Style{.ink = Ink::string});
    CHECK(style_of(lines, "# why") == Style{.ink = Ink::comment});
}

TEST_CASE("markdown: ASCII where nothing can be drawn")
{
    CHECK(whole("> q\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", {.charset = Charset::ascii}) == "> q\n\na | b\n--+--\n1 | 2\n");
}

TEST_CASE("markdown: tables fit the width, down to a screen of 20 columns")
{
    std::string table = "| name | what it does |\n|---|---|\n| first | a long sentence that has to be wrapped |\n| second | unbreakablewordoverthewidth |\n";
    for (int columns : {80, 40, 30, 20}) {
        auto out = whole(table, {.columns = columns});
        INFO(out);
        std::size_t begin = 0;
        for (auto end = out.find('\n'); end != out.npos; begin = end + 1, end = out.find('\n', begin))
            CHECK(width(out.substr(begin, end - begin)) <= columns);
    }
    CHECK(whole(table, {.columns = 12}).starts_with("name: first\nwhat it does: a long"));
    CHECK(whole("| 漢字 | b |\n|---|---|\n| x | y |\n") == "漢字 │ b\n─────┼──\nx    │ y\n");
}

TEST_CASE("markdown: deep nesting and odd text neither crash nor vanish")
{
    for (std::string_view piece : {">", "- ", "*", "[", "`", "<b>", "(", "![", "| ", "1. "}) {
        std::string text;
        for (int i = 0; i < 2000; ++i) text += piece;
        CHECK_FALSE(whole(text + "x").empty());
    }
    CHECK(whole("<div>html</div>\n\n<b>x</b> &amp; y") == "<div>html</div>\n\n<b>x</b> & y\n");
    CHECK(whole("") == "");
    CHECK(whole("\n\n\n") == "");
    CHECK(whole("<https://a.example>") == "https://a.example\n");
}

TEST_CASE("highlight: every language marks its words, and loses no byte")
{
    struct Case { const char *language, *line, *word; Ink ink; };
    for (auto& [language, line, word, ink] : {
             Case{"bash", "for i in $(ls); do echo 'x'; done # all", "for", Ink::keyword}, {"sh", "a#b # c", "# c", Ink::comment},
             {"C++", "const int x = 42; // why", "const", Ink::keyword}, {"cpp", "x = 42;", "42", Ink::number}, {"c", "#include <a.h>", "#include", Ink::keyword},
             {"python", "def f(x): return \"s\"", "def", Ink::keyword}, {"json", R"({"a": true})", "true", Ink::keyword}, {"yaml", "  - key-name: 12", "key-name", Ink::keyword},
             {"go", "func main() {}", "func", Ink::keyword}, {"rust", "let mut x = 'a';", "mut", Ink::keyword}, {"js", "const x = `y`;", "`y`", Ink::string},
             {"sql", "SELECT * FROM t -- all", "SELECT", Ink::keyword}, {"Dockerfile", "FROM debian", "FROM", Ink::keyword}, {"nginx", "listen 80;", "listen", Ink::keyword},
             {"systemd", "ExecStart=/bin/true", "ExecStart", Ink::keyword}, {"diff", "+added", "+added", Ink::added}, {"diff", "-gone", "-gone", Ink::removed}}) {
        auto* known = language_named(language);
        REQUIRE(known);
        auto out = Highlighter(known).line(line);
        CHECK(out.text == line);
        bool marked = std::ranges::any_of(out.pieces(), [&](auto& piece) { return piece.text == word && piece.style.ink == ink; });
        INFO(language << ": " << word);
        CHECK(marked);
    }
    CHECK(language_named("klingon") == nullptr);
    CHECK(language_named("") == nullptr);
}

TEST_CASE("highlight: comments and strings go on over lines")
{
    Highlighter c(language_named("c"));
    c.line("int a; /* begins");
    CHECK(c.line("return") == Line("return", {.ink = Ink::comment}));
    auto line = c.line("ends */ return");
    CHECK(line.pieces().back().text == "return");
    CHECK(line.pieces().back().style == Style{.ink = Ink::keyword});
    Highlighter python(language_named("python"));
    python.line("x = \"\"\"doc");
    CHECK(python.line("def") == Line("def", {.ink = Ink::string}));
}
