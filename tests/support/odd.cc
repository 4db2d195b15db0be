#include "support/odd.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace ik::test {

namespace fs = std::filesystem;

Odd::Odd()
{
    fs::create_directory(home);
    fs::create_directory(work);
}

Ran Odd::run(Program words, std::string input) const
{
    if (!shell.empty())
        words.insert(words.begin(), {"/bin/sh", "-c", shell, "sh"});
    // The checker of leaks traces its own process, which is refused in most of these places.
    std::vector<std::string> env{no_leak_check, "HOME=" + home, "XDG_STATE_HOME", "XDG_CONFIG_HOME", "IKIGAI_SANDBOX", "IKIGAI_LIBEXEC_DIR", "IKIGAI_PROVIDER=offline", "TMPDIR"};
    env.insert(env.end(), more.begin(), more.end());
    auto prepare = [&] {
        if (chdir(work.c_str()) < 0) _exit(125);
        change();
    };
    auto ran = run_after(prepare, {.argv = words, .input = std::move(input), .env = env, .limit = std::chrono::seconds(60)});
    CHECK_FALSE(ran.timed_out);
    UNSCOPED_INFO(words.back() << " -> " << ran.status << "\n" << ran.out.substr(0, 1000) << "\n" << ran.err.substr(0, 1000));
    return ran;
}

Ran Odd::ikigai(Program words, std::string input) const
{
    words.insert(words.begin(), program);
    return run(std::move(words), std::move(input));
}

bool has(const std::string& text, std::string_view words) { return text.find(words) != text.npos; }

void tools_work(const Odd& at)
{
    for (auto& name : built_in_tools()) {
        auto schema = at.ikigai({name, "--schema"});
        CHECK(schema.status == 0);
        CHECK(has(schema.out, "\"name\":\"" + name + "\""));
    }
    CHECK(at.tool_run("file-write", R"({"file_path":"f.txt","content":"alpha\nbeta\n"})").out == R"({"output":"Wrote 11 bytes to f.txt","bytes":11})");
    CHECK(at.tool_run("file-edit", R"({"file_path":"f.txt","old_string":"beta","new_string":"gamma"})").out == R"({"output":"Replaced 1 occurrence in f.txt","replacements":1})");
    CHECK(at.tool_run("file-read", R"({"file_path":"f.txt"})").out == R"({"output":"alpha\ngamma\n"})");
    CHECK(at.tool_run("glob", R"({"pattern":"f.*"})").out == R"({"output":"f.txt","count":1})");
    CHECK(at.tool_run("grep", R"({"pattern":"gam[m]a","glob":"*.txt"})").out == R"({"output":"f.txt:2: gamma","count":1})");
}

void program_works(const Odd& at)
{
    CHECK(has(at.ikigai({"discover"}).out, "\ngrep "));
    auto said = at.said("read f.txt");
    CHECK(has(said.out, "gamma"));
    CHECK(said.status == 0);
    auto doctor = at.ikigai({"doctor"});
    CHECK(doctor.status == 0);
    CHECK(has(doctor.out, "9 found"));
}

void shell_works(const Odd& at)
{
    CHECK(at.tool_run("bash", R"({"command":"cat; echo through"})").out == R"({"output":"through","exit_code":0})");
    CHECK(at.ikigai({"run", "bash", R"({"command":"echo through"})"}).out == through);
    auto sandboxed = at.ikigai({"sandbox", "--", "/bin/sh", "-c", "echo through; exit 3"});
    CHECK(sandboxed.out == "through\n");
    CHECK(sandboxed.status == 3);
    auto said = at.said("run echo through");
    CHECK(has(said.out, "    through\n"));
    CHECK(said.status == 0);
}

void all_works(const Odd& at)
{
    tools_work(at);
    program_works(at);
    shell_works(at);
}

bool can_mount()
{
    if (is_root()) return true;
    skip("needs root: mounts and namespaces");
    return false;
}

bool is_plain()
{
    if (!sanitized()) return true;
    skip("a program with sanitizers needs more than is there");
    return false;
}

}
