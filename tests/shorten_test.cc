// Long output against the plain way: what is kept in files is what parse_json decodes.
#include "shorten.h"

#include "support/world.h"

#include <catch2/catch.hpp>
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

Spool spool_of(std::string_view text)
{
    Spool spool(1000);
    spool.append(text);
    return spool;
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

        auto output = read_output(spool_of(text), Outbox(folder / "out", "call/1"));
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
        CHECK_FALSE(read_output(spool_of("{\"a\":\"" + pad + bad + "\"}"), Outbox(folder.path, "c")).answer);
    CHECK_FALSE(read_output(spool_of("{\"a\":\"" + pad), Outbox(folder.path, "c")).answer);
    CHECK_FALSE(read_output(spool_of("{\"a\":\"" + pad + "\"} x"), Outbox(folder.path, "c")).answer);
    CHECK_FALSE(read_output(spool_of(std::string(300'000, '[')), Outbox(folder.path, "c")).answer);
}

TEST_CASE("shorten: an answer survives a folder that cannot be written")
{
    auto output = read_output(spool_of("{\"a\":\"" + std::string(100'000, 'x') + "\"}"), Outbox("/proc/none", "c"));
    REQUIRE(output.answer);
    CHECK(output.longs.at(0).file == "");
    CHECK(output.answer->text("a").size() <= 65536);
}
