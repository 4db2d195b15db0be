#include "llm/decode.h"

#include "support/world.h"

#include <catch2/catch.hpp>
#include <fstream>

namespace ik::test {
namespace {

namespace fs = std::filesystem;

std::string file(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void check_recording(const Decoding& got, const Json& expected)
{
    CHECK(got.joined("text") == expected.text("text"));
    CHECK(got.joined("thinking") == expected.text("thinking"));

    auto& tools = *expected.find("tools")->as<Json::Array>();
    auto calls = got.all("tool_call");
    REQUIRE(calls.size() == tools.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        auto* arguments = tools[i].find("arguments");
        auto* text = arguments->as<std::string>();
        CHECK(calls[i].text("name") == tools[i].text("name"));
        CHECK(*calls[i].find("arguments") == (text ? *parse_json(*text) : *arguments));
        CHECK(!calls[i].text("id").empty());
    }
    if (auto* error = expected.find("error")) {
        REQUIRE(got.complaint);
        CHECK(got.complaint->message == *error->as<std::string>());
        CHECK(got.complaint->raw_stop == expected.text("stop"));
        return;
    }
    CHECK(!got.complaint);
    REQUIRE(got.done);
    CHECK(got.lines.back().text("raw_stop") == expected.text("stop"));
    CHECK(*got.lines.back().find("raw_usage") == *expected.find("usage"));
}

}

std::string Decoding::joined(std::string_view type) const
{
    std::string out;
    for (auto& line : lines)
        if (line.text("type") == type) out += line.text("text");
    return out;
}

std::vector<Json> Decoding::all(std::string_view type) const
{
    std::vector<Json> out;
    for (auto& line : lines)
        if (line.text("type") == type) out.push_back(line);
    return out;
}

Json Decoding::one(std::string_view type) const
{
    auto found = all(type);
    return found.size() == 1 ? found.front() : Json();
}

Decoding decode(std::string_view provider, std::string_view bytes, std::size_t size)
{
    Decoding out;
    sse::Reader reader;
    auto decoder = providers::find(provider)->decoder();
    auto take = [&](providers::Decoded decoded) {
        for (auto& line : decoded.lines) out.lines.push_back(std::move(line));
        out.complaint = decoded.complaint;
        out.done = decoded.done;
    };
    auto events = [&] {
        while (!out.done && !out.complaint)
            if (auto event = reader.next())
                take(std::visit([&](auto& d) { return d.on(*event); }, decoder));
            else
                break;
    };
    if (size == 0) size = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        if (!reader.feed(bytes.substr(at, size))) FAIL_CHECK("too much");
        events();
    }
    reader.end();
    events();
    if (!out.done && !out.complaint)
        take(std::visit([](auto& d) { return d.end(); }, decoder));
    return out;
}

std::string with_crlf(std::string_view stream)
{
    std::string out;
    for (char c : stream) {
        if (c == '\n' && !out.ends_with('\r')) out += '\r';
        out += c;
    }
    return out;
}

void check_recordings(std::string_view provider)
{
    auto folder = fs::path(recordings()) / provider;
    if (recordings().empty() || !fs::exists(folder))
        return skip("no recordings of real services here (RECORDINGS names their folder)");
    std::size_t found = 0;
    for (auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".sse") continue;
        ++found;
        auto stream = file(entry.path());
        auto expected = parse_json(file(fs::path(entry.path()).replace_extension("expect.json")));
        REQUIRE(expected);
        for (auto size : read_sizes)
            for (bool crlf : {false, true}) {
                INFO(entry.path().filename().string() << " read by " << size << (crlf ? " with CRLF" : ""));
                check_recording(decode(provider, crlf ? with_crlf(stream) : stream, size), *expected);
            }
    }
    CHECK(found > 0);
}

}
