#include "support/server.h"
#include "support/tls_server.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

std::string answer()
{
    std::string out;
    for (auto& piece : stream_of({text("Hi")}).pieces) out += piece;
    return out;
}

Ran ask_twice(const TlsServer& server, std::vector<std::string> env)
{
    auto setup = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", server.base_url()}, {"retry_base_ms", 1}}).dump() + "\n";
    auto ask = std::string(R"({"type":"ask","model":"m","messages":[]})") + "\n";
    for (auto* none : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) env.push_back(none);
    return run({.argv = {ikigai(), "llm"}, .input = setup + ask + ask, .env = env});
}

bool says(const Ran& ran, std::string_view part)
{
    INFO(ran.out);
    return ran.out.find(part) != std::string::npos;
}

}

TEST_CASE("tls: a certificate that the user trusts, one handshake a conversation")
{
    Folder folder;
    TlsServer server("127.0.0.1", folder / "cert.pem", answer());
    auto ran = ask_twice(server, {"SSL_CERT_FILE=" + (folder / "cert.pem")});
    CHECK(says(ran, R"({"type":"text","text":"Hi"})"));
    CHECK(!says(ran, "error"));
    CHECK(server.requests() == 2);
    CHECK(server.connections() == 1);
}

TEST_CASE("tls: certificates that are refused")
{
    Folder folder;
    TlsServer server("127.0.0.1", folder / "cert.pem", answer());
    CHECK(!says(ask_twice(server, {"SSL_CERT_FILE"}), "retry"));
    CHECK(says(ask_twice(server, {"SSL_CERT_FILE"}), "127.0.0.1: the TLS certificate cannot be trusted: self"));
    CHECK(says(ask_twice(server, {"SSL_CERT_FILE=" + (folder / "missing.pem")}), "the certificates cannot be read"));
    TlsServer other("other.example", folder / "other.pem", answer());
    CHECK(says(ask_twice(other, {"SSL_CERT_FILE=" + (folder / "other.pem")}), "the TLS certificate is for another host"));
    CHECK(server.requests() == 0);
    CHECK(other.requests() == 0);
}
