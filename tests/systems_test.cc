// Other systems: the oldest and the newest Debian that the mirror has, and processors that lack what this one can.
// Hidden from `make check`: they take a while.
#include "support/odd.h"

#include <catch2/catch.hpp>
#include <sys/mount.h>
#include <sys/stat.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

// With the program, a home and a place to work in /mnt.
void live_in(Odd& at, const std::string& root)
{
    fs::copy_file(ikigai(), at.folder / "ikigai");
    fs::create_directory(at.folder / "tmp");
    at.program = "/mnt/ikigai";
    at.home = "/mnt/home";
    at.change = [root, folder = at.folder.path] {
        own_mounts();
        bool mounted = mount(folder.c_str(), (root + "/mnt").c_str(), nullptr, MS_BIND, nullptr) == 0
            && mount((folder + "/tmp").c_str(), (root + "/tmp").c_str(), nullptr, MS_BIND, nullptr) == 0
            && mount("/proc", (root + "/proc").c_str(), nullptr, MS_BIND, nullptr) == 0
            && mount("/dev", (root + "/dev").c_str(), nullptr, MS_BIND, nullptr) == 0;
        if (!mounted) _exit(125);
        change_root(root);
        if (chdir("/mnt/work") < 0) _exit(125);
    };
}

std::string qemu(const std::string& program) { return "/usr/bin/qemu-" + program + "-static"; }

// Text of all kinds, and bytes that are no text.
std::string mixture()
{
    std::string out;
    for (unsigned i = 0; i < 20'000; ++i) {
        out += "line " + std::to_string(i * 2654435761u) + (i % 7 ? " plain" : " ünïcödé → ∑") + (i % 1000 ? "" : " Needle in the HAY") + "\n";
        if (i % 5000 == 4999) out += std::string("\x80\xff\xc3", 3) + "\n";
    }
    return out;
}

}

TEST_CASE("systems: the oldest and the newest Debian of the mirror", "[.systems]")
{
    if (!can_mount() || !is_plain()) return;
    auto suites = GENERATE(values<std::vector<std::string>>({{"oldoldstable", "oldstable", "stable"}, {"unstable", "testing", "stable"}}));
    suites.insert(suites.begin(), root() + "/make/debian-root");
    auto made = run({.argv = suites, .limit = std::chrono::minutes(4)});
    if (made.status != 0)
        return skip("no Debian to run in: " + made.err);
    auto debian = made.out.substr(0, made.out.find('\n'));
    Odd at;
    live_in(at, debian);
    all_works(at);
    CHECK(has(at.ikigai({"run", "bash", R"({"command":"cat /etc/debian_version && ls -d $TMPDIR && awk 'BEGIN { print 6 * 7 }'"})"}).out, "\\n42\",\"exit_code\":0}"));
    CHECK(has(at.ikigai({"sessions", "list"}).out, "run echo through"));
    REQUIRE(chown((at.folder / "work").c_str(), 54321, 54321) == 0);
    REQUIRE(chown((at.folder / "home").c_str(), 54321, 54321) == 0);
    fs::remove_all(at.folder / "home/.local");
    fs::remove_all(at.folder / "work/f.txt");
    REQUIRE(chmod((at.folder / "tmp").c_str(), 01777) == 0);
    at.shell = "exec setpriv --reuid=54321 --regid=54321 --clear-groups -- \"$@\"";
    all_works(at);
}

TEST_CASE("systems: processors without AVX2, AVX, SSE4 or SSSE3", "[.systems]")
{
    auto machine = sh("uname -m").out;
    if (machine != "x86_64\n") return skip("they are played on x86-64 only");
    if (!is_plain()) return;
    if (!fs::exists(qemu("x86_64"))) return skip("qemu-user-static is not installed");
    auto* processor = GENERATE("qemu64", "Conroe", "Nehalem", "SandyBridge", "Haswell", "max");
    Odd at;
    at.folder.write("work/mixture.txt", mixture());
    Odd::Program native = at.ikigai_words(), played = native;
    played.insert(played.begin(), {qemu("x86_64"), "-cpu", processor});
    const std::pair<const char*, const char*> calls[] = {
        {"grep", R"({"pattern":"Needle"})"}, {"grep", R"({"pattern":"needle.*hay","ignore_case":true})"}, {"grep", R"({"pattern":"1[0-9]{8} .*∑ Needle"})"},
        {"grep", R"({"pattern":"(foo|bar|999)[0-9]+ pl[a]in","limit":50})"}, {"grep", R"({"pattern":"^line 0 "})"},
        {"glob", R"({"pattern":"**/*.txt"})"}, {"file-read", R"({"file_path":"mixture.txt"})"}, {"file-read", R"({"file_path":"mixture.txt","offset":15000,"limit":3})"},
        {"file-edit", R"({"file_path":"mixture.txt","old_string":"line 0 ","new_string":"line 0 "})"}, {"bash", R"({"command":"head -c 3000 mixture.txt"})"},
    };
    for (auto& [name, input] : calls) {
        INFO(processor << ": " << name << " " << input);
        auto with = [&, name = name](Odd::Program program) { program.push_back(name); return program; };
        auto there = at.run(with(played), input), here = at.run(with(native), input);
        CHECK(there.status == here.status);
        CHECK(there.out == here.out);
    }
    auto said = [&](std::vector<std::string> words, std::string input = {}) {
        words.insert(words.begin(), played.begin(), played.end());
        return at.run(words, std::move(input));
    };
    INFO(processor);
    CHECK(has(said({"llm"}, R"({"type":"ask","provider":"offline","model":"offline","messages":[{"role":"user","text":"run echo hi"}],"tools":[{"name":"bash","description":"","parameters":{"type":"object","properties":{}}}]})" "\n").out,
              R"("arguments":{"command":"echo hi"})"));
    CHECK(has(said({"store"}, R"({"type":"event","session":"abc","seq":1,"kind":"user","content":"hello"})" "\n").out, R"({"type":"stored","session":"abc","seq":1})"));
    CHECK(has(said({"discover"}).out, "\ngrep "));
    CHECK(has(said({"chat", "-p", "run echo through", "--sandbox", "off"}).out, "through"));   // what it starts runs on the real processor
    CHECK(said({"doctor"}).status == 0);
}
