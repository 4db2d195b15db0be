#include "llm/decode.h"
#include "llm/sse.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;
using sse::Event;

namespace {

using Events = std::vector<Event>;

Events events(std::string_view bytes, std::size_t size = 0)
{
    sse::Reader reader;
    Events out;
    if (size == 0) size = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        CHECK(reader.feed(bytes.substr(at, size)));
        while (auto event = reader.next()) out.push_back(*event);
    }
    reader.end();
    while (auto event = reader.next()) out.push_back(*event);
    return out;
}

}

TEST_CASE("sse: events, cut anywhere, with any line ends")
{
    struct Case { std::string stream; Events wanted; };
    const Case cases[] = {
        {"data: a\n\ndata: b\n\n", {{"", "a"}, {"", "b"}}},
        {"data:a\n\ndata:  b \n\n", {{"", "a"}, {"", " b "}}},
        {"event: ping\ndata: {}\n\n", {{"ping", "{}"}}},
        {"event:x\n\ndata: y\n\n", {{"", "y"}}},
        {"data: one\ndata: two\ndata\n\n", {{"", "one\ntwo\n"}}},
        {": comment\n\n:\n\n\n\ndata: a\n: in between\n\n", {{"", "a"}}},
        {"id: 7\nretry: 100\nunknown: x\nno colon\ndata: a\n\n", {{"", "a"}}},
        {"\xEF\xBB\xBF" "data: a\n\n", {{"", "a"}}},
        {"data: Grüße 😀\n\n", {{"", "Grüße 😀"}}},
        {"data: x\xFFy\n\n", {{"", "x\uFFFDy"}}},
        {"data: without an end", {{"", "without an end"}}},
        {"data: one newline\n", {{"", "one newline"}}},
        {"data: a:b: c\n\n", {{"", "a:b: c"}}},
        {"data:\n\n", {{"", ""}}},
        {"", {}},
    };
    for (auto& c : cases)
        for (auto size : read_sizes) {
            INFO(c.stream << " by " << size);
            CHECK(events(c.stream, size) == c.wanted);
            CHECK(events(with_crlf(c.stream), size) == c.wanted);
            CHECK(events(std::string(c.stream.begin(), c.stream.end()), size) == c.wanted);
            auto cr = c.stream;
            for (auto& byte : cr)
                if (byte == '\n') byte = '\r';
            CHECK(events(cr, size) == c.wanted);
        }
}

TEST_CASE("sse: an event is whole as soon as its blank line is there")
{
    sse::Reader reader;
    CHECK(reader.feed("data: a\r\n\r"));
    CHECK(reader.next() == Event{"", "a"});
    CHECK(reader.feed("\ndata: b\n"));
    CHECK(!reader.next());
    CHECK(reader.feed("\n"));
    CHECK(reader.next() == Event{"", "b"});
}

TEST_CASE("sse: an event without end is an error")
{
    const std::string megabyte(1 << 20, 'x');
    SECTION("one line")
    {
        sse::Reader reader;
        Status status = reader.feed("data: ");
        for (int i = 0; i < 20 && status; ++i) {
            status = reader.feed(megabyte);
            CHECK(!reader.next());
        }
        CHECK(!status);
        CHECK(status.error().code == code::api_error);
    }
    SECTION("many lines")
    {
        sse::Reader reader;
        Status status = Done{};
        for (int i = 0; i < 20 && status; ++i) {
            status = reader.feed("data: " + megabyte + "\n");
            CHECK(!reader.next());
        }
        CHECK(!status);
    }
    SECTION("many events are not one")
    {
        sse::Reader reader;
        for (int i = 0; i < 20; ++i) {
            CHECK(reader.feed("data: " + megabyte + "\n\n"));
            CHECK(reader.next());
        }
    }
}
