// A command line taken apart.
#include "agent/shell_split.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

std::string shown(const ShellWord& word) { return word.text + (word.known ? "" : word.splits ? "…" : "*"); }

// [assignments] words redirections; …
std::string shown(std::string_view line)
{
    auto split = split_shell(line);
    std::string out = split.unclear.empty() ? "" : "unclear: " + split.unclear + "; ";
    for (auto& command : split.commands) {
        std::string one;
        for (auto& assignment : command.assignments) one += "[" + assignment.name + "=" + shown(assignment.value) + "] ";
        for (auto& word : command.words) one += "<" + shown(word) + "> ";
        for (auto& redirection : command.redirections) one += redirection.descriptor + redirection.operation + "(" + shown(redirection.target) + ") ";
        out += one.substr(0, one.size() - 1) + "; ";
    }
    return out.substr(0, out.empty() ? 0 : out.size() - 2);
}

}

TEST_CASE("shell_split: words, assignments and redirections")
{
    CHECK(shown("git log -p") == "<git> <log> <-p>");
    CHECK(shown("A=1 B='x y' c \"d e\" f\\ g") == "[A=1] [B=x y] <c> <d e> <f g>");
    CHECK(shown("A=$x c") == "[A=…] <c>");
    CHECK(shown("c 2>&1 >out <in >>x") == "<c> 2>&(1) >(out) <(in) >>(x)");
    CHECK(shown("c a$x \"b$x\" src/* ~/x") == "<c> <a…> <b*> <src/*> <*>");
    CHECK(shown("c \"\" '' \"\"\"$x\"") == "<c> <> <> <*>");
    CHECK(shown("c 2 >x") == "<c> <2> >(x)");
    CHECK(shown("c '2'>x") == "<c> <2> >(x)");
}

TEST_CASE("shell_split: every command of a line, wherever it stands")
{
    CHECK(shown("a; b & c && d || e | f\ng") == "<a>; <b>; <c>; <d>; <e>; <f>; <g>");
    CHECK(shown("a $(b `c`)") == "<c>; <b> <…>; <a> <…>");
    CHECK(shown("(a; (b)) >x") == "<a>; <b>; >(x)");
    CHECK(shown("if a; then b; elif c; then d; else e; fi") == "<a>; <b>; <c>; <d>; <e>");
    CHECK(shown("for i in 1 2; do a $i; done") == "[i=*] <1> <2>; <a> <…>");
    CHECK(shown("case $x in a|b) c;; *) d; esac; e") == "<c>; <d>; <e>");
    CHECK(shown("a <<X; b\n$(c)\nX\nd") == "<a> <<(X); <b>; <c>; <d>");
    CHECK(shown("a <<'X'\n$(c)\nX") == "<a> <<(X)");
    CHECK(shown("a # b\nc") == "<a>; <c>");
    CHECK(shown("") == "");
}

TEST_CASE("shell_split: what cannot be taken apart says why, with what was seen")
{
    CHECK(shown("rm x; [[ a ]]") == "unclear: [[ where a command must be; <rm> <x>");
    CHECK(shown("a 'b") == "unclear: a quote without its end");
    CHECK(shown("a\u200bb") == "unclear: an invisible character, or a blank that is none");
    CHECK(shown(std::string("a\0b", 3)) == "unclear: a control character");
    CHECK(shown("a\xff") == "unclear: bytes that are not UTF-8");
    CHECK(shown("a <<X\nb") == "unclear: a here-document without its end; <a> <<(X)");
}

TEST_CASE("shell_split: nothing is too deep or too long")
{
    auto repeated = [](std::string_view what, std::size_t times) {
        std::string out;
        while (times-- > 0) out += what;
        return out;
    };
    for (auto* what : {"(", "( ", "$(", "`", "{ ", "if ", "\"$(", "! ", "a;", "a|", "'", "\\", "<<E ", "case x in x) ", "${", "$((", "a ", "\n", "for i in a; do "}) {
        auto deep = repeated(what, 100'000 / std::string_view(what).size() / 2);
        INFO(what);
        auto split = split_shell(deep);
        CHECK(split.commands.size() <= 2000);
        bool even = std::string_view("`'\\").find(what) != std::string_view::npos;   // pairs of them are words
        if (!even && std::string_view(what) != "a " && std::string_view(what) != "\n") CHECK(!split.unclear.empty());
        CHECK(!split_shell(repeated(what, 100'000)).unclear.empty());
    }
    CHECK(split_shell(repeated("( ", 30) + "a" + repeated(" )", 30)).unclear == "");
    CHECK(split_shell(repeated("( ", 50) + "a" + repeated(" )", 50)).unclear == "nested too deep");
}
