#include "applets/match.h"

#include "support/world.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

using namespace ik;

namespace {

std::string repeat(std::string_view text, int times)
{
    std::string out;
    while (times-- > 0)
        out += text;
    return out;
}

bool matches(const std::string& pattern, std::string_view line)
{
    auto matcher = Matcher::compile(pattern);
    INFO(pattern);
    REQUIRE(matcher);
    return matcher->matches(line);
}

std::string refused(const std::string& pattern)
{
    auto matcher = Matcher::compile(pattern);
    if (matcher)
        return "";
    CHECK(matcher.error().code == code::invalid_pattern);
    return matcher.error().message;
}

// Patterns that are often valid and often match.
class Patterns {
public:
    explicit Patterns(unsigned seed) : random_(seed) {}

    std::string next(int depth = 3)
    {
        static const char* const pieces[] = {"a", "b", "c", "a", "b", "c", "ab", "bca", ".", "|", "[ab]", "[^a]", "[]a]", "[a-c]", "[[:alpha:]]", "[[.a.]]", "[[=a=]b]", "\\w", "\\b", "\\<",
                                             "\\>", "\\.", "\\n", "^", "$", "}", "]", ")", "(", "[", "\\", "\xff", "[a\\]"};
        static const char* const repeats[] = {"*", "+", "?", "*", "{2,3}", "{2}", "{0,1}", "{0}", "{,2}", "{1,}", "{"};
        std::string out;
        for (auto n = 1 + pick(4); n > 0; --n) {
            if (depth > 0 && pick(4) == 0)
                out += "(" + next(depth - 1) + ")";
            else
                out += pieces[pick(pick(3) ? 9 : std::size(pieces))];
            if (pick(3) == 0)
                out += repeats[pick(pick(3) ? 4 : std::size(repeats))];
        }
        return out;
    }

    std::string text()
    {
        std::string out;
        for (auto lines = pick(12); lines > 0; --lines) {
            for (auto n = pick(10); n > 0; --n)
                out += "abcabcabd0\\. \xff\0"[pick(15)];
            out += '\n';
        }
        if (pick(2) && !out.empty())
            out.pop_back();
        return out;
    }

    // More like what people write: words and sets in a row, with something between them.
    std::string long_one()
    {
        static const char* const pieces[] = {"abc", "bd", "cab", "[ab]", "[a-c]", "[Aa]", "[^b]", "\\w", "[0-9]", "d", "B", "."};
        static const char* const joints[] = {"", "", "", "+", "*", "{2,}", "{3}", "?", "{1,2}", ".*", "[a-c]+", "++", "**", "?*"};
        std::string out;
        for (auto branches = pick(4) ? 1 : 1 + pick(11); branches > 0; --branches) {
            if (pick(12) == 0)
                out += pick(2) ? "^" : "\\<";
            bool group = pick(5) == 0;
            out += group ? "(" : "";
            for (auto n = 1 + pick(5); n > 0; --n)
                out += std::string(pieces[pick(std::size(pieces))]) + joints[pick(std::size(joints))];
            out += group ? pick(2) ? "|ca)" : "|ab|bc)+" : "";
            if (group && pick(3) == 0)
                out += "x?\\1";
            if (pick(12) == 0)
                out += pick(2) ? "$" : "\\b";
            out += branches > 1 ? "|" : "";
        }
        return out;
    }

    std::string long_text()
    {
        std::string out;
        for (auto lines = pick(9); lines > 0; --lines) {
            for (auto n = pick(pick(3) ? 12 : 90); n > 0; --n)
                out += "abcabcabcdABCD019x._ \xff\0"[pick(23)];
            out += '\n';
        }
        if (pick(2) && !out.empty())
            out.pop_back();
        return out;
    }

private:
    std::size_t pick(std::size_t below) { return random_() % below; }
    std::mt19937 random_;
};

using Lines = std::vector<std::pair<std::size_t, std::string>>;   // where, what

Lines line_by_line(const regex_t& regex, const std::string& text)
{
    Lines out;
    for (std::size_t at = 0; at < text.size();) {
        auto line = text.substr(at, text.find('\n', at) - at);
        regmatch_t bounds[1] = {{0, static_cast<regoff_t>(line.size())}};
        if (regexec(&regex, line.c_str(), 1, bounds, REG_STARTEND) == 0)
            out.emplace_back(at, line);
        at += line.size() + 1;
    }
    return out;
}

Lines found(Matcher& matcher, std::string_view text)
{
    Lines out;
    for (std::size_t at = 0; auto line = matcher.first(text.substr(at));) {
        auto start = static_cast<std::size_t>(line->data() - text.data());
        out.emplace_back(start, *line);
        at = std::min(text.size(), start + line->size() + 1);
    }
    return out;
}

}

