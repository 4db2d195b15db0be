#include "applets/match.h"

#include "support/world.h"

#include <catch2/catch.hpp>
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

Lines found(const Matcher& matcher, std::string_view text)
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

TEST_CASE("match: the same as regcomp and regexec line by line, thousands of patterns")
{
    Patterns patterns(7);
    std::size_t compared = 0, invalid = 0, lines = 0;
    for (int i = 0; i < 12000; ++i) {
        auto pattern = patterns.next();
        INFO(pattern);
        auto matcher = Matcher::compile(pattern);
        regex_t regex;
        if (int failed = regcomp(&regex, pattern.c_str(), REG_EXTENDED)) {
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
        auto text = patterns.text();
        auto expected = line_by_line(regex, text);
        regfree(&regex);
        lines += expected.size();
        if (auto got = found(*matcher, text); got != expected)
            CHECK(got == expected);
    }
    CHECK(compared > 5000);
    CHECK(invalid > 100);
    CHECK(lines > 5000);
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
    CHECK(refused("a" + repeat("*", 100000)) == many);
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
