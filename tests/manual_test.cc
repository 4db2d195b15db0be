// The pages and licences that are part of the binary.
#include "base/inflate.h"
#include "base/text.h"
#include "manual.h"
#include "support/terminal.h"
#include "support/world.h"
#include "texts.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What is seen of `ikigai man PAGE` on a terminal.
std::string on_terminal(const Home& home, std::vector<std::string> env, const std::string& page = "glob")
{
    Terminal terminal({ikigai(), "man", page}, environment_with(home.env(std::move(env))));
    auto shown = terminal.shown_when([] { return false; });
    CHECK(terminal.status() == 0);
    return shown;
}

}

TEST_CASE("manual: every page is there, as text")
{
    Home home;
    auto first = ikigai(home, {"man"});
    CHECK(first.status == 0);
    CHECK(first.out.starts_with("IKIGAI(1)"));
    CHECK(holds(first.out, "\nNAME\n     ikigai – agent in a terminal, for people who run servers\n"));
    CHECK(first.out.find_first_of("\b\x1b") == std::string::npos);
    CHECK(ikigai(home, {"man", "ikigai"}).out == first.out);
    CHECK(ikigai(home, {"man", "ikigai.1"}).out == first.out);
    for (auto name : {"tools", "ikigai-tools", "ikigai-tools.7"})
        CHECK(ikigai(home, {"man", name}).out.starts_with("IKIGAI-TOOLS(7)"));
    for (auto page : {"security", "hacking"}) CHECK(ikigai(home, {"man", page}).status == 0);
    for (auto& tool : built_in_tools()) {
        INFO(tool);
        CHECK(holds(ikigai(home, {"man", tool}).out, "ikigai-" + replace(tool, '_', '-') + " – "));
    }
    CHECK(holds(ikigai(home, {"man", "ikigai-file-read"}).out, "ikigai-file-read – "));
}

TEST_CASE("manual: a page is what mandoc makes of its source")
{
    Home home;
    for (std::string page : {"ikigai.1", "ikigai-security.7"})
        CHECK(ikigai(home, {"man", page}).out == sh("mandoc -T utf8 -O width=80 -I os=ikigai '" + root() + "/man/" + page + "' | col -bx").out);
}

TEST_CASE("manual: a page that there is not")
{
    Home home;
    for (std::string name : {"nothing", "licences", "../ikigai"}) {
        auto ran = ikigai(home, {"man", name});
        CHECK(ran.status == 2);
        CHECK(ran.out == "");
        CHECK(ran.err.starts_with("ikigai: there is no page " + name + "; there are ikigai, hacking, security, tools, bash, file-edit,"));
    }
}

TEST_CASE("manual: on a terminal it is shown by a pager, or plainly where there is none")
{
    Home home;
    CHECK(holds(on_terminal(home, {"PAGER=cat -v"}), "N^HNA^HAM^HME^HE"));   // a command of the shell; bold as pagers know it
    home.write("less", "#!/bin/sh\necho \"less $*\"; read -r line; echo \"$line\"\n", 0755);
    CHECK(holds(on_terminal(home, {"PAGER", "PATH=" + home.path + ":/usr/bin:/bin"}), "less -R\nIKIGAI-GLOB(1)"));
    std::filesystem::create_directory(home / "empty");
    for (auto& env : {std::vector<std::string>{"PAGER", "PATH=" + home / "empty"}, {"PAGER=no-such-pager"}}) {
        auto shown = on_terminal(home, env);
        CHECK(holds(shown, "NAME\n     ikigai-glob – "));
        CHECK(!holds(shown, "\b"));
    }
    CHECK(!holds(on_terminal(home, {"PAGER=true"}), "NAME"));   // a pager that leaves at once has shown what it wanted
}

TEST_CASE("manual: --licenses names ours and those of everything that is linked in")
{
    Home home;
    auto ran = ikigai(home, {"--licenses"});
    CHECK(ran.status == 0);
    std::string own = sh("cat '" + root() + "/LICENSE'").out;
    CHECK(ran.out.starts_with(own));
    for (auto part : {"cpp-httplib", "CLI11", "RapidJSON", "OpenSSL", "zlib", "SQLite", "cmark-gfm", "utf8proc", "gumbo", "GNU C Library", "libstdc++ and libgcc",
                      "Mozilla CA certificates", "Apache-2.0", "LGPL-2.1", "GPL-3"}) {
        INFO(part);
        CHECK(holds(ran.out, std::string("\n================ ") + part + " ================\n"));
    }
    for (auto words : {"Yuji Hirose", "Henry Schreiner", "Milo Yip", "The OpenSSL Project", "Jean-loup Gailly", "D. Richard Hipp", "John MacFarlane",
                       "Steven G. Johnson", "Google Inc.", "Free Software Foundation, Inc", "GCC RUNTIME LIBRARY EXCEPTION", "Mozilla Public License Version 2.0",
                       "GNU LESSER GENERAL PUBLIC LICENSE", "Apache License"}) {
        INFO(words);
        CHECK(holds(ran.out, words));
    }
    CHECK(!holds(ran.out, "The machine that built this had no"));
}

TEST_CASE("manual: bold and underlined characters become plain ones, whatever their length")
{
    CHECK(plain("N\bNA\bA _\bx \xe2\x80\x93\b\xe2\x80\x93.") == "NA x –.");
    CHECK(plain("\b\bx") == "x");
    CHECK(plain("") == "");
}

TEST_CASE("inflate: damaged, cut and too long input is refused")
{
    Folder folder;
    auto packed = sh("printf '%1000s' x | gzip -n").out;
    REQUIRE(inflated(packed, 1000));
    CHECK(inflated(packed, 1000)->size() == 1000);
    CHECK(!inflated(packed, 999));
    CHECK(!inflated(packed.substr(0, packed.size() - 1), 1000));
    CHECK(!inflated("", 1000));
    CHECK(!inflated("no gzip", 1000));
    packed[packed.size() - 6] ^= 1;   // its checksum
    CHECK(!inflated(packed, 1000));
}
