// Files that a message names.
#include "attach.h"

#include "paths.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

Attached attached(std::string_view message)
{
    return attach(message, [](const std::string& path) { return path.find("secret") == path.npos; });
}

}

TEST_CASE("attach: a file that is named stands behind the message")
{
    Folder folder;
    folder.write("src/a.cc", "int a;\n");
    folder.write("with blank", "no newline");
    folder.write("fence.md", "```\ncode\n```\n");
    CHECK(attached("look at @src/a.cc, please").text == "look at @src/a.cc, please\n\nsrc/a.cc:\n```cc\nint a;\n```");
    CHECK(attached("(@with\\ blank)").text == "(@with\\ blank)\n\nwith blank:\n```\nno newline\n```");
    CHECK(attached("@fence.md").text == "@fence.md\n\nfence.md:\n````md\n```\ncode\n```\n````");
    CHECK(attached("@src/a.cc and @src/a.cc again").names == std::vector<std::string>{"src/a.cc"});
}

TEST_CASE("attach: words that name no file stay words")
{
    Folder folder;
    folder.write("dir/x", "");
    for (auto* text : {"mail me@example.com", "@nobody", "@", "@dir", "a @ b", "no file"}) {
        auto out = attached(text);
        CHECK(out.text == text);
        CHECK(out.names.empty());
        CHECK(out.refused.empty());
    }
}

TEST_CASE("attach: what is not attached, and why")
{
    Folder folder;
    folder.write("binary", std::string("a\0b", 3));
    folder.write("latin", "caf\xe9");
    folder.write("big", std::string((256 << 10) + 1, 'x'));
    folder.write("whole", std::string(256 << 10, 'x'));
    folder.write("secret", "key");
    auto out = attached("@binary @latin @big @secret @whole");
    CHECK(out.names == std::vector<std::string>{"whole"});
    CHECK(out.refused == std::vector<std::string>{"binary is no text: it is not attached", "latin is no text: it is not attached",
                                                  "big is larger than 256 KB: it is not attached", "secret may not be read: it is not attached"});
    CHECK(out.text.find("key") == std::string::npos);
    sh("mkfifo pipe");
    CHECK(attached("@pipe").refused.size() == 1);
    std::string all;
    for (int i = 0; i < 6; ++i) {
        folder.write("part" + std::to_string(i), std::string(250 << 10, 'x'));
        all += "@part" + std::to_string(i) + " ";
    }
    CHECK(attached(all).names.size() == 4);
    CHECK(attached(all).refused.size() == 1);
}

TEST_CASE("paths: what a word could go on with")
{
    Folder folder;
    folder.write("src/main.cc", "");
    folder.write("src/deep/x", "");
    folder.write("so far.txt", "");
    folder.write(".hidden", "");
    folder.write(std::string("so\x1b") + "bad", "");
    auto names = [](std::string_view word) {
        std::vector<std::string> out;
        for (auto& candidate : path_candidates(word)) out.push_back(candidate.text);
        return out;
    };
    using All = std::vector<std::string>;
    CHECK(names("@s") == All{"@so\\ far.txt", "@src/"});
    CHECK(names("@src/") == All{"@src/deep/", "@src/main.cc"});
    CHECK(names("src/m") == All{"src/main.cc"});
    CHECK(names("@so\\ ") == All{"@so\\ far.txt"});
    CHECK(names("@.") == All{"@.hidden"});
    CHECK(names("@nowhere/").empty());
    CHECK(names("@" + folder.path + "/sr") == All{"@" + folder.path + "/src/"});
}
