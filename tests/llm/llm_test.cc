// `ikigai llm` as a real child against a service on the loopback.
#include "base/child.h"
#include "base/text.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <zlib.h>

using namespace ik;
using namespace ik::test;

namespace {

std::string zipped(const std::string& plain)
{
    z_stream zip{};
    deflateInit2(&zip, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);   // 16: as gzip
    std::string out(plain.size() + 100, '\0');
    zip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    zip.avail_in = static_cast<uInt>(plain.size());
    zip.next_out = reinterpret_cast<Bytef*>(out.data());
    zip.avail_out = static_cast<uInt>(out.size());
    deflate(&zip, Z_FINISH);
    out.resize(zip.total_out);
    deflateEnd(&zip);
    return out;
}

std::string ask(std::string_view said) { return object({{"type", "ask"}, {"model", "m"}, {"messages", Json::Array{object({{"role", "user"}, {"text", said}})}}}).dump() + "\n"; }

// Setup for the server, with pauses too short to notice.
std::string setup(const ModelServer& server, Json more = Json::Object())
{
    auto line = object({{"type", "setup"}, {"provider", "openai-chat"}, {"base_url", server.base_url()}, {"key", "secret-key"}, {"key_source", "OPENAI_API_KEY"}, {"retry_base_ms", 1}});
    for (auto& [name, value] : *more.as<Json::Object>()) line.set(name, value);
    return line.dump() + "\n";
}

struct Answered {
    std::vector<Json> lines;
    int status;
    std::string err;

