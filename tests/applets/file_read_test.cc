#include "support/world.h"

#include "applets/applet.h"
#include "base/file.h"

#include <catch2/catch.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

Json reading(const std::string& path) { return call("file-read", object({{"file_path", path}})); }
Json lines(const std::string& path, std::int64_t offset, std::int64_t limit) { return call("file-read", object({{"file_path", path}, {"offset", offset}, {"limit", limit}})); }
Json from(const std::string& path, std::int64_t offset) { return call("file-read", object({{"file_path", path}, {"offset", offset}})); }
Json output(std::string text) { return object({{"output", std::move(text)}}); }
Json refusal(std::string message, std::string_view code) { return object({{"error", std::move(message)}, {"error_code", code}}); }

// A socket that lies in the folder.
struct Socket {
    explicit Socket(const std::string& path) : fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_un address{AF_UNIX, {}};
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    Fd fd;
};

}

TEST_CASE("file_read: schema to the letter")
{
    CHECK(run({.argv = {tool("file-read"), "--schema"}}).out ==
          R"~({"name":"file_read","description":"Read contents of a file","parameters":{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute or relative path to file"},"offset":{"type":"integer","description":"Line number to start reading from (1-based)"},"limit":{"type":"integer","description":"Number of lines to read"}},"required":["file_path"]}})~");
}

TEST_CASE("file_read: a whole file, byte for byte")
{
    Folder folder;
    folder.write("a", "one\ntwo\r\n\tthree");
    folder.write("empty", "");
    folder.write("nul", std::string("a\0b", 3));
    symlink("a", "link");
    CHECK(reading("a") == output("one\ntwo\r\n\tthree"));
    CHECK(reading(folder / "a") == output("one\ntwo\r\n\tthree"));
    CHECK(reading("link") == output("one\ntwo\r\n\tthree"));
    CHECK(reading("empty") == output(""));
    CHECK(reading("nul") == output(std::string("a\0b", 3)));
    CHECK(run({.argv = {tool("file-read")}, .input = R"({"file_path":"nul"})"}).out == R"({"output":"a\u0000b"})");
}

TEST_CASE("file_read: lines")
{
    Folder folder;
    folder.write("abc", "a\nb\nc\n");
    folder.write("open", "a\n\nlast");
    CHECK(lines("abc", 1, 1) == output("a\n"));
    CHECK(lines("abc", 2, 1) == output("b\n"));
    CHECK(lines("abc", 2, 99) == output("b\nc\n"));
    CHECK(from("abc", 3) == output("c\n"));
    CHECK(from("abc", 4) == output(""));
    CHECK(from("abc", 1000000000000) == output(""));
    CHECK(lines("abc", 0, 1) == output("a\n"));
    CHECK(lines("abc", INT64_MIN, 1) == output("a\n"));
    CHECK(lines("abc", 1, 0) == output(""));
    CHECK(lines("abc", 1, -5) == output(""));
    CHECK(lines("open", 2, 1) == output("\n"));
    CHECK(lines("open", 3, 1) == output("last"));
    CHECK(call("file-read", object({{"file_path", "abc"}, {"limit", 2}})) == output("a\nb\n"));
    CHECK(call_text("file-read", R"({"file_path":"abc","offset":2.0,"limit":null,"other":[]})") == output("b\nc\n"));
}

