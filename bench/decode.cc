// decode: each dialect's stream to neutral lines, beside RapidJSON alone on the same documents. In this process.
// The streams are recordings of real services where there are any (RECORDINGS), else of our own making.
#include "rows.h"

#include "llm/provider.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

// As it comes, and apart from the one inside ikigai, which is built with SSE2.
#define RAPIDJSON_NAMESPACE plain_rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace plain_rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#include <rapidjson/document.h>

namespace ik::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t decoded_size = 10'000'000;   // bytes of stream in one measurement
constexpr std::size_t read_size = 16384;
constexpr int pairs = 7;

struct Own {
    std::string_view provider, first, middle, last;   // middle is repeated
};
constexpr Own own[] = {
    {"openai-chat", "", R"({"id":"c-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"a few words"},"finish_reason":null}]})",
     R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"},
    {"openai-responses", R"({"type":"response.created","response":{"id":"r"}})",
     R"({"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a few words","sequence_number":4})",
     R"({"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":2}}})"},
    {"anthropic", R"({"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}})" "\n\ndata: " R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
     R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words"}})", R"({"type":"message_stop"})"},
    {"google", "", R"({"candidates":[{"content":{"parts":[{"text":"a few words"}],"role":"model"}}],"modelVersion":"m"})",
     R"({"candidates":[{"content":{"parts":[{"text":"."}],"role":"model"},"finishReason":"STOP"}]})"},
};

std::string own_stream(const Own& of)
{
    auto event = [](std::string_view data) { return data.empty() ? "" : "data: " + std::string(data) + "\n\n"; };
    std::string out = event(of.first);
    while (out.size() < 100'000) out += event(of.middle);
    return out + event(of.last);
}

std::vector<std::string> streams_of(const Own& of)
{
    const char* named = std::getenv("RECORDINGS");
    auto folder = fs::path(named ? named : "/nonexistent") / of.provider;
    std::vector<std::string> out;
    if (fs::exists(folder))
        for (auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".sse") {
                std::ifstream in(entry.path(), std::ios::binary);
                out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
            }
    return out.empty() ? std::vector{own_stream(of)} : out;
}

// The lines of one stream, as they would be written; their size, so that nothing is left out.
std::size_t decode_one(const providers::Provider& provider, std::string_view bytes)
{
    sse::Reader reader;
    auto decoder = provider.decoder();
    std::size_t size = 0;
    for (std::size_t at = 0; at < bytes.size(); at += read_size) {
        if (!reader.feed(bytes.substr(at, read_size)))
            throw std::runtime_error("a stream cannot be read");
        while (auto event = reader.next())
            for (auto& line : std::visit([&](auto& d) { return d.on(*event); }, decoder).lines)
                size += line.dump().size();
    }
    return size;
}

std::vector<std::string> documents_of(std::string_view bytes)
{
    std::vector<std::string> out;
    sse::Reader reader;
    if (!reader.feed(bytes))
        throw std::runtime_error("a stream cannot be read");
    while (auto event = reader.next())
        if (event->data.starts_with('{'))
            out.push_back(std::move(event->data));
    return out;
}

// When work is done often enough for decoded_size bytes.
Cost cost_of_all(std::size_t bytes, const std::function<std::size_t()>& work)
{
    std::size_t done = 0;
    auto cost = cost_of([&] {
        for (std::size_t at = 0; at < decoded_size; at += bytes)
            done += work();
    });
    if (!done)
        throw std::runtime_error("nothing was decoded");
    return cost;
}

Line measure(const Own& of)
{
    auto* provider = providers::find(of.provider);
    if (!provider)
        throw std::runtime_error("no provider " + std::string(of.provider));
    auto streams = streams_of(of);
    std::size_t bytes = 0;
    std::vector<std::string> documents;
    for (auto& stream : streams) {
        bytes += stream.size();
        for (auto& document : documents_of(stream)) documents.push_back(std::move(document));
    }
    auto ours = [&] {
        std::size_t size = 0;
        for (auto& stream : streams) size += decode_one(*provider, stream);
        return size;
    };
    auto reference = [&] {
        std::size_t size = 0;
        for (auto& document : documents) {
            plain_rapidjson::Document parsed;
            parsed.Parse(document.data(), document.size());
            size += parsed.IsObject();
        }
        return size;
    };
    auto measured = in_turn(pairs, [&] { return cost_of_all(bytes, ours); }, [&] { return cost_of_all(bytes, reference); });
    char figure[32];
    std::snprintf(figure, sizeof figure, "ratio %.2f", measured.ratio());
    return {.row = "decode", .ours = std::string(of.provider) + ", 10 MB of stream", .reference = "RapidJSON on the documents",
            .our_cost = measured.median_of_ours(), .reference_cost = measured.median_of_reference(), .figure = figure, .goal = "<= 2",
            .met = measured.ratio() <= 2};
}

}

std::vector<Line> decode_streams(const Place&)
{
    std::vector<Line> out;
    for (auto& of : own)
        out.push_back(measure(of));
    return out;
}

}
