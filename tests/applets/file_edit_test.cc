#include "support/world.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

Json edit(const std::string& path, std::string from, std::string to) { return call("file-edit", object({{"file_path", path}, {"old_string", std::move(from)}, {"new_string", std::move(to)}})); }
Json edit_all(const std::string& path, std::string from, std::string to)
{
    return call("file-edit", object({{"file_path", path}, {"old_string", std::move(from)}, {"new_string", std::move(to)}, {"replace_all", true}}));
}
Json replaced(int count, const std::string& name)
{
    return object({{"output", "Replaced " + std::to_string(count) + (count == 1 ? " occurrence in " : " occurrences in ") + name}, {"replacements", count}});
}
Json refusal(std::string message, std::string_view code) { return object({{"error", std::move(message)}, {"error_code", code}}); }

// The hint for what is not found in a file with this content.
std::string hint(const std::string& content, const std::string& old)
{
    Folder folder;
    folder.write("a", content);
    auto answer = edit("a", old, "\x01");
    CHECK(answer.text("error") == "String not found in file");
    CHECK(answer.text("error_code") == "NOT_FOUND");
    CHECK(folder.read("a") == content);
    return std::string(answer.text("hint"));
}

}

TEST_CASE("file_edit: schema to the letter")
{
    CHECK(run({.argv = {tool("file-edit"), "--schema"}}).out ==
          R"~({"name":"file_edit","description":"Edit a file by replacing exact text matches. You must read the file before editing.","parameters":{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute or relative path to file"},"old_string":{"type":"string","description":"Exact text to find and replace"},"new_string":{"type":"string","description":"Text to replace old_string with"},"replace_all":{"type":"boolean","description":"Replace all occurrences (default: false, fails if not unique)"}},"required":["file_path","old_string","new_string"]}})~");
}

TEST_CASE("file_edit: one match")
{
    Folder folder;
    folder.write("config.txt", "a = 1\ndebug = false\nb = 2");
    CHECK(edit("config.txt", "debug = false", "debug = true") == replaced(1, "config.txt"));
    CHECK(folder.read("config.txt") == "a = 1\ndebug = true\nb = 2");
    CHECK(edit(folder / "config.txt", "debug = true\n", "") == replaced(1, "config.txt"));
    CHECK(folder.read("config.txt") == "a = 1\nb = 2");
    CHECK(edit("config.txt", "a = 1\nb = 2", "x") == replaced(1, "config.txt"));
    CHECK(edit("config.txt", "x", "") == replaced(1, "config.txt"));
    CHECK(folder.read("config.txt").empty());
}

TEST_CASE("file_edit: all matches, from the left, not overlapping")
{
    Folder folder;
    folder.write("a", "aaaaa-aa");
    CHECK(edit_all("a", "aa", "b") == replaced(3, "a"));
    CHECK(folder.read("a") == "bba-b");
    CHECK(edit_all("a", "a", "aa") == replaced(1, "a"));
    CHECK(folder.read("a") == "bbaa-b");
}

TEST_CASE("file_edit: nothing to replace leaves the file untouched")
{
    Folder folder;
    folder.write("a", "text", 0444);
    struct stat before {}, after {};
    stat("a", &before);
    CHECK(edit_all("a", "none", "x") == replaced(0, "a"));
    stat("a", &after);
    CHECK(after.st_ino == before.st_ino);
    CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
}

TEST_CASE("file_edit: any bytes stay as they are")
{
    Folder folder;
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    folder.write("a", all + "é" + all);
    CHECK(edit("a", "é", std::string("\0\r\n", 3)) == replaced(1, "a"));
    CHECK(folder.read("a") == all + std::string("\0\r\n", 3) + all);
    CHECK(edit("a", std::string("\0\r\n", 3), "|") == replaced(1, "a"));
    CHECK(folder.read("a") == all + "|" + all);
}

TEST_CASE("file_edit: matches across the pieces in which a file is read")
{
    Folder folder;
    std::string text, expected, needle = "needle in the hay";
    int count = 0;
    for (; text.size() < 900'000; ++count) {
        auto between = std::string(static_cast<std::size_t>(count % 97), 'n');
        text += between + needle;
        expected += between + "pin";
    }
    folder.write("a", text);
    CHECK(edit_all("a", needle, "pin") == replaced(count, "a"));
    CHECK(folder.read("a") == expected);
}

