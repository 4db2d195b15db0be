#include "support/world.h"

#include "base/child.h"

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace ik::test {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name, const char* otherwise)
{
    auto* value = std::getenv(name);
    return value ? value : otherwise;
}

std::vector<std::string> skipped;

std::string shortened(std::string text)
{
    if (text.size() > 1000) text = text.substr(0, 1000) + "...";
    return text;
}

// The last lines of a run: what was skipped and why, what failed and where, and N passed, N failed, N skipped.
struct Last : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    std::string name;
    std::size_t skips_before = 0;
    static inline std::size_t passed = 0, failed = 0;
    static inline std::vector<std::string> failures;

    void testCaseStarting(const Catch::TestCaseInfo& info) override
    {
        name = info.name;
        skips_before = skipped.size();
    }

    bool assertionEnded(const Catch::AssertionStats& stats) override
    {
        auto& result = stats.assertionResult;
        if (result.isOk()) return true;
        auto line = name + ": " + result.getSourceInfo().file + ":" + std::to_string(result.getSourceInfo().line);
        line += ": " + shortened(std::string(result.getExpression()) + " is " + result.getExpandedExpression());
        if (result.hasMessage()) line += "\n    " + shortened(result.getMessage());
        for (auto& info : stats.infoMessages)
            line += "\n    " + shortened(info.message);
        failures.push_back(line);
        return true;
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override
    {
        if (stats.totals.testCases.failed > 0) ++failed;
        else if (skipped.size() == skips_before) ++passed;
    }

    void testRunEnded(const Catch::TestRunStats&) override
    {
        std::atexit([] {   // after everything that Catch2 prints
            for (auto& reason : skipped)
                std::printf("skipped: %s\n", reason.c_str());
            for (auto& failure : failures)
                std::printf("failed: %s\n", failure.c_str());
            std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped.size());
        });
    }
};
CATCH_REGISTER_LISTENER(Last)

}

Folder::Folder() : before_(fs::current_path())
{
    std::string name = fs::temp_directory_path() / "ikigai-test-XXXXXX";
    path = mkdtemp(name.data());
    path = fs::canonical(path);
    fs::permissions(path, fs::perms(0755));
    fs::current_path(path);
}

Folder::~Folder()
{
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(path, ignored);
}

void Folder::write(const std::string& name, std::string_view content, int mode) const
{
    fs::create_directories(fs::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    chmod((path + "/" + name).c_str(), static_cast<mode_t>(mode));
}

std::string Folder::read(const std::string& name) const
{
    return contents_of(path + "/" + name);
}

bool Folder::exists(const std::string& name) const { return fs::exists(fs::symlink_status(path + "/" + name)); }

std::vector<std::string> environment_with(const std::vector<std::string>& entries)
{
    auto env = environment();
    for (auto& entry : entries) {
        auto name = entry.substr(0, entry.find('=')) + "=";
        std::erase_if(env, [&](auto& e) { return e.starts_with(name); });
        if (entry.find('=') != std::string::npos)
            env.push_back(entry);
    }
    return env;
}

Ran run(const Run& what)
{
    auto child = Child::start({.argv = what.argv, .env = environment_with(what.env), .input = what.input, .limit = what.limit, .max_err = 64u << 20});
    if (!child)
        return {127, "", child.error().message, false};
    while (!child->exit) {
        Poll poll;
        child->add_to(poll);
        poll.wait();
        child->advance(poll);
    }
    return {child->exit->status(), child->out, child->err, child->timed_out()};
}

Ran sh(const std::string& line, std::string input) { return run({.argv = {"/bin/sh", "-c", line}, .input = std::move(input)}); }

std::vector<std::string> Home::env(std::vector<std::string> more) const
{
    std::vector<std::string> out{"HOME=" + path, "XDG_STATE_HOME", "XDG_CONFIG_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY",
                                 "ANTHROPIC_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "IKIGAI_PROVIDER",
                                 "IKIGAI_MODEL", "IKIGAI_BASE_URL", "IKIGAI_LIBEXEC_DIR",
                                 "BRAVE_API_KEY", "GOOGLE_SEARCH_API_KEY", "GOOGLE_SEARCH_ENGINE_ID", "IKIGAI_BRAVE_URL", "IKIGAI_GOOGLE_SEARCH_URL",
                                 "HTTP_PROXY", "http_proxy", "NO_COLOR", "IKIGAI_SANDBOX=off",   // a home is no workspace
                                 "IKIGAI_CONTEXT_WINDOW=1000000"};   // known: a scripted server is not asked for it
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

Ran ikigai(const Home& home, std::vector<std::string> words, std::string input, std::vector<std::string> env)
{
    words.insert(words.begin(), ikigai());
    return run({.argv = std::move(words), .input = std::move(input), .env = home.env(std::move(env)), .limit = std::chrono::seconds(60)});
}

std::string contents_of(const std::string& path)
{
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string out;
    char some[65536];
    for (std::ptrdiff_t n; file && (n = read_some(file.get(), some, sizeof some)) > 0;)
        out.append(some, static_cast<std::size_t>(n));
    return out;
}

bool runs(pid_t id)
{
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string line;
    std::getline(file, line);
    auto after = line.rfind(") ");
    return after != line.npos && line[after + 2] != 'Z' && line[after + 2] != 'X';
}

std::string root() { return variable("IKIGAI_ROOT", "."); }
std::string ikigai() { return variable("IKIGAI_BIN", ".") + "/bin/ikigai"; }

std::vector<std::string> built_in_tools()
{
    return {"bash", "file_edit", "file_read", "file_write", "glob", "grep", "web_fetch", "web_search_brave", "web_search_google"};
}

std::string tool(const std::string& command) { return variable("IKIGAI_BIN", ".") + "/libexec/ikigai/" + command; }

Json call_text(const std::string& command, const std::string& input)
{
    auto ran = run({.argv = {tool(command)}, .input = input});
    auto answer = parse_json(ran.out);
    UNSCOPED_INFO(command << " " << input << " -> " << ran.status << " " << ran.out.substr(0, 2000) << " " << ran.err);
    return answer ? *answer : Json();
}

Json call(const std::string& command, const Json& arguments) { return call_text(command, arguments.dump()); }

std::string recordings()
{
    auto named = variable("RECORDINGS", "");
    auto folder = named.empty() ? root() + "/../shared/recordings" : named;
    return fs::exists(folder) ? folder : "";
}

bool is_root() { return geteuid() == 0; }

bool sanitized()
{
#if defined __SANITIZE_ADDRESS__ || defined LINES_ARE_COUNTED
    return true;
#else
    return false;
#endif
}

void skip(const std::string& reason) { skipped.push_back(Catch::getResultCapture().getCurrentTestName() + ": " + reason); }

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

}
