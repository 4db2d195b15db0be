#include "applets/walk.h"

#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <glob.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

Paths matched(std::string pattern, std::string path = "")
{
    auto paths = walk({.pattern = std::move(pattern), .path = std::move(path)});
    return paths ? *paths : Paths{"error: " + paths.error().message};
}

Paths libc(const std::string& pattern)
{
    glob_t found{};
    Paths out;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
        out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    // A pattern that ends in slashes is for folders, each shown with one: glob(3) also gives a file that is
    // named without wildcards, and two slashes now and then.
    if (pattern.ends_with('/')) {
        std::erase_if(out, [](auto& path) { return !path.ends_with('/'); });
        for (auto& path : out)
            while (path.size() > 1 && path.ends_with("//"))
                path.pop_back();
    }
    return out;
}

void plant(const Folder& folder)
{
    for (auto* name : {"f", "a/f", "a/b/f", "b/a/f", ".h/f", ".h/.g", "a/.h/f", "f.c", "a/f.c", "a/b/c/f.c", "ab/f.c", "[a/b]", "[a]/x", "*", "a/*", "a]",
                       "a\\b", "b/\\", "\\", "x y/f", "b/[/f", "ab/]", "-", "!", "^", "ab/a-c", "a/-/f", "\xff", "\xc3\xa9", "a/b/c/d.e.f"})
        folder.write(name, "1");
    fs::create_symlink("a", "l");
    fs::create_symlink("nowhere", "dead");
    fs::create_symlink("..", "a/up");
    fs::create_symlink("f", "lf");
}

}

TEST_CASE("walk: the same as glob(3), thousands of patterns over one tree")
{
    Folder folder;
    plant(folder);
    const char* pieces[] = {"a", "b", "c", "f", "*", "*", "?", "/", "/", "/", "//", ".", "..", "./", "../", "[", "]", "[a-c]", "[!a]", "[^b]", "[[:alpha:]]", "\\",
                            ".h", "-", "*.c", "\\*", "l", "up", "!", "[]a]", "a/b", "\xff", "h", "[a", "[.-]", "[[.a.]]", "[a-", "dead", "lf", "[[=a=]]", "\\/"};
    std::mt19937 random(1);
    std::size_t patterns = 0, with_results = 0;
    for (int i = 0; i < 12000; ++i) {
        std::string pattern;
        for (auto n = 1 + random() % 7; n > 0; --n)
            pattern += pieces[random() % std::size(pieces)];
        if (random() % 15 == 0)
            pattern = folder.path + "/" + pattern;
        // What is ours, or told apart below: **, and three slashes or escaped ones in a row.
        if (pattern.find("**") != pattern.npos || pattern.find("///") != pattern.npos || pattern.find("/\\/") != pattern.npos || pattern.find("\\//") != pattern.npos)
            continue;
        auto expected = libc(pattern);
        ++patterns;
        with_results += !expected.empty();
        if (auto got = matched(pattern); got != expected) {
            INFO(pattern);
            CHECK(got == expected);
        }
    }
    CHECK(patterns > 8000);
    CHECK(with_results > 1000);
}

TEST_CASE("walk: whatever the pattern, every path comes once and in byte order")
{
    Folder folder;
    plant(folder);
    const char* pieces[] = {"**", "**", "**", "*", "a", "f", "*.c", "b", ".", "?", ".h", "l", "[ab]"};
    std::mt19937 random(2);
    std::size_t with_results = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string pattern;
        for (auto n = 1 + random() % 4; n > 0; --n)
            pattern += std::string(pieces[random() % std::size(pieces)]) + (n > 1 || random() % 8 == 0 ? "/" : "");
        auto paths = matched(pattern, random() % 4 ? "" : ".");
        with_results += paths.size() > 1;
        if (std::ranges::adjacent_find(paths, std::greater_equal()) != paths.end()) {
            INFO(pattern);
            CHECK(paths == Paths());
        }
    }
    CHECK(with_results > 1000);
}

TEST_CASE("walk: the paths are told one after the other, until that is enough")
{
    Folder folder;
    plant(folder);
    auto all = matched("**");
    REQUIRE(all.size() > 10);
    Paths some;
    CHECK(walk({.pattern = "**"}, [&](const std::string& path) { return some.push_back(path), some.size() < 5; }));
    CHECK(some == Paths(all.begin(), all.begin() + 5));
}

