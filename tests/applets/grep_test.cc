#include "support/world.h"

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

Json grep(std::string pattern, Json glob = nullptr, Json path = nullptr)
{
    return call("grep", object({{"pattern", std::move(pattern)}, {"glob", std::move(glob)}, {"path", std::move(path)}}));
}
Json found(std::string output, int count) { return object({{"output", std::move(output)}, {"count", count}}); }

}

TEST_CASE("grep: schema to the letter")
{
    CHECK(run({.argv = {tool("grep"), "--schema"}}).out ==
          R"json({"name":"grep","description":"Search for pattern in files using regular expressions","parameters":{"type":"object","properties":{"pattern":{"type":"string","description":"Regular expression pattern (POSIX extended)"},"glob":{"type":"string","description":"Glob pattern to filter files (e.g., '*.c')"},"path":{"type":"string","description":"Directory to search in (default: current directory)"}},"required":["pattern"]}})json");
}

TEST_CASE("grep: file, line, content")
{
    Folder folder;
    folder.write("src/main.c", "int x;\n// TODO: implement error handling\n");
    folder.write("src/util.c", "// TODO: optimize this");
    folder.write("src/util.h", "// TODO\n");
    folder.write("src/deep/more.c", "TODO\n");
    folder.write("top.c", "a\nTODO here\n");
    folder.write(".hidden", "TODO\n");
    CHECK(grep("TODO", "*.c", "src") == found("src/main.c:2: // TODO: implement error handling\nsrc/util.c:1: // TODO: optimize this", 2));
    CHECK(grep("TODO") == found("top.c:2: TODO here", 1));
    CHECK(grep("TODO", "", "") == found("top.c:2: TODO here", 1));
    CHECK(grep("TODO", nullptr, ".") == found("./top.c:2: TODO here", 1));
    CHECK(grep("TODO", nullptr, folder / "src/") == found(folder / "src/main.c:2: // TODO: implement error handling\n" + (folder / "src/util.c:1: // TODO: optimize this\n") + (folder / "src/util.h:1: // TODO"), 3));
    CHECK(grep("^TODO", "**/*.c") == found("src/deep/more.c:1: TODO\ntop.c:2: TODO here", 2) );
    CHECK(grep("TODO", ".h*") == found(".hidden:1: TODO", 1));
    CHECK(grep("nothing") == found("", 0));
    CHECK(grep("TODO", "*", "missing") == found("", 0));
    CHECK(run({.argv = {tool("grep")}, .input = R"({"pattern":"here"})"}).out == R"({"output":"top.c:2: TODO here","count":1})");
}

TEST_CASE("grep: lines are whole and numbered")
{
    Folder folder;
    folder.write("f", "\n\nx\r\nxx\n\nlast x");
    CHECK(grep("x") == found("f:3: x\r\nf:4: xx\nf:6: last x", 3));
    CHECK(grep("^$") == found("f:1: \nf:2: \nf:5: ", 3));
    CHECK(grep("") == found("f:1: \nf:2: \nf:3: x\r\nf:4: xx\nf:5: \nf:6: last x", 6));
    CHECK(grep("x\\r?$") == found("f:4: xx\nf:6: last x", 2));
    folder.write("f", "");
    CHECK(grep("") == found("", 0));
    std::string wide(700000, 'w');
    folder.write("f", "a\n" + wide + "x\nb\n" + wide + "y");
    CHECK(grep("wx|^b") == found("f:2: " + wide + "x\nf:3: b", 2));
    CHECK(grep("y") == found("f:4: " + wide + "y", 1));
}

TEST_CASE("grep: a line across every border of the buffer")
{
    Folder folder;
    std::string text, expected;
    int lines = 0;
    for (int i = 1; text.size() < 1 << 20; ++i) {
        auto line = std::string(static_cast<std::size_t>(i * 7919 % 211), '.') + (i % 50 ? "hay" : "needle");
        text += line + "\n";
        if (i % 50 == 0) {
            expected += (lines++ ? "\nf:" : "f:") + std::to_string(i) + ": " + line;
        }
    }
    folder.write("f", text);
    CHECK(grep("needle") == found(expected, lines));
    CHECK(grep("n[e]edle$") == found(expected, lines));
}

TEST_CASE("grep: regular files only")
{
    Folder folder;
    folder.write("file", "x\n");
    folder.write("folder/y", "x\n");
    fs::create_symlink("file", "link");
    fs::create_symlink("/dev/zero", "zero");
    fs::create_symlink("folder", "folder-link");
    REQUIRE(mkfifo("fifo", 0666) == 0);
    CHECK(grep("x") == found("file:1: x", 1));
    CHECK(grep("x", "link") == found("", 0));
    CHECK(grep("x", "fifo") == found("", 0));
    CHECK(grep("x", "zero") == found("", 0));
    CHECK(grep("x", "null", "/dev") == found("", 0));
    CHECK(grep("x", "folder") == found("", 0));
    CHECK(grep("x", "**") == found("file:1: x\nfolder/y:1: x", 2));
    CHECK(grep("x", "folder-link/*") == found("folder-link/y:1: x", 1));
    CHECK(*grep("^Name:", "status", "/proc/self").find("count") == Json(1));   // of no size, but regular
}