// IKIGAI_PAIRS: more of them.
TEST_CASE("match: the same as regcomp and regexec line by line, thousands of patterns")
{
    auto* more = std::getenv("IKIGAI_PAIRS");
    const int pairs = more ? std::atoi(more) : 24000;
    const Width widths[] = {Width::one, Width::ssse3, Width::avx2};
    Patterns patterns(7);
    int compared = 0, invalid = 0;
    std::size_t lines = 0;
    for (int i = 0; i < pairs; ++i) {
        auto pattern = i % 2 ? patterns.next() : patterns.long_one();
        INFO(pattern);
        auto matcher = Matcher::compile(pattern, widths[i % 3]);
        regex_t regex;
        if (int failed = regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB)) {
            char why[256];
            regerror(failed, &regex, why, sizeof why);
            ++invalid;
            if (matcher || matcher.error().message != "Invalid pattern: " + std::string(why))
                FAIL_CHECK("accepted, or another message than " << why);
            continue;
        }
        ++compared;
        if (!matcher) {
            regfree(&regex);
            FAIL_CHECK(matcher.error().message);
            continue;
        }
        auto text = i % 2 ? patterns.text() : patterns.long_text();
        auto expected = line_by_line(regex, text);
        regfree(&regex);
        lines += expected.size();
        if (auto got = found(*matcher, text); got != expected)
            CHECK(got == expected);
        for (auto& [at, line] : expected)
            if (!matcher->matches(line))
                FAIL_CHECK("the line alone: " << line);
    }
    CHECK(compared > pairs * 8 / 10);
    CHECK(invalid > 100);
    CHECK(lines > static_cast<std::size_t>(compared));
}

TEST_CASE("match: each width of a scan finds what one byte at a time finds, wherever it stands")
{
    const char* patterns[] = {"needle", "[Nn][Ee][Ee]dle", "n", "ne", "[a-m]e[^x]dle|other", "zzz|needle|[0-9][0-9]7", "n.*eedle", "(n|N)e{2}d", "a|b|c|d|e|f|g|h|needle",
                              "one|two|three|four|five|six|seven|eight|nine|ten|needle", "[A-Z]{4,}[0-9]{3,}[a-z]+[0-9]", "a needle that is longer than a vector of thirty-two bytes"};
    std::mt19937 random(3);
    for (auto* pattern : patterns)
        for (std::size_t before = 0; before < 140; before += 1 + before / 70) {
            std::string text;
            for (std::size_t i = 0; i < before; ++i)
                text += "xyz .\nqw-"[random() % 9];
            text += pattern[0] == '[' && pattern[1] == 'A' ? "ABCDE0123q9" : before % 2 ? "a needle that is longer than a vector of thirty-two bytes" : "needle";
            text += std::string(before % 37, ' ');
            auto one = *Matcher::compile(pattern, Width::one);
            for (auto width : {Width::ssse3, Width::avx2}) {
                auto wide = *Matcher::compile(pattern, width);
                if (found(wide, text) != found(one, text))
                    FAIL_CHECK(pattern << " behind " << before << " bytes");
            }
        }
    for (std::size_t size = 0; size < 200; ++size)
        for (auto width : {Width::one, Width::ssse3, Width::avx2})
            if (newlines(repeat("\na\n", 70).substr(1, size), width) != newlines(repeat("\na\n", 70).substr(1, size), Width::one))
                FAIL_CHECK(size << " bytes");
    CHECK(newlines("\n\na", widest()) == 2);
}

TEST_CASE("match: an expression with more states than are kept")
{
    auto pattern = "(a|b)*a" + repeat("(a|b)", 16) + "[ab]c";
    auto matcher = *Matcher::compile(pattern);
    regex_t regex;
    REQUIRE(regcomp(&regex, pattern.c_str(), REG_EXTENDED) == 0);
    std::mt19937 random(5);
    std::string text;
    for (int i = 0; i < 60000; ++i)
        text += "abababababababababababababababc\n"[random() % 32];
    CHECK(found(matcher, text) == line_by_line(regex, text));
    regfree(&regex);
}

TEST_CASE("match: a repetition of repetitions is one")
{
    CHECK(matches("a" + repeat("*", 100000) + "b", "aab"));
    CHECK(matches("^a" + repeat("+", 100) + "$", "aaa"));
    CHECK(!matches("^a" + repeat("+", 100) + "$", ""));
    CHECK(matches("^a??$", "a"));
    CHECK(!matches("^a??$", "aa"));
    CHECK(matches("^a?+$", "aaa"));
    CHECK(matches("^a+?$", ""));
    CHECK(matches("a\\**", "a**"));
    CHECK(!matches("[*]*\\*$", "a"));
    CHECK(!matches("a*\xED$." + repeat("*", 117), "\xED."));   // within the time of a test
}

TEST_CASE("match: digits")
{
    CHECK(matches("\\d+", "a1"));
    CHECK(!matches("\\d", "abd"));
    CHECK(matches("^\\D$", "x"));
    CHECK(!matches("^\\D$", "5"));
    CHECK(matches("\\\\d", "a\\d"));       // an escaped backslash, then a d
    CHECK(!matches("\\\\d", "\\5"));
    CHECK(matches("\\\\\\d", "\\5"));
    CHECK(matches("[\\d]", "d"));          // inside brackets nothing is changed
    CHECK(matches("[\\d]", "\\"));
    CHECK(!matches("[\\d]", "5"));
    CHECK(matches("[]\\d]\\d", "]5"));
    CHECK(matches("[[:alpha:]\\d]\\d", "d5"));
    CHECK(matches("[^]]\\d", "a5"));
    CHECK(matches("(\\d{3})-\\d{4}", "555-1234"));
}

