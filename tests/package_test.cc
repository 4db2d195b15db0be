// What is shipped: the tree that is installed, the archive, the package.
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

std::string build() { return std::getenv("IKIGAI_BUILD"); }

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

// A script of make/ with these words of a shell; what it prints.
std::string make_script(const std::string& line)
{
    auto ran = run({.argv = {"/bin/sh", "-c", in_quotes(root()) + "/make/" + line + " 2>&1"}, .limit = std::chrono::minutes(2)});
    INFO(line << ": " << ran.out);
    CHECK(ran.status == 0);
    return ran.out.substr(0, ran.out.find_last_not_of('\n') + 1);
}

Names link_names()
{
    Names out;
    for (auto& entry : fs::directory_iterator(fs::path(ikigai()).parent_path().parent_path() / "libexec/ikigai"))
        out.insert(entry.path().filename());
    return out;
}

// The tree that make/stage makes, without what only sanitizers need.
void stage(const std::string& folder)
{
    REQUIRE(sh("strip -o program " + in_quotes(ikigai())).status == 0);
    std::string links;
    for (auto& name : link_names()) links += " " + name;
    make_script("stage ./program " + in_quotes(build()) + " " + in_quotes(folder) + links);
}

Names files_below(const std::string& folder)
{
    Names out;
    for (auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_symlink() || !entry.is_directory()) out.insert(fs::relative(entry.path(), folder));
    return out;
}

bool same_bytes(const std::string& one, const std::string& other) { return sh("cmp " + in_quotes(one) + " " + in_quotes(other)).status == 0; }

// The program below prefix works, with its links and its manual.
void try_installed(const Home& home, const std::string& prefix)
{
    INFO(prefix);
    auto version = run({.argv = {prefix + "/bin/ikigai", "--version"}, .env = home.env()});
    CHECK(version.out == ikigai(home, {"--version"}).out);
    for (auto& name : link_names()) {
        auto link = prefix + "/libexec/ikigai/" + name;
        CHECK(fs::read_symlink(link) == "../../bin/ikigai");
        CHECK(run({.argv = {link, "--schema"}, .env = home.env()}).out.starts_with("{\"name\":\""));
    }
    auto found = run({.argv = {prefix + "/bin/ikigai", "discover"}, .env = home.env({"IKIGAI_LIBEXEC_DIR"})});
    CHECK(holds(found.out, "(system)"));
    auto ran = run({.argv = {prefix + "/bin/ikigai", "run", "bash", R"({"command":"echo here"})"}, .env = home.env({"IKIGAI_LIBEXEC_DIR"})});
    CHECK(holds(ran.out, "here"));
}

}

TEST_CASE("package: what install puts somewhere works there, and uninstall takes away just that")
{
    Home home;
    stage("stage");
    auto prefix = home / "prefix";
    home.write("prefix/bin/other", "of somebody else");
    fs::create_directory(prefix + "/share");
    fs::permissions(prefix + "/bin", fs::perms(01775));
    make_script("install stage " + in_quotes(prefix));
    make_script("install stage " + in_quotes(prefix));   // over what is there
    try_installed(home, prefix);
    auto installed = files_below(prefix);
    for (auto name : {"bin/ikigai", "share/man/man1/ikigai.1", "share/man/man1/ikigai-file-read.1", "share/man/man7/ikigai-tools.7", "share/bash-completion/completions/ikigai",
                      "share/zsh/site-functions/_ikigai", "share/fish/vendor_completions.d/ikigai.fish", "share/doc/ikigai/LICENSE", "share/doc/ikigai/LICENSES"}) {
        INFO(name);
        CHECK(installed.contains(name));
    }
    CHECK(fs::status(prefix + "/bin").permissions() == fs::perms(01775));
    CHECK(fs::status(prefix + "/bin/ikigai").permissions() == fs::perms(0755));

    make_script("install --remove stage " + in_quotes(prefix));
    make_script("install --remove stage " + in_quotes(prefix));   // what is gone is gone
    CHECK(files_below(prefix) == Names{"bin/other"});
    CHECK(!fs::exists(prefix + "/libexec/ikigai"));
    CHECK(!fs::exists(prefix + "/share/doc/ikigai"));
}

TEST_CASE("package: the archive is the same wherever and whenever it is packed, and runs where it is unpacked")
{
    Home home;
    stage("one");
    auto umask_and_time = "cp -a one two && chmod -R go-rx two && chmod -R go+rX two && find two -exec touch -h -d '2001-02-03' {} +";
    REQUIRE(sh(umask_and_time).status == 0);
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    auto first = make_script("dist one out"), second = make_script("dist two deeper/out");
    unsetenv("SOURCE_DATE_EPOCH");
    CHECK(same_bytes(first, second));
    auto name = fs::path(first).filename().string();
    CHECK(name.starts_with("ikigai-"));
    CHECK(holds(sh("cat " + in_quotes(root()) + "/README.md").out, name.substr(0, name.find("-linux-") + 7)));   // of this version

    auto listed = sh("tar --numeric-owner --utc -tvzf " + first).out;
    std::istringstream lines(listed);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(holds(line, " 0/0 "));
        CHECK(holds(line, " 2023-11-14 22:13 ikigai-"));
    }
    REQUIRE(sh("mkdir there && tar --strip-components=1 -C there -xzf " + first).status == 0);
    CHECK(files_below("there") == files_below("one"));
    try_installed(home, home / "there");
}