TEST_CASE("grep: binary files are named once")
{
    Folder folder;
    folder.write("late", std::string(8192, 'a') + std::string("\0\nx\nx\n", 6));
    folder.write("program", std::string("x\n\0x\nx\n", 7));
    folder.write("text", "x\n");
    CHECK(grep("^x") == found("late:2: x\nlate:3: x\nprogram: binary file matches\ntext:1: x", 4));
    CHECK(grep("none") == found("", 0));
    folder.write("late", std::string(8191, 'a') + std::string("\0\nx\n", 4));
    CHECK(grep("^x", "late") == found("late: binary file matches", 1));
}

TEST_CASE("grep: bytes")
{
    Folder folder;
    folder.write("caf\xc3\xa9 \xff", "na\xc3\xafve \xff|\n");
    folder.write("two\nlines", "x\n");
    CHECK(grep("na..ve") == found("caf\xc3\xa9 \uFFFD:1: na\xc3\xafve \uFFFD|", 1));
    CHECK(grep("na\xc3\xafve") == found("caf\xc3\xa9 \uFFFD:1: na\xc3\xafve \uFFFD|", 1));
    CHECK(grep("x") == found("two\nlines:1: x", 1));
}

// On one processor there is one thread.
TEST_CASE("grep: several threads say what one says, in its order")
{
    Folder folder;
    std::string expected;
    int lines = 0;
    for (int i = 1000; i < 1900; ++i) {
        auto path = "d" + std::to_string(i / 100) + "/f" + std::to_string(i);
        std::string text = std::string(static_cast<std::size_t>(i % 7), '\n');
        if (i % 3 == 0) {
            text += "number " + std::to_string(i) + "\nnone\nnumber again";
            expected += (lines ? "\n" : "") + path + ":" + std::to_string(i % 7 + 1) + ": number " + std::to_string(i) + "\n" + path + ":" + std::to_string(i % 7 + 3) + ": number again";
            lines += 2;
        }
        folder.write(path, text);
    }
    for (auto pattern : {"number", "nu[m]be.*", "(^| )number|again"})
        CHECK(grep(pattern, "**/*") == found(expected, lines));
    auto arguments = R"({"pattern":"n.*r","glob":"**/*"})";
    CHECK(sh("exec taskset -c $(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') " + tool("grep"), arguments).out == sh("exec " + tool("grep"), arguments).out);
    // Where no thread can be started, one does it all.
    if (!sanitized())
        CHECK(sh("ulimit -v 60000; exec " + tool("grep"), R"({"pattern":"number","glob":"**/*"})").out == found(expected, lines).dump());
}

TEST_CASE("grep: much from several threads, and a reader that goes")
{
    Folder folder;
    std::string line(1000, 'x'), text, expected;
    for (int i = 0; i < 200; ++i)
        text += line + "\n";
    for (int i = 100; i < 250; ++i)
        folder.write("f" + std::to_string(i), text);
    for (int i = 100; i < 250; ++i)
        for (int n = 1; n <= 200; ++n)
            expected += (expected.empty() ? "f" : "\nf") + std::to_string(i) + ":" + std::to_string(n) + ": " + line;
    CHECK(grep("x{10}") == found(expected, 150 * 200));
    auto ran = sh(tool("grep") + " | head -c 20", R"({"pattern":"x{10}"})");
    CHECK(ran.out == R"({"output":"f100:1: x)");
}

TEST_CASE("grep: a bad pattern is the one error")
{
    Folder folder;
    folder.write("f", "x\n");
    CHECK(run({.argv = {tool("grep")}, .input = R"json({"pattern":"("})json"}).out == R"json({"error":"Invalid pattern: Unmatched ( or \\(","error_code":"INVALID_PATTERN"})json");
    CHECK(run({.argv = {tool("grep")}, .input = R"json({"pattern":"("})json"}).status == 0);
    CHECK(grep("x", std::string(5000, 'a')) == found("", 0));
    for (auto pattern : {std::string(900000, '('), std::string("(|)(\\1\\1)*"), std::string("a{1,255}{1,255}{1,255}"), std::string(100000, '|')})
        CHECK(grep(pattern).text("error_code") == "INVALID_PATTERN");
}

TEST_CASE("grep: files that cannot be opened are skipped")
{
    Folder folder;
    folder.write("closed", "x\n", 0);
    folder.write("open", "x\n");
    folder.write("shut/f", "x\n");
    fs::permissions("shut", fs::perms(0));
    std::string as = is_root() ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    auto ran = sh("exec " + as + tool("grep"), R"({"pattern":"x","glob":"**"})");
    fs::permissions("shut", fs::perms(0755));
    CHECK(ran.out == R"({"output":"open:1: x","count":1})");
}

TEST_CASE("grep: a large file takes little memory")
{
    if (sanitized())
        return skip("a sanitizer needs more address space");
    Folder folder;
    folder.write("big", "");
    fs::resize_file("big", 300 << 20);   // one line of NUL
    auto ran = sh("ulimit -v 250000; exec " + tool("grep"), R"({"pattern":"x"})");
    CHECK(ran.out == R"({"output":"","count":0})");
    std::string text;
    for (int i = 0; i < 200000; ++i)
        text += "a line of no interest whatever, number " + std::to_string(i) + "\n";
    folder.write("big", text);
    ran = sh("ulimit -v 60000; exec " + tool("grep"), R"({"pattern":"number 199999"})");
    CHECK(ran.out.starts_with(R"({"output":"big:200000: a line)"));
}