TEST_CASE("walk: two asterisks")
{
    Folder folder;
    for (auto* name : {"top.c", "src/main.c", "src/base/fd.c", "src/base/fd.h", ".git/x.c", "src/.hidden/y.c", "src/.dot.c", "other/main.c"})
        folder.write(name, "");
    fs::create_symlink("src", "link");
    fs::create_symlink("..", "src/base/loop");

    CHECK(matched("**/*.c") == Paths{"other/main.c", "src/base/fd.c", "src/main.c", "top.c"});
    CHECK(matched("src/**/*.c") == Paths{"src/base/fd.c", "src/main.c"});
    CHECK(matched("src/**") == Paths{"src/base", "src/base/fd.c", "src/base/fd.h", "src/base/loop", "src/main.c"});
    CHECK(matched("src/**/**") == matched("src/**"));
    CHECK(matched("**/**/*.c") == matched("**/*.c"));
    CHECK(matched("src/**/") == Paths{"src/base/", "src/base/loop/"});
    CHECK(matched("**/base") == Paths{"src/base"});
    CHECK(matched("**/main.c") == Paths{"other/main.c", "src/main.c"});
    CHECK(matched("**/s*/**/fd.*") == Paths{"src/base/fd.c", "src/base/fd.h"});
    CHECK(matched("**/*/**/fd.c") == Paths{"link/base/fd.c", "src/base/fd.c", "src/base/loop/base/fd.c"});   // * follows a link, ** does not
    CHECK(matched("link/**/*.h") == Paths{"link/base/fd.h"});   // named, so entered
    CHECK(matched(".git/**") == Paths{".git/x.c"});
    CHECK(matched("**/.*.c") == Paths{"src/.dot.c"});
    CHECK(matched("**/.hidden/*") == Paths{"src/.hidden/y.c"});
    CHECK(matched("**//main.c") == Paths{"other/main.c", "src/main.c"});
    CHECK(matched("a**") == Paths{});
    CHECK(matched("s**c/*.c") == Paths{"src/main.c"});          // no whole component: one asterisk
    CHECK(matched("**", "src").size() == 5);
    CHECK(matched("**/*.h", "src") == Paths{"src/base/fd.h"});
    CHECK(matched("**/*.h", folder / "src/") == Paths{folder / "src/base/fd.h"});
    CHECK(matched(folder / "src/**/*.h") == Paths{folder / "src/base/fd.h"});
    CHECK(matched("**/../top.c") == Paths{"other/../top.c", "src/../top.c"});
}

TEST_CASE("walk: the path is taken literally")
{
    Folder folder;
    for (auto* name : {"a*b/x.c", "axb/y.c", "[d]/z.c", "w.c"})
        folder.write(name, "");
    CHECK(matched("*.c", "a*b") == Paths{"a*b/x.c"});
    CHECK(matched("*.c", "[d]/") == Paths{"[d]/z.c"});
    CHECK(matched("*.c", "[d]///") == Paths{"[d]/z.c"});
    CHECK(matched("*.c", ".") == Paths{"./w.c"});
    CHECK(matched("*.c", "") == Paths{"w.c"});
    CHECK(matched("/*.c", ".") == Paths{"./w.c"});
    CHECK(matched("*.c", "missing") == Paths{});
    CHECK(matched("*.c", "w.c") == Paths{});
    CHECK(matched("etc", "/") == Paths{"/etc"});
    CHECK(matched("/") == Paths{"/"});
    CHECK(matched("/etc/passwd") == Paths{"/etc/passwd"});
}

TEST_CASE("walk: the whole list is in byte order, each path once")
{
    Folder folder;
    for (auto* name : {"a/b", "a.c", "a-b", "A", "Z/x", "\xc3\xa9"})
        folder.write(name, "");
    CHECK(matched("**") == Paths{"A", "Z", "Z/x", "a", "a-b", "a.c", "a/b", "\xc3\xa9"});
    folder.write("a/c/d/e", "");
    CHECK(matched("**/*/**/*") == Paths{"Z/x", "a/b", "a/c", "a/c/d", "a/c/d/e"});
}

TEST_CASE("walk: regular files alone")
{
    Folder folder;
    folder.write("d/f", "");
    folder.write("f", "");
    fs::create_symlink("f", "link");
    REQUIRE(mkfifo("fifo", 0600) == 0);
    auto paths = walk({.pattern = "**", .regular_only = true});
    REQUIRE(paths);
    CHECK(*paths == Paths{"d/f", "f"});
}

TEST_CASE("walk: deeper than a path can say, and loops")
{
    Folder folder;
    int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; ++i) {
        REQUIRE(mkdirat(at, "d", 0755) == 0);
        int below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = below;
    }
    close(at);
    auto all = matched("**");
    CHECK(all.size() > 2000);
    CHECK(all.size() <= 2049);
    CHECK(matched("**/x").empty());
    fs::create_symlink(".", "self");
    CHECK(matched("self/self/self/s*") == Paths{"self/self/self/self"});
    CHECK(matched("s*/s*/s*") == Paths{"self/self/self"});
    fs::create_symlink("round", "round");
    CHECK(matched("round/*") == Paths{});
    // Too deep for the library's way to remove it.
    CHECK(sh("rm -rf d").status == 0);
}

TEST_CASE("walk: bad patterns")
{
    for (auto& pattern : {std::string(), std::string(4096, 'a'), std::string(1 << 20, '*')}) {
        auto paths = walk({.pattern = pattern});
        REQUIRE(!paths);
        CHECK(paths.error() == Error{code::invalid_pattern, "Invalid glob pattern"});
    }
    Folder folder;
    folder.write(std::string(255, 'a'), "");
    CHECK(matched(std::string(4095, 'a')) == Paths{});
    std::string stars;
    for (int i = 0; i < 2000; ++i)
        stars += "*a";
    CHECK(matched(stars + "b") == Paths{});
    std::string depths;
    for (int i = 0; i < 1300; ++i)
        depths += "**/";
    CHECK(matched(depths + "*").size() == 1);
}
