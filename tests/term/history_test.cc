// The history's file, with several processes at it at once.
#include "term/history.h"

#include "base/file.h"
#include "base/text.h"
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;
using ik::term::History;

namespace {

std::vector<std::string> list(const History& history) { return {history.entries().begin(), history.entries().end()}; }

// Runs work(n) in so many processes; whether all of them ended well.
template <class F>
bool in_processes(int count, F work)
{
    std::vector<pid_t> pids;
    for (int n = 0; n < count; ++n) {
        pid_t pid = fork();
        if (pid == 0) {
            work(n);
            _exit(0);
        }
        pids.push_back(pid);
    }
    bool well = true;
    for (auto pid : pids) {
        int status = 0;
        well = waitpid(pid, &status, 0) == pid && status == 0 && well;
    }
    return well;
}

}

TEST_CASE("history: entries come back")
{
    Folder folder;
    auto path = folder / "state/ikigai/history";
    const std::vector<std::string> typed{"one", "two\nlines \\n and \\", "tab\there\r", "漢字 😀", "last"};
    {
        History history(path);
        for (auto& entry : typed) history.add(entry), history.add(entry);
        history.add("");
        history.add("  \n");
        CHECK(list(history) == typed);
        CHECK(history.problem() == "");
    }
    CHECK(list(History(path)) == typed);
    CHECK(folder.read("state/ikigai/history") == "one\ntwo\\nlines \\\\n and \\\\\ntab\there\\r\n漢字 😀\nlast\n");
    struct stat info{};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("history: eight processes lose nothing, also while the file is trimmed")
{
    Folder folder;
    auto path = folder / "history";
    std::string old;
    for (int i = 0; i < 10'900; ++i) old += "old " + std::to_string(i) + "\n";
    folder.write("history", old, 0600);
    CHECK(in_processes(8, [&](int n) {
        History history(path);
        for (int i = 0; i < 100; ++i) history.add("process " + std::to_string(n) + "\nentry " + std::to_string(i));
        if (!history.problem().empty()) _exit(1);
    }));
    History history(path);
    auto entries = list(history);
    CHECK(entries.size() == History::most_entries);
    std::set<std::string> found(entries.begin(), entries.end());
    int lost = 0;
    for (int n = 0; n < 8; ++n)
        for (int i = 0; i < 100; ++i) lost += !found.count("process " + std::to_string(n) + "\nentry " + std::to_string(i));
    CHECK(lost == 0);
    auto names = sh("ls -A '" + folder.path + "'").out;
    CHECK(names == "history\n");
}

TEST_CASE("history: the file stays bounded")
{
    Folder folder;
    auto path = folder / "history";
    std::string old;
    for (int i = 0; i < 11'000; ++i) old += "old " + std::to_string(i) + "\n";
    folder.write("history", old, 0640);
    History history(path);
    CHECK(history.entries().size() == History::most_entries);
    history.add("new");
    auto text = folder.read("history");
    CHECK(std::count(text.begin(), text.end(), '\n') == History::most_entries);
    CHECK(text.ends_with("old 10999\nnew\n"));
    struct stat info{};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    history.add(std::string(100'000, 'x'));
    CHECK(history.entries().back().size() == 100'000);
    CHECK(folder.read("history").size() == text.size());
}

TEST_CASE("history: a file that cannot be had is no reason to stop")
{
    Folder folder;
    mkdir((folder / "folder").c_str(), 0700);
    History in_folder(folder / "folder");
    in_folder.add("one");
    CHECK(list(in_folder) == std::vector<std::string>{"one"});
    CHECK(in_folder.problem() != "");

    REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
    History pipe(folder / "pipe");
    pipe.add("one");
    CHECK(pipe.problem().find("regular file") != std::string::npos);

    folder.write("file", "");
    History below(folder / "file/history");
    below.add("one");
    CHECK(list(below) == std::vector<std::string>{"one"});
    CHECK(below.problem() != "");

    History nowhere{""};
    nowhere.add("one");
    CHECK(list(nowhere) == std::vector<std::string>{"one"});
    CHECK(nowhere.problem() == "");

    folder.write("locked", "a\n");
    Fd lock(open((folder / "locked").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(flock(lock.get(), LOCK_EX) == 0);
    History locked(folder / "locked");
    locked.add("b");
    CHECK(locked.problem().find("locked") != std::string::npos);
    lock.reset();
    locked.add("c");
    CHECK(locked.problem() == "");
    CHECK(folder.read("locked") == "a\nb\nc\n");
}

TEST_CASE("history: a user's file that may not be written")
{
    Folder folder;
    chmod(folder.path.c_str(), 0755);
    folder.write("history", "a\n", 0444);
    CHECK(in_processes(1, [&](int) {
        if (is_root() && setuid(65534) != 0) _exit(2);
        History history(folder / "history");
        history.add("b");
        if (history.entries().size() != 2 || history.problem().empty()) _exit(1);
    }));
    CHECK(folder.read("history") == "a\n");
}

TEST_CASE("history: torn, broken and foreign lines")
{
    Folder folder;
    folder.write("history", "one\n\\x\\\ncaf\xE9\ntorn");
    History history(folder / "history");
    CHECK(list(history) == std::vector<std::string>{"one", "\\x\\", "caf\uFFFD"});
    history.add("two");
    CHECK(folder.read("history") == "one\n\\x\\\ncaf\xE9\ntorn\ntwo\n");
}
