#include "rows.h"

#include "support/server.h"

#include <arpa/inet.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace ik::bench {
namespace {

using test::ModelServer;
using test::Reply;

constexpr int short_pairs = 200, pairs = 20, long_pairs = 7;
constexpr const char* six_tools = "bash,file_edit,file_read,file_write,glob,grep";

// ---- Commands

Command command(const Place& here, std::vector<std::string> argv, std::string input = "/dev/null")
{
    return {.argv = std::move(argv), .input = std::move(input), .env = {"PATH=/usr/bin:/bin", "LANG=C", "HOME=" + here.home, "OPENAI_API_KEY=none", "IKIGAI_CONTEXT_WINDOW=1000000"}};
}

Command ikigai(const Place& here, std::vector<std::string> words)
{
    words.insert(words.begin(), here.bin);
    return command(here, std::move(words));
}

Command tool(const Place& here, const std::string& name, std::string input) { return command(here, {here.libexec + "/" + name}, std::move(input)); }
Command schema(const Place& here) { return command(here, {here.libexec + "/glob", "--schema"}); }
Command sh(const Place& here, const std::string& line) { return command(here, {"/bin/sh", "-c", line}); }

std::string file(const Place& here, const std::string& name, std::string_view content)
{
    auto path = here.folder + "/" + name;
    if (!(std::ofstream(path, std::ios::binary) << content).flush())
        throw std::runtime_error("cannot write " + path);
    return path;
}

// Lines of 50 bytes or so, a number in each.
std::string large_file(const Place& here, const std::string& name, std::size_t size, std::string_view words)
{
    std::string text;
    text.reserve(size + 200);
    for (int i = 1; text.size() < size; ++i)
        text += "line " + std::to_string(i) + ": " + std::string(words) + "\n";
    return file(here, name, text);
}

// ---- Lines

std::string fixed(double value, int digits = 2)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

Line line(std::string row, std::string ours, std::string reference, const Pairs& measured)
{
    return {.row = std::move(row), .ours = std::move(ours), .reference = std::move(reference), .our_cost = measured.median_of_ours(),
            .reference_cost = measured.median_of_reference(), .figure = "ratio " + fixed(measured.ratio())};
}

Line at_most(Line line, double figure, double goal, const std::string& unit = "")
{
    line.goal = "<= " + fixed(goal, goal == static_cast<int>(goal) ? 0 : 1) + unit;
    line.met = figure <= goal;
    return line;
}

Line memory_line(std::string row, const char* figure, double megabytes, double goal)
{
    Line line{.row = std::move(row), .ours = "  its memory, at its peak", .reference = "", .figure = std::string(figure) + " " + fixed(megabytes, 1) + " MB"};
    return goal > 0 ? at_most(std::move(line), megabytes, goal, " MB") : line;
}

// ---- Start, discover, host

Pairs on_one_processor(const Command& ours, const Command& reference)
{
    Processors one(1);
    return in_turn(short_pairs, ours, reference);
}

std::vector<Line> start(const Place& here)
{
    if (here.busybox.empty())
        throw std::runtime_error("there is no busybox");
    auto busybox = command(here, {here.busybox, "true"});
    auto ours = on_one_processor(schema(here), busybox);
    auto floor = on_one_processor(command(here, {here.parts + "/bench-noop"}), busybox);
    auto first = at_most(line("start", "glob --schema", "busybox true", ours), ours.ratio(), 1.3);
    first.our_memory = memory_of(schema(here), here.bin, short_pairs);
    return {first, line("start", "(an empty static C program)", "busybox true", floor)};
}

std::vector<Line> discover(const Place& here)
{
    auto discovery = ikigai(here, {"discover"});
    auto measured = on_one_processor(discovery, schema(here));
    auto out = at_most(line("discover", "ikigai discover", "glob --schema", measured), measured.ratio(), 3);
    out.our_memory = memory_of(discovery, here.bin, short_pairs);
    return {out};
}

std::vector<Line> host(const Place& here)
{
    auto arguments = R"({"command":"true"})";
    auto call = ikigai(here, {"run", "bash", arguments});
    auto measured = in_turn(short_pairs, call, tool(here, "bash", file(here, "true.json", arguments)));
    auto whole = line("host", "ikigai run bash (true)", "bash (true), alone", measured);
    whole.figure = "+" + fixed(measured.difference_ms()) + " ms";
    whole.our_memory = memory_of(call, here.bin, pairs);
    auto out = calls_of_the_host(here, tool(here, "bash", here.folder + "/true.json"));
    out.push_back(whole);
    return out;
}

// ---- Conversations

std::vector<Reply> conversations(int count)
{
    std::vector<Reply> out;
    for (int i = 0; i < count; ++i) {
        out.push_back(test::stream_of({test::call("c1", "bash", R"({"command":"true"})")}));
        out.push_back(test::stream_of({test::text("Done.")}));
    }
    return out;
}

Command chat(const Place& here, const ModelServer& server)
{
    return ikigai(here, {"chat", "-p", "go", "--provider", "openai-chat", "--model", "m", "--base-url", server.base_url(), "--tools", six_tools});
}

// One connection that sends what it is told and reads an answer to its end: what the server itself takes.
class Client {
public:
    explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<in_port_t>(port));
        int on = 1;
        setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
            throw std::runtime_error("cannot connect to the loopback");
    }

    void ask(const std::string& body)
    {
        auto head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        std::string answer;
        char bytes[65536];
        write_all(fd_.get(), head + body);
        while (!answer.ends_with("\r\n0\r\n\r\n")) {
            auto n = read_some(fd_.get(), bytes, sizeof bytes);
            if (n <= 0)
                throw std::runtime_error("the loopback server gave no answer");
            answer.append(bytes, static_cast<std::size_t>(n));
        }
    }