TEST_CASE("file_edit: long texts")
{
    Folder folder;
    std::string large(1'000'000, 'x');
    folder.write("a", "before" + large + "after" + large);
    CHECK(edit_all("a", large, "-") == replaced(2, "a"));
    CHECK(folder.read("a") == "before-after-");
    CHECK(edit("a", "-after-", large) == replaced(1, "a"));
    CHECK(folder.read("a") == "before" + large);
}

TEST_CASE("file_edit: arguments are checked before the file")
{
    CHECK(edit("/no/such", "", "x") == refusal("old_string cannot be empty", "INVALID_ARG"));
    CHECK(edit("/no/such", "", "") == refusal("old_string cannot be empty", "INVALID_ARG"));
    CHECK(edit("/no/such", "x", "x") == refusal("old_string and new_string are identical", "INVALID_ARG"));
    CHECK(run({.argv = {tool("file-edit")}, .input = R"({"file_path":"a","old_string":"","new_string":"x"})"}).status == 0);
}

TEST_CASE("file_edit: errors")
{
    Folder folder;
    folder.write("a", "one two one two one");
    REQUIRE(mkfifo("fifo", 0644) == 0);
    CHECK(edit("none", "x", "y") == refusal("File not found: none", "FILE_NOT_FOUND"));
    CHECK(edit("a/x", "x", "y") == refusal("Cannot open file: a/x", "OPEN_FAILED"));
    CHECK(edit(".", "x", "y") == refusal("Failed to read file: .", "READ_FAILED"));
    CHECK(edit("fifo", "x", "y") == refusal("Failed to read file: fifo", "READ_FAILED"));
    CHECK(edit("/dev/zero", "x", "y") == refusal("Failed to read file: /dev/zero", "READ_FAILED"));
    CHECK(edit("a", "three", "y") == refusal("String not found in file", "NOT_FOUND"));
    CHECK(edit("a", "one", "y") == refusal("String found 3 times, use replace_all to replace all", "NOT_UNIQUE"));
    CHECK(edit("a", "two", "y") == refusal("String found 2 times, use replace_all to replace all", "NOT_UNIQUE"));
    CHECK(folder.read("a") == "one two one two one");
}

TEST_CASE("file_edit: permission denied")
{
    Folder folder;
    folder.write("unreadable", "text", 0);
    folder.write("read-only", "text", 0444);
    std::filesystem::copy_file(ikigai(), "file-edit");
    chmod(".", 0777);
    std::string user = is_root() ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    for (std::string path : {"unreadable", "read-only"}) {
        auto ran = sh(user + "./file-edit", object({{"file_path", path}, {"old_string", "text"}, {"new_string", "x"}}).dump());
        CHECK(ran.out == refusal("Permission denied: " + path, "PERMISSION_DENIED").dump());
        chmod(path.c_str(), 0644);
        CHECK(folder.read(path) == "text");
    }
}

TEST_CASE("file_edit: what a file keeps, and links")
{
    Folder folder;
    folder.write("a", "old", 0751);
    symlink("a", "link");
    folder.write("b", "old");
    std::filesystem::create_hard_link("b", "c");
    CHECK(edit("link", "old", "new") == replaced(1, "link"));
    CHECK(std::filesystem::is_symlink("link"));
    CHECK(folder.read("a") == "new");
    struct stat info {};
    stat("a", &info);
    CHECK((info.st_mode & 0777) == 0751);
    CHECK(edit("b", "old", "new") == replaced(1, "b"));
    CHECK(folder.read("c") == "new");
}

