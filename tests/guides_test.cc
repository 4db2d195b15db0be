// AGENTS.md: which files count, what of them, and what is said of the others.
#include "guides.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

// A home with a repository in it; the current folder is two below its root.
struct Project {
    Home home;
    std::string before = fs::current_path();

    Project()
    {
        fs::create_directories(home / "code/.git");
        fs::create_directories(home / "code/src/deep");
        fs::current_path(home / "code/src/deep");
    }
    ~Project() { fs::current_path(before); }

    Ran chat(std::vector<std::string> words, const std::string& input = "") const
    {
        words.insert(words.begin(), {"chat", "--provider", "offline"});
        return ikigai(home, std::move(words), input);
    }
    std::string first_line(std::vector<std::string> words = {}) const
    {
        auto out = chat(std::move(words), "list\n").out;
        return out.substr(0, out.find('\n'));
    }
};

std::string system_of(const Project& project, std::vector<std::string> words = {})
{
    ModelServer server({stream_of({text("ok")})});
    words.insert(words.begin(), {"chat", "-p", "x", "--base-url", server.base_url(), "--model", "m"});
    ikigai(project.home, std::move(words));
    return std::string(server.requests().at(0).json().find("messages")->as<Json::Array>()->at(0).text("content"));
}

}

TEST_CASE("guides: from the current folder up to the repository's root, and the user's own")
{
    Project project;
    project.home.write("AGENTS.md", "outside the repository");
    project.home.write("code/AGENTS.md", "of the root\n");
    project.home.write("code/src/AGENTS.md", std::string(1234, 's'));
    project.home.write("code/src/deep/AGENTS.md", "nearest\n");
    project.home.write(".config/ikigai/AGENTS.md", "my own\n");
    CHECK(project.first_line() == "~/.config/ikigai/AGENTS.md 7 B, AGENTS.md 8 B, ../AGENTS.md 1.2 KB, ../../AGENTS.md 12 B");
    auto system = system_of(project);
    auto own = system.find("my own"), nearest = system.find("nearest"), root = system.find("of the root");
    CHECK(own < nearest);
    CHECK(nearest < root);
    CHECK(root != system.npos);
    CHECK(system.find("outside") == system.npos);
    CHECK(system.find("<notes path=\"../../AGENTS.md\">") != system.npos);
    SECTION("--system stands for all of it")
    {
        CHECK(system_of(project, {"--system", "be brief"}) == "be brief");
        CHECK(project.first_line({"--system", "be brief"}).find("AGENTS.md") == std::string::npos);
    }
    SECTION("-p prints none of it")
    {
        auto ran = project.chat({"-p", "help"});
        CHECK(ran.out.find("AGENTS.md") == std::string::npos);
        CHECK(ran.err == "");
    }
}

TEST_CASE("guides: without a repository the current folder alone counts; without notes nothing is said")
{
    Project project;
    fs::remove(project.home / "code/.git");
    project.home.write("code/AGENTS.md", "above");
    CHECK(project.first_line().find("AGENTS.md") == std::string::npos);
    project.home.write("code/src/deep/AGENTS.md", "here");
    CHECK(project.first_line() == "AGENTS.md 4 B");
}

TEST_CASE("guides: 32 KB in all, the rest is named")
{
    Project project;
    project.home.write("code/src/deep/AGENTS.md", std::string(20'000, 'a'));
    project.home.write("code/src/AGENTS.md", std::string(20'000, 'b'));
    project.home.write("code/AGENTS.md", std::string(12'768, 'c'));
    auto ran = project.chat({"-p", "help"});
    CHECK(ran.err == "../AGENTS.md is left out: AGENTS.md files of more than 32 KB in all are too much\n");
    CHECK(project.first_line() == "AGENTS.md 19.5 KB, ../../AGENTS.md 12.5 KB");
    CHECK(system_of(project).find("bbbb") == std::string::npos);
}

TEST_CASE("guides: what is no readable text of ours is said and does no harm")
{
    Project project;
    auto& home = project.home;
    SECTION("a pipe is not waited for")
    {
        REQUIRE(mkfifo("AGENTS.md", 0644) == 0);
        auto ran = project.chat({"-p", "help"});
        CHECK(ran.err.starts_with("AGENTS.md is left out: "));
        CHECK(ran.status == 0);
    }
    SECTION("a device is not read")
    {
        fs::create_symlink("/dev/zero", "AGENTS.md");
        CHECK(project.chat({"-p", "help"}).err.starts_with("AGENTS.md is left out: "));
    }
    SECTION("a folder")
    {
        fs::create_directory("AGENTS.md");
        CHECK(project.chat({"-p", "help"}).err.starts_with("AGENTS.md is left out: "));
    }
    SECTION("bytes that are no UTF-8, and control characters")
    {
        home.write("code/src/deep/AGENTS.md", "a\xFF\x1B[31m\n");
        CHECK(system_of(project).find("a\uFFFD") != std::string::npos);
    }
    SECTION("a link within the repository is followed, once")
    {
        home.write("code/CLAUDE.md", "linked\n");
        fs::create_symlink("../../CLAUDE.md", "AGENTS.md");
        fs::create_symlink("CLAUDE.md", home / "code/AGENTS.md");
        CHECK(project.first_line() == "AGENTS.md 7 B");
    }
    SECTION("a link out of it is not")
    {
        home.write("secret", "PASSWORD\n");
        fs::create_symlink(home / "secret", "AGENTS.md");
        CHECK(project.chat({"-p", "help"}).err == "AGENTS.md is left out: it is a link that leads out of " + home / "code" + "\n");
        CHECK(system_of(project).find("PASSWORD") == std::string::npos);
    }
    SECTION("an empty one, and one that leads nowhere, are none")
    {
        home.write("code/src/AGENTS.md", " \n");
        fs::create_symlink("nowhere", "AGENTS.md");
        CHECK(project.chat({"-p", "help"}).err == "");
    }
    SECTION("somebody else's repository around ours, and somebody else's file")
    {
        if (!is_root())
            return skip("only root can give files away");
        home.write("code/AGENTS.md", "from a stranger");
        REQUIRE(chown((home / "code/.git").c_str(), 65534, 65534) == 0);
        CHECK(system_of(project).find("stranger") == std::string::npos);
        home.write("code/src/deep/AGENTS.md", "a stranger's too");
        REQUIRE(chown("AGENTS.md", 65534, 65534) == 0);
        CHECK(project.chat({"-p", "help"}).err == "AGENTS.md is left out: it belongs to another user\n");
    }
    SECTION("a folder that has been removed")
    {
        fs::create_directory("gone");
        auto ran = run({.argv = {"/bin/sh", "-c", "cd gone && rmdir ../gone && exec '" + ikigai() + "' chat -p help --provider offline"}, .env = home.env()});
        CHECK(ran.status == 0);
    }
}
