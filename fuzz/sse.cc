// A stream of each dialect, as it comes and byte by byte: the same lines.
#include "fuzz/fuzz.h"

#include "llm/provider.h"

namespace ik::fuzz {
namespace {

struct Heard { std::vector<Json> lines; bool ended = false; };

Heard heard(const providers::Provider& provider, std::string_view bytes, std::size_t size)
{
    Heard out;
    sse::Reader reader;
    auto decoder = provider.decoder();
    auto take = [&](providers::Decoded decoded) {
        for (auto& line : decoded.lines) out.lines.push_back(std::move(line));
        out.ended = out.ended || decoded.done || decoded.complaint;
    };
    auto events = [&] {
        while (!out.ended)
            if (auto event = reader.next()) take(std::visit([&](auto& d) { return d.on(*event); }, decoder));
            else break;
    };
    for (std::size_t at = 0; at < bytes.size() && !out.ended; at += size) {
        if (!reader.feed(bytes.substr(at, size))) return out;
        events();
    }
    reader.end();
    events();
    if (!out.ended) {
        take(std::visit([](auto& d) { return d.end(); }, decoder));
        claim(out.ended, "the end of a stream is an end");
    }
    return out;
}

}

void sse(std::string_view bytes)
{
    if (bytes.size() > 64 << 10)
        return;
    for (auto& provider : providers::all()) {
        if (!provider.request)
            continue;
        auto whole = heard(provider, bytes, bytes.size() + 1), pieces = heard(provider, bytes, 1);
        claim(whole.lines.size() == pieces.lines.size() && whole.ended == pieces.ended, "pieces do not change what is heard");
        for (auto& line : whole.lines) claim(parse_json(line.dump()).operator bool(), "a line is JSON");
    }
    providers::complaint_in_body(bytes, 400);
}

}
