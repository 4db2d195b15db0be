// kept: what was kept of conversations is found and gone on with. A search beside grep over the same text in a file; a
// conversation of 10,000 events that goes on, beside one that begins.
#include "rows.h"

#include "support/server.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace ik::bench {
namespace {

using test::ModelServer;

constexpr int events = 10'000, pairs = 15;

Command ikigai(const Place& here, std::vector<std::string> words)
{
    words.insert(words.begin(), here.bin);
    return {.argv = std::move(words), .env = {"PATH=/usr/bin:/bin", "LANG=C", "HOME=" + here.home, "OPENAI_API_KEY=none", "IKIGAI_CONTEXT_WINDOW=10000000"}};
}

// As `ikigai sessions export` would write it: messages of about that many bytes, in one of them what is looked for.
std::string import(const Place& here, const std::string& session, std::size_t size)
{
    auto path = here.folder + "/" + session + ".jsonl";
    std::ofstream out(path, std::ios::binary);
    for (int i = 1; i <= events; ++i) {
        std::string text = i == events / 2 ? "the lemon harbour" : "a message";
        for (int n = 0; text.size() < size; ++n) text += " line" + std::to_string((i * 7919 + n * 104729) % 100'000);
        auto data = i % 2 ? "" : R"("data":{"parts":[{"text":")" + text + "\"}]},";
        out << R"({"type":"event","session":")" << session << R"(","seq":)" << i << R"(,"kind":")" << (i % 2 ? "user" : "assistant") << R"(",)"
            << (i % 2 ? "\"content\":\"" + text + "\"," : data) << R"("time":"2026-01-02T03:04:05.000Z","provider":"openai-chat","model":"m","folder":"/"})" << "\n";
    }
    if (!out.flush())
        throw std::runtime_error("cannot write " + path);
    run(ikigai(here, {"sessions", "import", path}));
    return path;
}

std::string fixed(const char* form, double value)
{
    char text[32];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

Line line(const std::string& ours, const std::string& reference, const Pairs& measured, std::string figure)
{
    return {.row = "kept", .ours = ours, .reference = reference, .our_cost = measured.median_of_ours(), .reference_cost = measured.median_of_reference(), .figure = std::move(figure)};
}

}

std::vector<Line> kept_conversations(const Place& here)
{
    import(here, "small", 100);
    ModelServer server({});
    server.beyond([](auto&) { return test::stream_of({test::text("Yes.")}); });
    auto asked = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"chat", "-p", "go", "--provider", "openai-chat", "--model", "m", "--base-url", server.base_url(), "--no-save"});
        return ikigai(here, std::move(more));
    };
    auto on = asked({"--session", "small"});
    auto going_on = in_turn(pairs, on, asked({}));
    auto out = line("chat -p: on with 10,000 events", "chat -p: a new one", going_on, fixed("+%.1f ms", going_on.difference_ms()));
    out.our_memory = memory_of(on, here.bin, 3);

    auto file = import(here, "large", 10'000);
    Command grep{.argv = {"/usr/bin/grep", "-c", "lemon harbour", file}, .env = {"LANG=C"}};
    auto looked = in_turn(pairs, ikigai(here, {"sessions", "search", "lemon", "harbour"}), grep);
    return {out, line("sessions search: 100 MB of them", "grep in 100 MB", looked, fixed("ratio %.2f", looked.ratio()))};
}

}