private:
    Fd fd_;
};

Cost plain_requests(const ModelServer& server, const std::vector<std::string>& bodies)
{
    auto begin = std::chrono::steady_clock::now();
    Client client(server.port());
    for (auto& body : bodies)
        client.ask(body);
    return {std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(), 0};
}

// What a person would do without us: two curl, and one sh in between.
Command by_hand(const Place& here, const ModelServer& server, const std::vector<std::string>& bodies)
{
    std::string line;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        line += (i ? "; sh -c true; " : "") + here.curl + " -sN -H 'Content-Type: application/json' -d @" + file(here, "body" + std::to_string(i), bodies[i]) + " "
              + server.base_url() + "/chat/completions";
    return sh(here, line);
}

std::vector<Line> conversation(const Place& here)
{
    if (here.curl.empty())
        throw std::runtime_error("there is no curl");
    constexpr int count = 50;
    ModelServer server(conversations(1 + 4 * (count + 1) + count));
    auto ours = chat(here, server);
    run(ours);
    auto asked = server.requests();
    std::vector<std::string> bodies{asked.at(0).body, asked.at(1).body};
    auto measured = in_turn(count, [&] { return run(ours); }, [&] { return plain_requests(server, bodies); });
    auto hand = in_turn(count, ours, by_hand(here, server, bodies));
    auto memory = memory_of(ours, here.bin, count);

    auto over = measured.difference_ms();
    auto first = at_most(line("chat", "chat -p: 2 requests, 1 tool call", "the 2 requests, plain", measured), over, 25, " ms");
    first.figure = "+" + fixed(over) + " ms";
    first.reference_cost->cpu_ms = 0;
    first.our_memory = memory;
    return {first, at_most(line("chat", "the same", "2 curl and 1 sh, by hand", hand), hand.ratio(), 0.7),
            memory_line("chat", "RSS", memory.rss_mb, 15), memory_line("chat", "PSS", memory.pss_mb, 15)};
}

std::vector<Line> request(const Place& here)
{
    ModelServer server(conversations(1));
    run(chat(here, server));
    auto size = static_cast<double>(server.requests().at(0).body.size());
    Line out{.row = "request", .ours = "the first one, six tools", .reference = "", .figure = fixed(size, 0) + " B"};
    return {at_most(out, size, 4095, " B")};
}

// A long answer in small pieces, as models send them, through our two processes.
std::vector<Line> answer(const Place& here)
{
    if (here.curl.empty())
        throw std::runtime_error("there is no curl");
    constexpr int megabytes = 8;
    Reply reply = test::stream_of({test::text("end")});
    std::string piece;
    while (piece.size() < 16384)
        piece += test::event(test::text("a few words of it "));
    reply.pieces.insert(reply.pieces.begin(), megabytes * 64, piece);
    ModelServer server(std::vector<Reply>(2 * (long_pairs + 1) + 1, reply));
    auto ours = chat(here, server);
    auto reference = command(here, {here.curl, "-sN", "-d", "{}", server.base_url() + "/chat/completions"});
    auto measured = in_turn(long_pairs, ours, reference);
    auto out = line("answer", "chat -p: an answer of 8 MB", "curl", measured);
    out.our_memory = memory_of(ours, here.bin);
    return {out};
}

// ---- Much output

