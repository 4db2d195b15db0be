// What a test needs of the world: a folder of its own, programs that are run as a user would
// run them, and a way to say why something is skipped.
#pragma once

#include "base/json.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace ik::test {

// A new folder, the current one until it is removed again.
class Folder {
public:
    Folder();
    Folder(const Folder&) = delete;
    ~Folder();
    std::string path;

    std::string operator/(const std::string& name) const { return path + "/" + name; }
    void write(const std::string& name, std::string_view content, int mode = 0644) const;
    std::string read(const std::string& name) const;
    bool exists(const std::string& name) const;

private:
    std::string before_;
};

// A folder that is also a home without a configuration or a key, with tools in it. Since a home is no workspace, tools
// run in it without a sandbox; sandbox_test is about those that do not.
class Home : public Folder {
public:
    void tool(const std::string& name, const std::string& script) const { write(".ikigai/tools/" + name, script, 0755); }

    // For Run::env: this home, nothing of the tester's own.
    std::vector<std::string> env(std::vector<std::string> more = {}) const;
};

// Of a program with sanitizers that is confined, or traced by a test: it looks for leaks by tracing itself.
inline constexpr const char* no_leak_check = "ASAN_OPTIONS=detect_leaks=0";

// The tests' environment with these: "NAME=value"; "NAME" alone removes.
std::vector<std::string> environment_with(const std::vector<std::string>& entries);

struct Ran {
    int status;        // as a shell says it: 128 + N after signal N
    std::string out, err;
    bool timed_out;
};

struct Run {
    std::vector<std::string> argv;              // argv[0] with a path; see sh() for a shell line
    std::string input = {};
    std::vector<std::string> env = {};          // "NAME=value" on top of the tests' environment; "NAME" alone removes
    std::chrono::milliseconds limit = std::chrono::seconds(20);
};
Ran run(const Run&);
Ran sh(const std::string& line, std::string input = "");

// What is in the file, as far as it can be read: a process may end while /proc tells of it.
std::string contents_of(const std::string& path);

// `ikigai` with these words.
Ran ikigai(const Home&, std::vector<std::string> words, std::string input = "", std::vector<std::string> env = {});

std::string root();      // the source tree
std::string ikigai();    // the program under test
std::string tool(const std::string& command);   // its link in libexec/ikigai
std::vector<std::string> built_in_tools();      // "bash", …: every one, sorted

// `tool` called by hand with arguments; its answer as JSON (null when it is none).
Json call(const std::string& command, const Json& arguments);
Json call_text(const std::string& command, const std::string& input);

// The recordings of real services; empty where there are none.
std::string recordings();

bool is_root();
bool sanitized();        // the program is built with sanitizers

// The rest of the test case is not done, and why. It is counted and printed.
void skip(const std::string& reason);

// Waits until claim() is true; false when it has not come true after limit.
template <class F>
bool eventually(F claim, std::chrono::milliseconds limit = std::chrono::seconds(10));

// Whether a process runs (a zombie does not).
bool runs(pid_t);

void sleep_for(std::chrono::milliseconds);

template <class F>
bool eventually(F claim, std::chrono::milliseconds limit)
{
    auto end = std::chrono::steady_clock::now() + limit;
    while (!claim()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

}