TEST_CASE("file_read: lines across the pieces in which a file is read")
{
    Folder folder;
    std::string longest(300'000, 'x'), text = longest + "\n" + longest + "\nshort\n" + longest;
    folder.write("a", text);
    CHECK(reading("a") == output(text));
    CHECK(lines("a", 2, 1) == output(longest + "\n"));
    CHECK(lines("a", 3, 1) == output("short\n"));
    CHECK(from("a", 4) == output(longest));
}

TEST_CASE("file_read: characters across the pieces in which a file is read")
{
    Folder folder;
    std::string text = "x";
    while (text.size() < 400'000)
        text += "é語😀";
    folder.write("a", text);
    CHECK(reading("a") == output(text));
}

TEST_CASE("file_read: what is not UTF-8 is shown as U+FFFD and stays as it is")
{
    Folder folder;
    folder.write("a", "a\xff" "b\xc3");
    CHECK(reading("a") == output("a\uFFFDb\uFFFD"));
    CHECK(folder.read("a") == "a\xff" "b\xc3");
}

TEST_CASE("file_read: every byte survives at every place")
{
    Answer answer;
    answer.open_text("x");
    std::string all;
    for (int c = 0; c < 0x80; ++c)
        for (std::size_t before = 0; before < 17; ++before)
            all += std::string(before, 'p') + static_cast<char>(c) + (before % 2 ? "é" : "");
    answer.text(all);
    answer.end();
    auto back = parse_json(answer.take());
    REQUIRE(back);
    CHECK(back->text("x") == all);
}

TEST_CASE("file_read: files of the kernel are read to their end")
{
    CHECK(reading("/proc/self/status").text("output").find("\nVmHWM:") != std::string_view::npos);
    CHECK(reading("/proc/sys/kernel/ostype") == output("Linux\n"));
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0)
        CHECK(!reading("/sys/kernel/mm/transparent_hugepage/enabled").text("output").empty());
}

TEST_CASE("file_read: errors")
{
    Folder folder;
    folder.write("file", "x");
    CHECK(reading("no/such") == refusal("File not found: no/such", "FILE_NOT_FOUND"));
    CHECK(reading("") == refusal("File not found: ", "FILE_NOT_FOUND"));
    CHECK(reading("file/x") == refusal("Cannot open file: file/x", "OPEN_FAILED"));
    symlink("round", "round");
    CHECK(reading("round") == refusal("Cannot open file: round", "OPEN_FAILED"));
    CHECK(reading("/proc/self/mem") == refusal("Failed to read file: /proc/self/mem", "READ_FAILED"));
}

TEST_CASE("file_read: what has no end is refused at once")
{
    Folder folder;
    REQUIRE(mkfifo("fifo", 0644) == 0);
    Socket socket("socket");
    for (std::string path : {"fifo", "socket", ".", "/dev/zero", "/dev/tty", "/dev/urandom"}) {
        auto ran = run({.argv = {tool("file-read")}, .input = object({{"file_path", path}}).dump(), .limit = std::chrono::seconds(5)});
        CHECK(ran.out == refusal("Failed to read file: " + path, "READ_FAILED").dump());
        CHECK(ran.status == 0);
    }
}

TEST_CASE("file_read: permission denied")
{
    Folder folder;
    folder.write("secret", "x", 0);
    folder.write("closed/file", "x");
    chmod("closed", 0);
    std::filesystem::copy_file(ikigai(), "file-read");
    std::string user = is_root() ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    for (std::string path : {"secret", "closed/file"})
        CHECK(sh(user + "./file-read", object({{"file_path", path}}).dump()).out == refusal("Permission denied: " + path, "PERMISSION_DENIED").dump());
    chmod("closed", 0700);
}

TEST_CASE("file_read: an error after the output began")
{
    if (sh("strace -o /dev/null true").status != 0)
        return skip("strace cannot trace here");
    Folder folder;
    folder.write("a", std::string(200'000, 'x'));
    auto ran = sh("strace -o /dev/null -P a -e inject=read:error=EIO:when=2 " + tool("file-read"), R"({"file_path":"a"})");
    auto answer = parse_json(ran.out);
    REQUIRE(answer);
    CHECK(answer->text("output").size() == 131072);
    CHECK(answer->text("error") == "Failed to read file: a");
    CHECK(answer->text("error_code") == "READ_FAILED");
}

TEST_CASE("file_read: little memory for any size")
{
    if (sanitized())
        return skip("sanitizers take memory of their own");
    Folder folder;
    // The tool is looked at while it waits for its reader, when most of the file, or all of it, is read.
    REQUIRE(mkfifo("out", 0600) == 0);
    auto peak_kb = [&](const std::string& arguments, const std::string& read_before) {
        auto ran = sh("exec 4<&0; " + tool("file-read") + " <&4 >out & pid=$!; exec 3<out; head -c " + read_before + " <&3 >/dev/null; "
                      "sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$pid/status; cat <&3 >/dev/null; wait $pid", arguments);
        return std::stoi("0" + ran.out);
    };
    REQUIRE(sh("truncate -s 200M zeros; truncate -s 1G large; echo >>large; head -c 300000 /dev/zero | tr '\\0' x >>large").status == 0);
    auto whole = peak_kb(R"({"file_path":"zeros"})", "1000000000");
    auto rest = peak_kb(R"({"file_path":"large","offset":2})", "100000");
    INFO("peak: " << whole << " kB for a whole file, " << rest << " kB for the last line of another");
    CHECK(whole > 100);
    CHECK(whole < 20'000);
    CHECK(rest > 100);
    CHECK(rest < 20'000);
}