// Both write files: the last time's are gone before the clock runs, or their end would be in the figures.
std::vector<Line> much(const Place& here, const std::string& name, const Command& ours, const std::string& against, Command reference)
{
    reference.output = here.folder + "/much.out";
    auto clean = [&] {
        std::filesystem::remove_all(here.home + "/.local");
        std::filesystem::remove(reference.output);
    };
    auto measured = in_turn(long_pairs, [&] { return clean(), run(ours); }, [&] { return clean(), run(reference); });
    auto memory = memory_of(ours, here.bin);
    clean();
    auto first = at_most(line("output", name, against, measured), measured.ratio(), 2);
    first.our_memory = memory;
    return {first, memory_line("output", "RSS", memory.rss_mb, 30)};
}

std::vector<Line> output(const Place& here)
{
    std::filesystem::create_directories(here.home + "/.ikigai/tools");
    auto loud = here.home + "/.ikigai/tools/loud";
    std::filesystem::copy_file(here.parts + "/bench-loud", loud, std::filesystem::copy_options::overwrite_existing);
    auto out = much(here, "run loud: one string of 200 MB", ikigai(here, {"run", "loud", "{}"}), "loud > FILE", command(here, {loud}));
    // What passes a pipe, as a tool's output must, costs this much without us.
    auto copies = in_turn(long_pairs, sh(here, "rm -f a; exec " + here.bin + " run loud {}"), sh(here, "rm -f a; " + loud + " | cat > a"));
    out.push_back(line("output", "the same", "loud | cat > FILE", copies));
    auto lines = here.home + "/.ikigai/tools/lines";
    std::filesystem::copy_file(loud, lines);
    auto escaped = much(here, "run lines: 200 MB in lines of 50", ikigai(here, {"run", "lines", "{}"}), "lines > FILE", command(here, {lines}));
    escaped.front().goal = "";
    escaped.front().met = {};
    out.insert(out.end(), escaped.begin(), escaped.end());
    std::filesystem::remove_all(here.home + "/.ikigai");
    std::filesystem::remove_all(here.home + "/.local");

    auto arguments = R"({"command":"head -c 200000000 /dev/zero | tr '\\0' x"})";
    auto more = much(here, "run bash: head | tr, 200 MB", ikigai(here, {"run", "bash", arguments}), "sh: head | tr > FILE",
                     sh(here, "head -c 200000000 /dev/zero | tr '\\0' x"));
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

// ---- Large files

constexpr std::size_t large = 100'000'000;

Line read_line(const Place& here, const std::string& name, std::string_view words, double goal)
{
    auto path = large_file(here, "large", large, words);
    auto arguments = file(here, "read.json", R"({"file_path":")" + path + "\"}");
    auto ours = sh(here, here.libexec + "/file-read < " + arguments + " | cat > /dev/null");
    auto measured = in_turn(long_pairs, ours, sh(here, "cat " + path + " | cat > /dev/null"));
    auto out = line("read", name, "cat | cat", measured);
    if (goal > 0)
        out = at_most(out, measured.ratio(), goal);
    out.our_memory = memory_of(ours, here.bin);
    std::filesystem::remove(path);
    return out;
}

std::vector<Line> read(const Place& here)
{
    return {read_line(here, "file-read | cat: 100 MB", "the words of an ordinary log", 1.8),
            read_line(here, "file-read | cat: 100 MB, Cyrillic", "слова обыкновенного журнала", 0)};
}

std::vector<Line> edit(const Place& here)
{
    auto path = large_file(here, "large", large, "the words of an ordinary log");
    std::ofstream(path, std::ios::app) << "a needle\n";
    auto arguments = [&](const std::string& name, const std::string& from, const std::string& to) {
        return file(here, name, R"({"file_path":")" + path + R"(","old_string":"a )" + from + R"(","new_string":"a )" + to + "\"}");
    };
    // There and back, so that there is always one to replace.
    const Command ways[] = {tool(here, "file-edit", arguments("there.json", "needle", "thread")), tool(here, "file-edit", arguments("back.json", "thread", "needle"))};
    std::size_t times = 0;
    auto reference = sh(here, "cp " + path + " " + path + ".copy && sync " + path + ".copy");
    auto measured = in_turn(long_pairs, [&] { return run(ways[times++ % 2]); }, [&] { return run(reference); });
    auto out = at_most(line("edit", "file-edit: 100 MB, one place", "cp && sync FILE", measured), measured.ratio(), 2);
    out.our_memory = memory_of(ways[times % 2], here.bin);
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".copy");
    return {out};
}

constexpr Row rows[] = {
    {"start", start}, {"discover", discover}, {"chat", conversation}, {"request", request}, {"output", output},
    {"host", host}, {"read", read}, {"edit", edit}, {"decode", decode_streams}, {"answer", answer}, {"web", pages_to_markdown},
    {"grep", grep_lines}, {"glob", glob_lines}, {"kept", kept_conversations},
};

}

std::span<const Row> all_rows() { return rows; }

}
