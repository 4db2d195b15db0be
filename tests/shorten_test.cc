// Long output against the plain way: what is kept in files is what parse_json decodes.
#include "printed.h"

#include "base/text.h"
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

using namespace ik;
using namespace ik::test;

namespace {

// A JSON string of about size bytes with every kind of escape and character in it.
std::string written(std::mt19937& random, std::size_t size)
{
    static const std::vector<std::string> pieces{"plain text ", "\\n", "\\\"", "\\\\", "\\u0041", "\\ud83d\\ude00", "é", "日本", "😀", "\\/", "\\u0000", "\\b\\f\\r\\t", "{\"not\":[structure]}"};
    std::string out;
    while (out.size() < size) {
        auto piece = pieces[random() % pieces.size()];
        if (piece[0] == '{') piece = "{[,:]}";
        out += piece;
    }
    return "\"" + out + "\"";
}

// As it would come through a pipe: in pieces that end anywhere.
Printed printed(const std::string& text, const std::string& folder, std::size_t most = 10'000)
{
    Printed out(Outbox(folder, "call/1"));
    std::mt19937 random(static_cast<unsigned>(text.size()));
    for (std::size_t at = 0; at < text.size();) {
        auto size = 1 + random() % most;
        out.append(std::string_view(text).substr(at, size));
        at += size;
    }
    return out;
}

Output read(const std::string& text, const std::string& folder) { return printed(text, folder).read(); }

std::vector<std::string> names(const std::string& folder)
{
    std::vector<std::string> out;
    for (auto& entry : std::filesystem::directory_iterator(folder)) out.push_back(entry.path().filename());
    std::ranges::sort(out);
    return out;
}

}

TEST_CASE("shorten: long strings are kept whole, whatever is in them and wherever they stand")
{
    Folder folder;
    std::mt19937 random(1);
    for (int round = 0; round < 10; ++round) {
        auto first = written(random, 300'000 + random() % 300'000), second = written(random, 70'000 + random() % 1000);
        auto text = "{ \"a\" : " + first + ", \"b\":[1, \"short\", {\"c\":" + second + "}], \"d\": -1.5e3 }";
        auto plain = parse_json(text);
        REQUIRE(plain);

        auto output = read(text, folder / "out");
        REQUIRE(output.answer);
        REQUIRE(output.longs.size() == 2);
        CHECK(output.longs[0].path == "result.a");
        CHECK(output.longs[1].path == "result.b.2.c");
        CHECK(output.longs[0].file == folder / "out/call-1-a.txt");
        auto whole = plain->text("a");
        CHECK(output.longs[0].size == whole.size());
        CHECK((folder.read("out/call-1-a.txt") == whole));
        auto ends = output.answer->text("a");
        CHECK(ends.size() <= 65536);
        CHECK(ends.size() > 65000);
        CHECK((whole.starts_with(ends.substr(0, 30'000)) && whole.ends_with(ends.substr(ends.size() - 30'000))));
        CHECK(output.answer->find("d")->dump() == plain->find("d")->dump());
        CHECK((*output.answer->find("b")->as<Json::Array>())[1] == Json("short"));
    }
}

TEST_CASE("shorten: a long string that is no JSON is refused")
{
    Folder folder;
    std::string pad(100'000, 'x');
    for (auto& bad : {"\\q", "\\u12g4", "\\ud800x", "\\udc00", "\n", "\\ud83d\\u0041"})
        CHECK_FALSE(read("{\"a\":\"" + pad + bad + "\"}", folder.path).answer);
    CHECK_FALSE(read("{\"a\":\"" + pad, folder.path).answer);
    CHECK_FALSE(read("{\"a\":\"" + pad + "\"} x", folder.path).answer);
    CHECK_FALSE(read(std::string(300'000, '['), folder.path).answer);
}

TEST_CASE("shorten: an answer survives a folder that cannot be written")
{
    auto output = read("{\"a\":\"" + std::string(100'000, 'x') + "\"}", "/proc/none");
    REQUIRE(output.answer);
    CHECK(output.longs.at(0).file == "");
    CHECK(output.answer->text("a").size() <= 65536);
}

TEST_CASE("shorten: what proves to be no answer can be kept as it was printed")
{
    Folder folder;
    std::mt19937 random(2);
    std::string pad(100'000, 'x');
    std::vector<std::string> texts{"{\"a\":\"" + pad, "{\"a\":\"" + pad + "\"} x", pad, std::string(300'000, '['), "\"" + pad + "\"", std::string(100'000, '"'),
                                   "\"" + pad + "\\", "\"" + pad + "\\u00", "[\"" + pad + "\\ud83d", "[\"" + pad + "\\ud83d\"", "{\"" + pad + "\": \"" + pad + "\" \"",
                                   "\"\\q" + pad + "\"", "\"" + pad + "\xFF\x01\"", "\"" + pad + "\xFF\""};
    for (auto& bad : {"\\q", "\\u12g4", "\\ud800x", "\\udc00", "\n", "\\ud83d\\u0041", "\"\"", "\\ud83d\\n"})
        texts.push_back("{\"a\":\"" + pad + bad + pad + "\", \"b\":\"" + pad + "\"}");
    for (int round = 0; round < 20; ++round) {
        auto text = "{ \"a\" : " + written(random, 300'000) + ", \"b\":[1, \"short\", {\"c\":" + written(random, 70'000) + ", \"UPPER \\u00Aa\": -1.5e3 }]} ";
        texts.push_back(text);
        text[random() % text.size()] = "\"\\\n{"[random() % 4];
        texts.push_back(text);
        texts.push_back(text.substr(0, text.size() - random() % 1000));
    }
    for (auto& text : texts)
        for (std::size_t most : {200u, 70'000u}) {
            INFO(text.substr(0, 20) << " ... " << text.substr(text.size() - 20));
            auto all = printed(text, folder / "out", most);
            CHECK((all.end(1000) == text.substr(text.size() - 1000)));
            auto answer = all.read();
            if (text.find("\\udc00") == text.npos)   // half a character: the parser lets it pass
                CHECK(answer.answer.operator bool() == parse_json(clean_utf8(text)).operator bool());
            auto path = all.keep("stdout");
            REQUIRE(path);
            CHECK(*path == folder / "out/call-1-stdout.txt");
            CHECK((folder.read("out/call-1-stdout.txt") == text));
            CHECK(names(folder / "out") == std::vector<std::string>{"call-1-stdout.txt"});
        }
}

TEST_CASE("shorten: an answer with more long strings than memory should hold is one file, as it was printed")
{
    Folder folder;
    std::string text, pad(65'600, 'x');
    for (int i = 0; i < 1500; ++i) text += (i ? ",\"" : "[\"") + pad + std::to_string(i) + "\"";
    text += "]";
    auto all = printed(text, folder / "out", 200'000);
    auto answer = all.read();
    REQUIRE(answer.answer);
    CHECK(answer.answer->text("path") == folder / "out/call-1-result.txt");
    CHECK(answer.longs.empty());
    CHECK((folder.read("out/call-1-result.txt") == text));
    CHECK(names(folder / "out").size() == 1);
}

TEST_CASE("shorten: members whose names make one name for a file have two, and what is kept may have the name of one")
{
    Folder folder;
    std::string pad(70'000, 'x'), name(80, 'n');
    auto text = "{\"a.b\":\"" + pad + "1\",\"a\":{\"b\":\"" + pad + "2\"},\"" + name + "1\":\"" + pad + "3\",\"" + name + "2\":\"" + pad + "4\",\"result\":\"" + pad + "5\"}";
    auto all = printed(text, folder / "out");
    auto longs = all.read().longs;
    REQUIRE(longs.size() == 5);
    for (auto& each : longs) CHECK((folder.read(each.file.substr(folder.path.size() + 1)) == pad + std::to_string(&each - longs.data() + 1)));
    REQUIRE(all.keep("result"));
    CHECK((folder.read("out/call-1-result.txt") == text));
    CHECK(names(folder / "out").size() == 1);
}