TEST_CASE("package: what is linked in leaves no name of the folder where it was built")
{
    if (sanitized())
        return skip("sanitizers name their files as they like");
    CHECK(sh("grep -c -F -e '" + root() + "/' '" + ikigai() + "'").out == "0\n");
}

TEST_CASE("package: two builds of the source in different folders are the same program", "[.systems]")
{
    if (sanitized() || ikigai() != root() + "/bin/ikigai")
        return skip("only what is shipped is the same in every folder");
    Folder folder;
    auto* named = std::getenv("IKIGAI_HTTPLIB");
    auto header = (named ? named : root() + "/build/deps") + std::string("/httplib.h");
    REQUIRE(fs::exists(header));
    auto elsewhere = folder / "a/longer/name/than/the/other";
    auto copied = sh("to=$PWD && mkdir -p headers " + elsewhere + " && cd " + in_quotes(root()) + " && cp -a Makefile LICENSE README.md make man src " + elsewhere
                     + " && cp " + header + " \"$to/headers\"");
    INFO(copied.err);
    REQUIRE(copied.status == 0);
    auto git = sh("git -C '" + root() + "' rev-parse --absolute-git-dir").out;
    auto made = run({.argv = {"/bin/sh", "-c", "make -s -C " + elsewhere + " -j2 CXX=g++ HTTPLIB=" + folder / "headers" + " bin/ikigai 2>&1"},
                     .env = {"MAKEFLAGS", "MAKELEVEL", "CCACHE_DISABLE=1", "GIT_DIR=" + git.substr(0, git.find('\n'))},
                     .limit = std::chrono::minutes(40)});
    INFO(made.out);
    REQUIRE(made.status == 0);
    CHECK(same_bytes(ikigai(), elsewhere + "/bin/ikigai"));
}

TEST_CASE("package: Debian's is the same twice, without a fault, and leaves only what is the user's", "[.systems]")
{
    if (sanitized() || run({.argv = {"/usr/bin/env", "lintian", "--version"}}).status != 0)
        return skip("no lintian here, or no program that is shipped");
    Home home;
    stage("one");
    REQUIRE(sh("cp -a one two && find two -exec touch -h -d '2001-02-03' {} +").status == 0);
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    auto first = make_script("deb one '" + build() + "/notices' out"), second = make_script("deb two '" + build() + "/notices' deeper");
    unsetenv("SOURCE_DATE_EPOCH");
    CHECK(same_bytes(first, second));

    auto faults = run({.argv = {"/usr/bin/env", "lintian", "--allow-root", "--fail-on", "error,warning", first}, .limit = std::chrono::minutes(2)});
    INFO(faults.out << faults.err);
    CHECK(faults.status == 0);

    if (!is_root())
        return skip("only root installs packages");
    auto system = home / "system";
    home.write("system/var/lib/dpkg/status", "");
    fs::create_directories(system + "/var/lib/dpkg/info");
    fs::create_directories(system + "/var/lib/dpkg/updates");
    auto dpkg = [&](const std::string& words) {
        auto ran = sh("PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg --root=" + system + " " + words + " 2>&1");
        INFO(ran.out);
        CHECK(ran.status == 0);
        return ran.out;
    };
    auto before = files_below(system);
    dpkg("--install " + first);
    try_installed(home, system + "/usr");
    auto listed = dpkg("--listfiles ikigai");
    for (auto name : {"/usr/share/man/man1/ikigai.1.gz", "/usr/share/man/man7/ikigai-security.7.gz", "/usr/share/bash-completion/completions/ikigai",
                      "/usr/share/zsh/vendor-completions/_ikigai", "/usr/share/fish/vendor_completions.d/ikigai.fish", "/usr/share/doc/ikigai/copyright",
                      "/usr/share/doc/ikigai/changelog.gz", "/usr/libexec/ikigai/bash"}) {
        INFO(name);
        CHECK(holds(listed, std::string(name) + "\n"));
    }
    // Somebody uses it, in that system: what is theirs outlives the package.
    REQUIRE(sh("mkdir -p system/root system/proc system/dev system/tmp && mknod -m 666 system/dev/null c 1 3").status == 0);
    auto used = sh("env -i HOME=/root PATH=/usr/sbin:/usr/bin chroot " + system + " ikigai chat --provider offline --sandbox off -p hello");
    INFO(used.err);
    CHECK(used.status == 0);
    dpkg("--purge ikigai");
    for (auto& name : files_below(system)) {
        INFO(name);
        CHECK((name.starts_with("root/.local/state/ikigai/") || name.starts_with("var/lib/dpkg/") || name == "dev/null" || name.starts_with("var/log/")));
    }
    CHECK(fs::exists(system + "/root/.local/state/ikigai"));
    CHECK(!fs::exists(system + "/usr"));
}
