#include "base/json.h"
#include "base/text.h"

#include <catch2/catch.hpp>
#include <random>

// As it comes, and apart from the one inside ikigai, which is built with SSE2.
#define RAPIDJSON_NAMESPACE plain_rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace plain_rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

using namespace ik;

namespace {

std::mt19937 dice(1);
unsigned below(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(dice); }

// Characters of every length, what must be escaped, the ends of ranges.
std::string character()
{
    constexpr const char* some[] = {"a", "b", " ", "\"", "\\", "\n", "\t", "\x01", "\x1F", "\x7F", "/", "я", "\u00A0", "\u07FF", "\u0800", "€",
                                    "\uD7FF", "\uE000", "\uFFFD", "\uFFFF", "\U00010000", "😀", "\U0010FFFF"};
    return some[below(std::size(some))];
}

std::string text(unsigned characters, bool mostly_plain)
{
    std::string out;
    while (characters--)
        out += mostly_plain && below(20) ? std::string(1, static_cast<char>('a' + below(26))) : character();
    return out;
}

// Cut, doubled and overwritten somewhere.
std::string broken(std::string text)
{
    for (auto times = below(4); times-- && !text.empty();) {
        auto at = below(static_cast<unsigned>(text.size()));
        if (below(2)) text.erase(at, 1);
        else text[at] = static_cast<char>(below(256));
    }
    return text;
}

std::string escaped(std::string_view bytes)
{
    std::string out = "before";
    append_escaped(out, bytes);
    REQUIRE(out.starts_with("before"));
    return out.substr(6);
}

// What the same means character by character.
std::string slowly_cleaned(std::string_view bytes)
{
    std::string out;
    while (!bytes.empty()) {
        auto size = utf8_length(bytes);
        out += size ? bytes.substr(0, size) : "\uFFFD";
        bytes.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

std::string of_rapidjson(const std::string& text)
{
    plain_rapidjson::StringBuffer buffer;
    plain_rapidjson::Writer<plain_rapidjson::StringBuffer> writer(buffer);
    writer.String(text.data(), static_cast<unsigned>(text.size()));
    return {buffer.GetString() + 1, buffer.GetSize() - 2};
}

}

TEST_CASE("json escape: what is written is what RapidJSON writes")
{
    for (int i = 0; i < 20'000; ++i) {
        auto some = text(below(120), i % 2);
        if (escaped(some) != of_rapidjson(some)) FAIL(some);
    }
    auto much = text(60'000, true);
    CHECK(escaped(much) == of_rapidjson(much));
    CHECK(escaped(std::string(10'000, '\x01')) == of_rapidjson(std::string(10'000, '\x01')));
    CHECK(escaped("") == "");
}

TEST_CASE("json escape: bytes that are no UTF-8 are replaced one by one, wherever they stand")
{
    for (int i = 0; i < 50'000; ++i) {
        auto some = broken(text(below(120), i % 2));
        auto clean = slowly_cleaned(some);
        if (escaped(some) != of_rapidjson(clean)) FAIL(escaped(some));
        if (clean_utf8(some) != clean || valid_utf8(some) != (clean == some)) FAIL(clean);
    }
}

TEST_CASE("json escape: every two and three bytes, behind and before plain text")
{
    const std::string around(21, 'x');
    for (unsigned first = 0x80; first < 256; ++first)
        for (unsigned second = 0; second < 256; ++second)
            for (unsigned third : {0x00u, 0x41u, 0x80u, 0x8Fu, 0x90u, 0x9Fu, 0xA0u, 0xBFu, 0xC0u, 0xFFu}) {
                auto bytes = around + static_cast<char>(first) + static_cast<char>(second) + static_cast<char>(third) + "\x80" + around + around;
                if (clean_utf8(bytes) != slowly_cleaned(bytes)) FAIL(first << " " << second << " " << third);
            }
}