TEST_CASE("match: glibc's own operators")
{
    CHECK(matches("(.)\\1", "hello"));
    CHECK(!matches("(.)\\1", "helo"));
    CHECK(matches("(.)\\1+x", "aaax"));
    CHECK(matches("\\bfoo\\b", "a foo b"));
    CHECK(!matches("\\bfoo\\b", "afoob"));
    CHECK(matches("\\w+\\s\\W", "ab -"));
    CHECK(matches("", "anything"));
    CHECK(matches("", ""));
    CHECK(matches("^$", ""));
    CHECK(matches("a\\.b", "xa.bx"));
    CHECK(!matches("a\\.b", "axb"));
    CHECK(matches("b$", std::string_view("a\0b", 3)));      // NUL is a byte like others
    CHECK(!matches("a$", std::string_view("a\0b", 3)));
    CHECK(matches("[\xc3\xa9]", "\xc3x"));                  // bytes, as documented
    CHECK(!matches("a\nb", "a"));
}

TEST_CASE("match: what regcomp says is passed on")
{
    CHECK(refused("(") == "Invalid pattern: Unmatched ( or \\(");
    CHECK(refused("[a") == "Invalid pattern: Unmatched [, [^, [:, [., or [=");
    CHECK(refused("*") == "Invalid pattern: Invalid preceding regular expression");
    CHECK(refused("a{2,1}") == "Invalid pattern: Invalid content of \\{\\}");
    CHECK(refused("a{1") == "Invalid pattern: Unmatched \\{");
    CHECK(refused("\\") == "Invalid pattern: Trailing backslash");
    CHECK(refused("(a)\\2") == "Invalid pattern: Invalid back reference");
    CHECK(refused("[[:nope:]]") == "Invalid pattern: Invalid character class name");
    CHECK(refused(repeat("(", 900)) == "Invalid pattern: Unmatched ( or \\(");
}

TEST_CASE("match: what regcomp does not survive is refused")
{
    const std::string depth = "Invalid pattern: groups are nested more than 1,000 deep";
    const std::string many = "Invalid pattern: it has too many alternatives, repetitions or anchors";
    const std::string states = "Invalid pattern: its repetitions expand to more than 20,000 states";
    CHECK(refused(repeat("(", 1000000).substr(0, 200000)) == depth);
    CHECK(refused(repeat("(", 1001) + "a" + repeat(")", 1001)) == depth);
    CHECK(refused("a{1,255}{1,255}{1,255}") == many);
    CHECK(refused("a{20001}") == states);
    CHECK(refused("((a{255}){255}){255}") == states);
    CHECK(refused("(a|b|c|d|e|f|g|h){1000}") == many);
    CHECK(refused(repeat("(", 40) + "a" + repeat("+)", 40)) == many);
    CHECK(refused(repeat("(", 21) + "a" + repeat("|b)*", 21) + "$") == many);
    CHECK(refused(repeat("\\b", 15) + repeat("(", 5) + "a" + repeat("|b)*", 5)) == many);
    CHECK(refused(repeat("a?", 100000)) == many);
    CHECK(refused(repeat("a|", 100000)) == many);
    CHECK(refused(repeat("()", 100000)) == many);
    CHECK(refused(repeat("^", 4000)) == many);
    CHECK(refused(repeat("\\b", 50)) == many);
    CHECK(refused(repeat("\\ba?", 60)) == many);
    CHECK(refused("(\\b|a){30}") == many);
    CHECK(refused(repeat("ab.", 400000)) == "Invalid pattern: it is longer than 256 KB");
    CHECK(refused("(|)(\\1\\1)*").find("back-reference") != std::string::npos);
    CHECK(refused("a+(b.+|)+(\\1\\1)*").find("back-reference") != std::string::npos);
}

TEST_CASE("match: what is large but reasonable is not")
{
    CHECK(matches(repeat("(", 1000) + "a" + repeat(")", 1000), "a"));
    CHECK(matches("a{19999}", repeat("a", 20000)));
    CHECK(matches("(a|b|c){1000}", repeat("abc", 400)));
    CHECK(matches(repeat("ab.", 20000), repeat("abc", 20001)));
    CHECK(matches(repeat("x", 1 << 20), repeat("x", 1 << 20)));
    CHECK(!matches(repeat("x", 1 << 20), "x"));
    CHECK(matches("[" + repeat("abc", 80000) + "]", "b"));
    std::string words;
    for (int i = 0; i < 1000; ++i)
        words += "\\bword" + std::to_string(i) + "\\b|";
    CHECK(matches(words + "^last$", "a word999 here"));
}