    std::string text() const
    {
        std::string out;
        for (auto& line : lines)
            if (line.text("type") == "text") out += line.text("text");
        return out;
    }
    std::vector<std::string> types() const
    {
        std::vector<std::string> out;
        for (auto& line : lines) out.emplace_back(line.text("type"));
        return out;
    }
    const Json& last() const { return lines.back(); }
};

Answered llm(const std::string& input)
{
    auto ran = run({.argv = {ikigai(), "llm"}, .input = input, .env = {"OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}});
    Answered out{{}, ran.status, ran.err};
    auto rest = ran.out;
    while (auto line = take_line(rest)) out.lines.push_back(*parse_json(*line));
    REQUIRE(rest.empty());
    REQUIRE(!out.lines.empty());
    return out;
}

using Types = std::vector<std::string>;

}

TEST_CASE("llm: a stream becomes neutral lines")
{
    ModelServer server({stream_of({text("Hel"), text("lo"), call("c1", "bash", R"({"command":"ls"})")})});
    auto got = llm(setup(server) + ask("hi"));
    CHECK(got.status == 0);
    CHECK(got.text() == "Hello");
    CHECK(got.types() == Types{"text", "text", "tool_call", "usage", "done"});
    CHECK(got.lines[2].dump() == R"({"type":"tool_call","id":"c1","name":"bash","arguments":{"command":"ls"}})");
    CHECK(got.lines[3].dump() == R"({"type":"usage","input_tokens":10,"output_tokens":5,"cached_tokens":0,"reasoning_tokens":0})");
    CHECK(got.last().text("reason") == "tool_use");
    CHECK(got.last().text("raw_stop") == "tool_calls");
    auto request = server.requests().at(0);
    CHECK(request.path == "/v1/chat/completions");
    CHECK(request.header("Authorization") == "Bearer secret-key");
}

TEST_CASE("llm: text is passed on as it arrives")
{
    auto reply = stream_of({text("early"), text("late")});
    reply.hold_before = 1;
    ModelServer server({reply});
    auto child = Child::start({.argv = {ikigai(), "llm"}, .input = setup(server) + ask("hi"), .limit = std::chrono::seconds(20)});
    REQUIRE(child);
    auto turn = [&] {
        Poll poll;
        child->add_to(poll);
        poll.wait();
        child->advance(poll);
    };
    while (!child->exit && child->out.find("early") == std::string::npos) turn();
    CHECK(child->out == "{\"type\":\"text\",\"text\":\"early\"}\n");
    server.go_on();
    while (!child->exit) turn();
    CHECK(child->out.find("late") != std::string::npos);
    CHECK(child->exit->status() == 0);
}

TEST_CASE("llm: a long answer needs little memory")
{
    if (sanitized())
        return skip("a sanitizer needs memory of its own");
    auto piece = event(text("some words that are said in one go"));
    std::string many;
    while (many.size() < 64 << 10) many += piece;
    auto reply = stream_of({text("last")});
    reply.pieces.insert(reply.pieces.begin(), 64, many);
    ModelServer server({reply});
    auto child = Child::start({.argv = {ikigai(), "llm"}, .input = setup(server) + ask("hi"), .keep_stdin = true, .limit = std::chrono::seconds(20)});
    REQUIRE(child);
    auto done = [&] { return child->out.find("\"done\"") != std::string::npos; };
    while (!child->exit && !done()) {
        Poll poll;
        child->add_to(poll);
        poll.wait();
        child->advance(poll);
    }
    REQUIRE(!child->exit);
    auto all = contents_of("/proc/" + std::to_string(child->id()) + "/status");
    auto at = all.find("VmHWM:");
    REQUIRE(at != std::string::npos);
    CHECK(std::stol(all.substr(at + 6)) < 20 << 10);
}

TEST_CASE("llm: one connection for the whole conversation")
{
    ModelServer server({stream_of({text("a")}), refusal(400, "no"), stream_of({text("b")}), stream_of({text("c")})});
    auto got = llm(setup(server) + ask("1") + ask("2") + ask("3") + ask("4"));
    CHECK(got.text() == "abc");
    CHECK(server.connections() == 1);
    CHECK(server.requests().size() == 4);
}

TEST_CASE("llm: a connection that was closed in between costs no retry")
{
    auto closing = stream_of({text("a")});
    closing.ending = Reply::closing;
    ModelServer server({closing, stream_of({text("b")})});
    auto got = llm(setup(server) + ask("1") + ask("2"));
    CHECK(got.types() == Types{"text", "usage", "done", "text", "usage", "done"});
    CHECK(server.connections() == 2);

    // closed only when the next request has already been sent on it
    ModelServer late({stream_of({text("a")}), {.raw = " "}, stream_of({text("b")})});
    auto after = llm(setup(late) + ask("1") + ask("2"));
    CHECK(after.types() == Types{"text", "usage", "done", "text", "usage", "done"});
}

TEST_CASE("llm: what is not tried again")
{
    struct Case { int status; const char* code; };
    for (auto& c : {Case{400, "API_ERROR"}, Case{401, "AUTH_INVALID"}, Case{403, "AUTH_INVALID"}, Case{422, "API_ERROR"}}) {
        ModelServer server({refusal(c.status, "Because.")});
        auto got = llm(setup(server) + ask("x"));
        CHECK(got.types() == Types{"error"});
        CHECK(got.last().text("error_code") == c.code);
        CHECK(*got.last().find("status") == Json(c.status));
        CHECK(got.last().text("error").starts_with("Because (HTTP " + std::to_string(c.status) + ", openai-chat, m)"));
        CHECK(got.status == 0);
        CHECK(server.requests().size() == 1);
    }
}

TEST_CASE("llm: 401 says where the key came from, never the key")
{
    ModelServer server({refusal(401, "Wrong key"), refusal(401, "Wrong key")});
    auto got = llm(setup(server) + ask("x"));
    CHECK(got.last().text("error").find("OPENAI_API_KEY") != std::string::npos);
    CHECK(got.last().text("error").find("secret-key") == std::string::npos);
    auto by_hand = run({.argv = {ikigai(), "llm"}, .input = ask("x"), .env = {"OPENAI_API_KEY=secret-key", "OPENAI_BASE_URL=" + server.base_url() + "/"}});
    CHECK(by_hand.out.find("OPENAI_API_KEY") != std::string::npos);
    CHECK(by_hand.out.find("secret-key") == std::string::npos);
    CHECK(server.requests().at(1).header("Authorization") == "Bearer secret-key");
    CHECK(server.requests().at(1).path == "/v1/chat/completions");
}

TEST_CASE("llm: 404 names models that are near")
{
    Reply models{.pieces = {R"({"data":[{"id":"mm"},{"id":"something-else"}]})"}};
    ModelServer server({refusal(404, "No such model"), models});
    auto got = llm(setup(server) + ask("x"));
    CHECK(got.last().text("error").find("Did you mean: mm?") != std::string::npos);
    CHECK(server.requests().at(1).path == "/v1/models");
    CHECK(server.requests().at(1).method == "GET");
}

TEST_CASE("llm: what passes is tried again, five times in all")
{
    ModelServer server({refusal(429, "Slow down", {"Retry-After-Ms: 2"}), refusal(500, "Oh"), refusal(529, "Full"), stream_of({text("fine")})});
    auto got = llm(setup(server) + ask("x"));
    CHECK(got.types() == Types{"retry", "retry", "retry", "text", "usage", "done"});
    CHECK(got.lines[0].dump() ==
          R"({"type":"retry","attempt":1,"delay_ms":2,"error":"Slow down (HTTP 429, openai-chat, m). Wait a little, then try again.","discard":false})");
    CHECK(*got.lines[2].find("attempt") == Json(3));

    std::vector<Reply> always(9, refusal(503, "Down"));
    ModelServer down(always);
    auto lost = llm(setup(down) + ask("x"));
    CHECK(lost.types() == Types{"retry", "retry", "retry", "retry", "error"});
    CHECK(down.requests().size() == 5);
    CHECK(*lost.last().find("status") == Json(503));
}

TEST_CASE("llm: who asks to wait for too long gets the error at once")
{
    ModelServer server({refusal(429, "Tomorrow", {"Retry-After: 86400"})});
    CHECK(llm(setup(server) + ask("x")).types() == Types{"error"});
}

TEST_CASE("llm: a stream that breaks off is asked for again")
{
    for (auto ending : {Reply::cut, Reply::reset, Reply::whole, Reply::closing}) {
        INFO(ending);
        Reply broken{.pieces = {event(text("Hel"))}, .ending = ending};
        ModelServer server({broken, stream_of({text("Hello")})});
        auto got = llm(setup(server) + ask("x"));
        CHECK(got.types() == Types{"text", "retry", "text", "usage", "done"});
        CHECK(*got.lines[1].find("discard") == Json(true));
    }
    for (auto& raw : {"garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "HTTP/1.1 banana\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n"}) {
        INFO(raw);
        ModelServer server({{.raw = raw}, stream_of({text("Hello")})});
        auto got = llm(setup(server) + ask("x"));
        CHECK(got.types() == Types{"retry", "text", "usage", "done"});
        CHECK(*got.lines[0].find("discard") == Json(false));
    }
}

TEST_CASE("llm: a compressed stream, and an event of 10 MB")
{
    auto whole = stream_of({text("Hello")});
    std::string plain;
    for (auto& piece : whole.pieces) plain += piece;
    ModelServer server({{.pieces = {zipped(plain)}, .headers = {"Content-Type: text/event-stream", "Content-Encoding: gzip"}},
                        stream_of({text(std::string(10'000'000, 'x'))})});
    auto got = llm(setup(server) + ask("x"));
    CHECK(got.types() == Types{"text", "usage", "done"});
    CHECK(got.lines[0].text("text") == "Hello");
    CHECK(llm(setup(server) + ask("x")).lines.at(0).text("text").size() == 10'000'000);
}

TEST_CASE("llm: a silent service is given up")
{
    Reply hangs{.pieces = {event(text("Hel"))}, .ending = Reply::hang};
    ModelServer server({hangs, stream_of({text("Hello")})});
    auto got = llm(setup(server, object({{"stream_idle_timeout_ms", 100}})) + ask("x"));
    CHECK(got.types() == Types{"text", "retry", "text", "usage", "done"});
    CHECK(got.lines[1].text("error").find("silent for 100 ms") != std::string::npos);
}

TEST_CASE("llm: an error in the middle of a stream")
{
    Reply final{.pieces = {event(text("Hel")), event(R"({"error":{"code":400,"message":"Token limit reached"}})")}};
    ModelServer server({final});
    auto got = llm(setup(server) + ask("x"));
    CHECK(got.types() == Types{"text", "error"});
    CHECK(got.last().text("error") == "Token limit reached (openai-chat, m)");

    Reply passing{.pieces = {event(text("Hel")), event(R"({"error":{"code":529,"message":"Overloaded"}})")}};
    ModelServer busy({passing, stream_of({text("Hello")})});
    CHECK(llm(setup(busy) + ask("x")).types() == Types{"text", "retry", "text", "usage", "done"});
}

TEST_CASE("llm: an answer that is no stream")
{
    Reply error{.pieces = {R"({"error":{"message":"Model is loading","code":503}})"}, .headers = {"Content-Type: application/json"}};
    Reply page{.pieces = {"<html><body>Welcome</body></html>"}, .headers = {"Content-Type: text/html"}};
    ModelServer server({error, page, refusal(308, "", {"Location: https://elsewhere/v1"}), {.status = 204}, stream_of({text("Hi")})});
    auto got = llm(setup(server) + ask("1") + ask("2") + ask("3"));
    REQUIRE(got.types() == Types{"retry", "error", "error", "retry", "text", "usage", "done"});
    CHECK(got.lines[0].text("error") == "Model is loading (openai-chat, m). The service is overloaded or down: try again later.");
    CHECK(got.lines[1].text("error").find("did not answer with a stream but with text/html") != std::string::npos);
    CHECK(got.lines[2].text("error").find("leads on to https://elsewhere/v1") != std::string::npos);
}

TEST_CASE("llm: nobody there")
{
    auto base = "http://127.0.0.1:" + std::to_string(closed_port()) + "/v1";
    auto line = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", base}, {"retry_base_ms", 1}}).dump() + "\n";
    auto got = llm(line + ask("x"));
    CHECK(got.types() == Types{"retry", "retry", "retry", "retry", "error"});
    CHECK(got.last().text("error_code") == "NETWORK_ERROR");
    CHECK(got.last().text("error").find("127.0.0.1: connection refused") == 0);
    CHECK(!got.last().find("status"));

    auto nowhere = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", "http://no-such-host.invalid/v1"}, {"retry_base_ms", 1}}).dump() + "\n";
    auto unknown = run({.argv = {ikigai(), "llm"}, .input = nowhere + ask("x"), .env = {"RES_OPTIONS=timeout:1 attempts:1"}});
    CHECK(unknown.out.find("no-such-host.invalid: the name cannot be resolved") != std::string::npos);
}

TEST_CASE("llm: an IPv6 address")
{
    ModelServer server({stream_of({text("Hi")})}, ModelServer::v6);
    if (!server.port())
        return skip("the loopback has no IPv6 address here");
    CHECK(llm(setup(server) + ask("x")).text() == "Hi");
}

TEST_CASE("llm: a plain server where TLS is expected")
{
    ModelServer server({{.raw = "hello"}});
    auto line = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", "https://127.0.0.1:" + std::to_string(server.port())}, {"retry_base_ms", 1}, {"connect_timeout_ms", 300}}).dump() + "\n";
    auto got = llm(line + ask("x"));
    CHECK(got.last().text("error_code") == "NETWORK_ERROR");
    CHECK(got.last().text("error").find("TLS") != std::string::npos);
}

TEST_CASE("llm: through a proxy")
{
    ModelServer proxy({stream_of({text("Hi")})});
    auto line = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", "http://far.example/v1"}, {"key", "k"}}).dump() + "\n";
    auto ran = run({.argv = {ikigai(), "llm"}, .input = line + ask("x"), .env = {"HTTP_PROXY=http://me:pass@127.0.0.1:" + std::to_string(proxy.port()), "http_proxy", "NO_PROXY", "no_proxy"}});
    CHECK(ran.out.find("Hi") != std::string::npos);
    REQUIRE(proxy.requests().size() == 1);
    CHECK(proxy.requests()[0].path == "http://far.example:80/v1/chat/completions");
    CHECK(proxy.requests()[0].header("Proxy-Authorization") == "Basic bWU6cGFzcw==");
}

TEST_CASE("llm: a proxy that opens no tunnel")
{
    ModelServer proxy({{.raw = "HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n"}});
    auto line = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", "https://far.example/v1"}, {"key", "secret-key"}}).dump() + "\n";
    auto ran = run({.argv = {ikigai(), "llm"}, .input = line + ask("x"), .env = {"HTTPS_PROXY=http://me:pass@127.0.0.1:" + std::to_string(proxy.port()), "https_proxy", "NO_PROXY", "no_proxy"}});
    CHECK(ran.out == "{\"type\":\"error\",\"error\":\"far.example (through the proxy 127.0.0.1): the proxy answered HTTP 407 (openai-chat, m). Check HTTPS_PROXY and NO_PROXY.\",\"error_code\":\"NETWORK_ERROR\"}\n");
    REQUIRE(proxy.requests().size() == 1);
    CHECK(proxy.requests()[0].method == "CONNECT");
    CHECK(proxy.requests()[0].path == "far.example:443");
    CHECK(proxy.requests()[0].header("Proxy-Authorization") == "Basic bWU6cGFzcw==");
    CHECK(proxy.requests()[0].header("Authorization").empty());
}

TEST_CASE("llm: a missing key names the variable, at the service's own address only")
{
    auto got = llm(ask("x"));
    CHECK(got.types() == Types{"error"});
    CHECK(got.last().text("error_code") == "AUTH_MISSING");
    CHECK(got.last().text("error").find("OPENAI_API_KEY") != std::string::npos);
    ModelServer server({stream_of({text("Hi")})});
    auto local = run({.argv = {ikigai(), "llm"}, .input = ask("x"), .env = {"OPENAI_API_KEY", "OPENAI_BASE_URL=" + server.base_url()}});
    CHECK(local.out.find("Hi") != std::string::npos);
    CHECK(server.requests().at(0).header("Authorization").empty());
}

TEST_CASE("llm: lines that are no requests are answered, and it goes on")
{
    auto got = llm("nonsense\n{}\n[]\n\n" + object({{"type", "ask"}, {"provider", "opneai"}}).dump() + "\n" +
                   R"({"type":"ask","provider":"offline","messages":[{"role":"user","text":"help"}]})");
    CHECK(got.types() == Types{"error", "error", "error", "error", "text", "done"});
    CHECK(got.lines[0].text("error_code") == "INVALID_ARG");
    CHECK(got.lines[3].text("error").find("Did you mean: openai?") != std::string::npos);
    CHECK(got.status == 0);
}

TEST_CASE("llm: a body that is not UTF-8 and numbers that are none")
{
    Reply odd{.pieces = {event("{\"choices\":[{\"delta\":{\"content\":\"a\xFF" "b\"},\"finish_reason\":\"stop\"}]}")}};
    ModelServer server({odd});
    CHECK(llm(setup(server) + ask("x")).text() == "a\uFFFDb");
}

TEST_CASE("llm: extra headers from the setup")
{
    ModelServer server({stream_of({text("Hi")})});
    llm(setup(server, object({{"headers", object({{"X-Title", "ikigai"}})}})) + ask("x"));
    CHECK(server.requests().at(0).header("X-Title") == "ikigai");
}

TEST_CASE("llm: it ends when nobody reads")
{
    ModelServer server(std::vector<Reply>(5, refusal(503, "Down", {"Retry-After: 60"})));
    auto line = setup(server) + ask("x");
    Folder folder;
    folder.write("in", line);
    auto ran = sh(ikigai() + " llm < in | head -c 1; echo ended");
    CHECK(ran.out == "{ended\n");
}
