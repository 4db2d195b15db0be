// What differs between two texts.
#include "base/diff.h"

#include "base/text.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <random>

using namespace ik;
using namespace ik::test;

namespace {

// before with the hunks applied to it; each line that stays must be the one that is there.
std::string applied(const std::string& before, const std::vector<Hunk>& hunks)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < before.size();) {
        auto end = std::min(before.find('\n', at), before.size() - 1) + 1;
        lines.push_back(before.substr(at, end - at));
        at = end;
    }
    std::string out;
    std::size_t next = 0;
    for (auto& hunk : hunks) {
        for (auto begin = hunk.old_line - (hunk.old_count > 0); next < begin; ++next) out += lines.at(next);
        for (auto& line : hunk.lines) {
            auto whole = line.text + (line.ended ? "\n" : "");
            if (line.kind != DiffLine::Kind::added) CHECK(lines.at(next++) == whole);
            if (line.kind != DiffLine::Kind::removed) out += whole;
        }
    }
    for (; next < lines.size(); ++next) out += lines[next];
    return out;
}

}

TEST_CASE("diff: hunks as diff -u has them")
{
    CHECK(unified(diff("a\nb\nc\n", "a\nx\nc\n")) == "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    CHECK(unified(diff("", "a\nb\n")) == "@@ -0,0 +1,2 @@\n+a\n+b\n");
    CHECK(unified(diff("a\n", "")) == "@@ -1 +0,0 @@\n-a\n");
    CHECK(unified(diff("a", "a\n")) == "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    CHECK(diff("a\nb\n", "a\nb\n").empty());
    CHECK(diff("", "").empty());
    CHECK(unified(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\ny\n9\n", 1)) == "@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n@@ -7,3 +7,3 @@\n 7\n-8\n+y\n 9\n");
    CHECK(unified(diff("1\n2\n3\n", "1\n2\n2\n3\n", 0)) == "@@ -2,0 +3 @@\n+2\n");
}

TEST_CASE("diff: what it says of any two texts makes the one of the other, as short as diff does")
{
    Folder folder;
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
        auto text = [&] {
            std::string out;
            for (auto n = random() % 12; n > 0; --n) out += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
            return random() % 4 || out.empty() ? out : out.substr(0, out.size() - 1);
        };
        auto before = text(), after = text();
        auto hunks = diff(before, after, random() % 4);
        INFO(before << "---\n" << after << "---\n" << unified(hunks));
        CHECK(applied(before, hunks) == after);
        if (i >= 40)
            continue;
        folder.write("a", before);
        folder.write("b", after);
        auto changes = [](std::string_view out) {
            std::size_t n = 0;
            for (auto line : split(out, '\n')) n += line.starts_with('+') || line.starts_with('-');
            return n;
        };
        auto theirs = sh("diff -u --minimal a b | tail -n +3").out;
        CHECK(changes(unified(diff(before, after))) <= changes(theirs));
    }
}

TEST_CASE("diff: texts that differ everywhere are one block out and one in")
{
    std::string before, after;
    for (int i = 0; i < 20000; ++i) before += "a" + std::to_string(i) + "\n", after += "b" + std::to_string(i) + "\n";
    auto hunks = diff("same\n" + before, "same\n" + after);
    REQUIRE(hunks.size() == 1);
    CHECK(hunks[0].head() == "@@ -1,20001 +1,20001 @@");
    CHECK(applied("same\n" + before, hunks) == "same\n" + after);
}