TEST_CASE("file_edit: a limit on file sizes, and a full disk, leave the old content")
{
    Folder folder;
    std::string text(100'000, 'x');
    folder.write("a", text);
    auto ran = sh("ulimit -f 8; exec " + tool("file-edit"), R"({"file_path":"a","old_string":"x","new_string":"y","replace_all":true})");
    CHECK(ran.out == refusal("Failed to write file: a", "WRITE_FAILED").dump());
    CHECK(folder.read("a") == text);
    if (sh("strace -o /dev/null true").status != 0)
        return skip("strace cannot trace here: no full disk");
    ran = sh("strace -o /dev/null -e inject=fsync:error=ENOSPC " + tool("file-edit"), R"({"file_path":"a","old_string":"x","new_string":"y","replace_all":true})");
    CHECK(ran.out == refusal("No space left on device: a", "NO_SPACE").dump());
    CHECK(folder.read("a") == text);
    CHECK(std::distance(std::filesystem::directory_iterator("."), {}) == 1);
}

TEST_CASE("file_edit: another's change is not lost")
{
    if (sh("strace -o /dev/null true").status != 0)
        return skip("strace cannot trace here");
    Folder folder;
    folder.write("a", "old");
    // The tool is stopped when it has searched the file and begins to replace it.
    auto ran = sh("exec 4<&0; strace -D -o trace -e trace=faccessat -e inject=faccessat:signal=SIGSTOP " + tool("file-edit") + " <&4 & pid=$!; "
                  "until grep -q 'stopped by SIGSTOP' trace; do :; done 2>/dev/null; echo theirs >a; kill -CONT $pid; wait $pid",
                  R"({"file_path":"a","old_string":"old","new_string":"new"})");
    CHECK(ran.out == R"({"error":"Failed to write file: a","error_code":"WRITE_FAILED","hint":"the file was changed by somebody else meanwhile; nothing was written"})");
    CHECK(folder.read("a") == "theirs\n");
    CHECK(std::distance(std::filesystem::directory_iterator("."), {}) == 2);
}

TEST_CASE("file_edit: hints")
{
    CHECK(hint("a\r\nb\r\n", "a\nb") == "the file has CRLF line ends");
    CHECK(hint("x\n\tif (a) {\n", "    if (a) {") == "line 2 differs only in white space (tabs for spaces)");
    CHECK(hint("x\n    if (a) {\n", "\tif (a) {") == "line 2 differs only in white space (spaces for tabs)");
    CHECK(hint("x\n  if (a) {\n", "    if (a) {") == "line 2 differs only in white space (its indentation)");
    CHECK(hint("a\nb  \nc\n", "a\nb\nc\n") == "line 2 differs only in white space (at its end)");
    CHECK(hint("int  x;\n", "int x;") == "line 1 differs only in white space");
    CHECK(hint("a\n\tb\n\tc\n", "a\n\tb\n    c\n") == "line 3 differs only in white space (tabs for spaces)");
    CHECK(hint("a\nfoo(b, c)\n", "foo(b,c)") == "line 2 differs only in white space");
    CHECK(hint("\n\nHello World\n", "hello world") == "found with a different case at line 3");
    CHECK(hint(std::string(1'000'000, '\n') + "Hello World\n", "hello world") == "found with a different case at line 1000001");
    CHECK(hint(std::string(1'000'000, '\n') + "\thello", "  hello") == "line 1000001 differs only in white space (tabs for spaces)");
    CHECK(hint("a\nb\n", "z").empty());
    CHECK(hint("a b\n", "   ").empty());
    CHECK(hint("", "x").empty());
}

TEST_CASE("file_edit: little memory for a large file")
{
    if (sanitized())
        return skip("sanitizers take memory of their own");
    Folder folder;
    REQUIRE(sh("truncate -s 100M a; echo needle >>a; truncate -s 200M a").status == 0);
    // 12 MB for all that is not the program itself, and no mapping that could grow instead.
    auto ran = sh("ulimit -d 12288; exec " + tool("file-edit"), R"({"file_path":"a","old_string":"needle","new_string":"pin"})");
    CHECK(ran.out == replaced(1, "a").dump());
    CHECK(std::filesystem::file_size("a") == (200u << 20) - 3);
    CHECK(sh("head -c 104857604 a | tail -c 6 | tr '\\0' .").out == "..pin\n");
    ran = sh("ulimit -d 12288; exec " + tool("file-edit"), R"({"file_path":"a","old_string":"Pin ","new_string":"x"})");
    CHECK(ran.out.find("NOT_FOUND") != std::string::npos);
}
