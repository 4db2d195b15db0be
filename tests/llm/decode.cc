#include "llm/decode.h"

#include "support/world.h"

#include <catch2/catch.hpp>

namespace ik::test {
namespace {

namespace fs = std::filesystem;

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
        auto stream = contents_of(entry.path());
        auto expected = parse_json(contents_of(fs::path(entry.path()).replace_extension("expect.json")));
        REQUIRE(expected);
        for (auto size : read_sizes)
            for (bool crlf : {false, true}) {
                INFO(entry.path().filename().string() << " read by " << size << (crlf ? " with CRLF" : ""));
                check_recording(decode(provider, crlf ? with_crlf(stream) : stream, size), *expected);
            }
    }
    CHECK(found > 0);
}

Json::Array answered(std::string_view said, const Decoding& decoding, const Json& envelope)
{
    Json::Array parts, answers;
    auto grow = [&](const char* member, std::string_view text) {
        auto* last = parts.empty() ? nullptr : parts.back().find(member);
        if (last) *last->as<std::string>() += text;
        else parts.push_back(object({{member, text}}));
    };
    for (auto& line : decoding.lines) {
        auto type = line.text("type");
        if (type == "text" || type == "thinking") grow(type == "text" ? "text" : "thinking", line.text("text"));
        if (type == "opaque") parts.push_back(object({{"opaque", *line.find("data")}, {"provider", line.text("provider")}}));
        if (type != "tool_call") continue;
        parts.push_back(object({{"call", object({{"id", line.text("id")}, {"name", line.text("name")}, {"arguments", *line.find("arguments")}})}}));
        answers.push_back(object({{"role", "tool"}, {"id", line.text("id")}, {"name", line.text("name")}, {"envelope", envelope}}));
    }
    Json::Array out{object({{"role", "user"}, {"text", said}}), object({{"role", "assistant"}, {"parts", std::move(parts)}})};
    out.insert(out.end(), answers.begin(), answers.end());
    return out;
}

Json body_of(std::string_view provider, const Json& ask)
{
    auto* row = providers::find(provider);
    auto value = parse_json(row->request(ask, {.base_url = std::string(row->base_url), .key = "k", .key_source = "K"}).body);
    return value ? *value : Json();
}

std::optional<std::string> recorded_stream(std::string_view provider, const std::string& name)
{
    auto path = fs::path(recordings()) / provider / (name + ".sse");
    if (recordings().empty() || !fs::exists(path)) {
        skip("no recordings of real services here (RECORDINGS names their folder)");
        return {};
    }
    return contents_of(path);
}

Json recorded_request(std::string_view provider, const std::string& name)
{
    auto value = parse_json(contents_of(fs::path(recordings()) / provider / (name + ".request.json")));
    return value ? *value : Json();
}

}
