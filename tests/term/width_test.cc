// Widths and clusters, as a terminal of today shows them.
#include "term/width.h"

#include "base/text.h"

#include <catch2/catch.hpp>
#include <random>

using namespace ik;
using namespace ik::term;

namespace {

std::string shown(std::string_view text, Charset charset = Charset::utf8)
{
    std::string out;
    int column = 0;
    while (!text.empty()) {
        auto cluster = first_cluster(text, column, charset);
        if (cluster.as_it_is) out += text.substr(0, cluster.size);
        else append_shown(out, text.substr(0, cluster.size), column, charset);
        column += cluster.width;
        text.remove_prefix(cluster.size);
    }
    return out;
}

std::vector<std::string> rows(std::string_view text, int columns)
{
    auto starts = wrap(text, columns);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < starts.size(); ++i)
        out.emplace_back(text.substr(starts[i], (i + 1 < starts.size() ? starts[i + 1] : text.size()) - starts[i]));
    return out;
}

using Rows = std::vector<std::string>;

}

TEST_CASE("width: one cluster and its columns")
{
    struct Case { std::string_view text; int width; };
    auto c = GENERATE(values<Case>({
        {"a", 1}, {"é", 1}, {"e\u0301", 1}, {"漢", 2}, {"が", 2}, {"か\u3099", 2}, {"한", 2}, {"\u1112\u1161\u11AB", 2}, {"Ａ", 2},
        {"😀", 2}, {"👍🏽", 2}, {"👨‍👩‍👧‍👦", 2}, {"❤️", 2}, {"❤", 1}, {"1️⃣", 2}, {"🇩🇪", 2}, {"🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2}, {"🏳️‍🌈", 2}, {"⚠", 1}, {"❯", 1}, {"…", 1},
        {"\u200B", 0}, {"\u0301", 1}, {"\uE0B0", 1}, {"\x01", 2}, {"\x1b", 2}, {"\x7f", 2}, {"\u009B", 4}, {"\xFF", 1}, {"\xC3", 1}, {"\u202E", 8},
    }));
    INFO(c.text);
    auto cluster = first_cluster(c.text);
    CHECK(cluster.size == c.text.size());
    CHECK(cluster.width == c.width);
    CHECK(width(c.text) == c.width);
    CHECK(next_border(c.text, 0) == c.text.size());
    CHECK(previous_border("x" + std::string(c.text), 1 + c.text.size()) == (c.text == "\u0301" ? 0u : 1u));
}

TEST_CASE("width: what may not be sent is shown")
{
    CHECK(shown("a\x1b[31mb\x07\u009B") == "a^[[31mb^G\\x9b");
    CHECK(shown("abc\u202Ecba\u2066") == "abc<U+202E>cba<U+2066>");
    CHECK(shown("\u0301a") == "\u25CC\u0301a");
    CHECK(shown("a\xFF\xC3") == "a\uFFFD\uFFFD");
    CHECK(shown("a\tb") == "a       b");
    CHECK(shown("hi\U000E0041\U000E0042") == "hi<U+E0041><U+E0042>");
    CHECK(shown(std::string_view("a\0b", 3)) == "a^@b");
    CHECK(shown("❯ naïve 漢字 → “x”… 😀 e\u0301", Charset::ascii) == "> na?ve ?? -> \"x\"... ? e");
}

TEST_CASE("width: borders go back as they went forward")
{
    const std::string text = "a👨‍👩‍👧‍👦e\u0301漢\r\n🇩🇪🇫🇷x\xFFy👍🏽\u200B한글";
    std::vector<std::size_t> borders{0};
    while (borders.back() < text.size()) borders.push_back(next_border(text, borders.back()));
    for (std::size_t i = borders.size(); --i > 0;)
        CHECK(previous_border(text, borders[i]) == borders[i - 1]);
    CHECK(previous_border(text, 0) == 0);
    CHECK(next_border(text, text.size()) == text.size());
}

TEST_CASE("width: rows of a text")
{
    CHECK(rows("", 10) == Rows{""});
    CHECK(rows("1234567890", 10) == Rows{"1234567890"});
    CHECK(rows("12345678901", 10) == Rows{"1234567890", "1"});
    CHECK(rows("123漢字", 4) == Rows{"123", "漢字"});      // a wide character does not hang over the edge
    CHECK(rows("漢漢漢", 4) == Rows{"漢漢", "漢"});
    CHECK(rows("漢漢", 1) == Rows{"漢", "漢"});            // a screen that is too narrow for it
    CHECK(rows("ab👨‍👩‍👧‍👦cd", 3) == Rows{"ab", "👨‍👩‍👧‍👦c", "d"});
    CHECK(rows("a\tb", 8) == Rows{"a\t", "b"});
    CHECK(rows("abcdefg\t\tb", 10) == Rows{"abcdefg\t\t", "b"});
    CHECK(fitting("123漢字", 4) == "123");
    CHECK(fitting("123漢字", 5) == "123漢");
}

TEST_CASE("width: any bytes are taken apart and end")
{
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        std::string bytes(random() % 300, ' ');
        for (auto& b : bytes) b = static_cast<char>(random() % 4 ? random() : 0xCC);
        std::size_t at = 0, steps = 0;
        while (at < bytes.size()) {
            auto cluster = first_cluster(std::string_view(bytes).substr(at));
            REQUIRE(cluster.size > 0);
            REQUIRE(cluster.size <= 160);
            at += cluster.size;
            ++steps;
        }
        REQUIRE(at == bytes.size());
        auto clean = shown(bytes);
        CHECK(valid_utf8(clean));
        CHECK(std::none_of(clean.begin(), clean.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; }));
        CHECK(shown(bytes, Charset::ascii).find_first_of("\x80\xFF\x1b") == std::string::npos);
        for (int columns : {1, 2, 20, 80}) {
            auto starts = wrap(bytes, columns);
            CHECK(starts.size() <= steps + 1);
        }
    }
}

TEST_CASE("width: the short way gives what the long way gives")
{
    for (std::int32_t c = 0x80; c < 0x11000; ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;
        std::string text;
        if (c < 0x800) text = {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
        else if (c < 0x10000) text = {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
        else text = {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)), static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
        auto alone = first_cluster(text), before_rare = first_cluster(text + "\u2500");   // which is not among the common ones
        if (alone.size != before_rare.size) continue;   // one that takes what follows
        REQUIRE(alone.width == before_rare.width);
        REQUIRE(alone.as_it_is == before_rare.as_it_is);
    }
}

TEST_CASE("width: what a locale says of the terminal")
{
    CHECK(charset_for("", "", "") == Charset::utf8);
    CHECK(charset_for("", "", "de_DE.UTF-8") == Charset::utf8);
    CHECK(charset_for("", "C.utf8", "C") == Charset::utf8);
    CHECK(charset_for("C", "", "de_DE.UTF-8") == Charset::ascii);
    CHECK(charset_for("", "", "POSIX") == Charset::ascii);
    CHECK(charset_for("", "", "de_DE@euro") == Charset::ascii);
}
