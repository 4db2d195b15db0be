#include "base/certificates.h"
#include "base/text.h"
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

TEST_CASE("tls: a folder of certificates to trust")
{
    Folder folder;
    TlsServer server("127.0.0.1", folder / "cert.pem", answer());
    std::filesystem::create_directory(folder / "certs");
    folder.write("certs/" + hashed_name(folder / "cert.pem"), folder.read("cert.pem"));
    CHECK(says(ask_twice(server, {"SSL_CERT_FILE", "SSL_CERT_DIR=" + (folder / "certs")}), R"({"type":"text","text":"Hi"})"));
    // the file counts before the folder
    CHECK(says(ask_twice(server, {"SSL_CERT_FILE=" + (folder / "cert.pem"), "SSL_CERT_DIR=/nowhere"}), R"({"type":"text","text":"Hi"})"));
}

TEST_CASE("tls: 1.2 and 1.3, nothing older")
{
    Folder folder;
    for (int version : {0x0303, 0x0304}) {
        TlsServer server("127.0.0.1", folder / "cert.pem", answer(), version);
        CHECK(says(ask_twice(server, {"SSL_CERT_FILE=" + (folder / "cert.pem")}), R"({"type":"text","text":"Hi"})"));
    }
    TlsServer old("127.0.0.1", folder / "cert.pem", answer(), 0x0302);
    CHECK(says(ask_twice(old, {"SSL_CERT_FILE=" + (folder / "cert.pem"), "OPENSSL_CONF=/dev/null"}), "no TLS connection"));
    CHECK(old.requests() == 0);
}

TEST_CASE("tls: through a proxy's tunnel, which alone hears the proxy's password")
{
    Folder folder;
    TlsServer server("far.example", folder / "cert.pem", answer());
    TunnelProxy proxy(server.port());
    auto setup = object({{"type", "setup"}, {"provider", "openai"}, {"base_url", "https://far.example/v1"}, {"key", "secret-key"}, {"retry_base_ms", 1}}).dump() + "\n";
    auto ask = std::string(R"({"type":"ask","model":"m","messages":[]})") + "\n";
    auto ran = run({.argv = {ikigai(), "llm"}, .input = setup + ask + ask,
                    .env = {"HTTPS_PROXY=http://me:pass@127.0.0.1:" + std::to_string(proxy.port()), "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE=" + (folder / "cert.pem")}});
    CHECK(says(ran, R"({"type":"text","text":"Hi"})"));
    CHECK(!says(ran, "error"));
    CHECK(server.requests() == 2);
    CHECK(!server.heard("Proxy-Authorization"));
    CHECK(server.heard("Authorization"));
    auto heads = proxy.heads();
    REQUIRE(heads.size() == 1);
    CHECK(heads[0].starts_with("CONNECT far.example:443 HTTP/1.1\r\n"));
    CHECK(heads[0].find("Proxy-Authorization: Basic bWU6cGFzcw==\r\n") != std::string::npos);
    CHECK(heads[0].find("secret-key") == std::string::npos);
}

TEST_CASE("certificates: the place of each system, and what comes first")
{
    Folder folder;
    CHECK(system_certificates(folder.path) == Certificates());
    auto put = [&](const std::string& path) {
        std::filesystem::create_directories(std::filesystem::path(folder / path).parent_path());
        folder.write(path, "x");
    };
    // the last first: each found one comes before those that are there already
    for (std::string file : {"/etc/ssl/cert.pem", "/var/lib/ca-certificates/ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                             "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"}) {
        put(file);
        CHECK(system_certificates(folder.path).file == folder.path + file);
    }
    put("etc/ssl/certs/readme.0");   // no hash
    CHECK(system_certificates(folder.path).folder.empty());
    put("etc/ssl/certs/1a2b3c4d.0");
    CHECK(system_certificates(folder.path) == Certificates{.file = {}, .folder = folder.path + "/etc/ssl/certs"});
}

TEST_CASE("certificates: the bundle that is built in")
{
    CHECK(readable_certificates(built_in_certificates()) >= 50);
    CHECK(built_in_certificates().ends_with("-----END CERTIFICATE-----\n"));
}

TEST_CASE("certificates: a machine without any goes by the bundle")
{
    if (!is_root() || sh("unshare -m true").status != 0)
        return skip("no mount namespace may be made here");
    Folder folder;
    // its own certificate is in no bundle, but the bundle is read: the refusal is about trust
    TlsServer server("127.0.0.1", folder / "cert.pem", answer());
    folder.write("in", object({{"type", "setup"}, {"provider", "openai"}, {"base_url", server.base_url()}}).dump() + "\n" + R"({"type":"ask","model":"m","messages":[]})" + "\n");
    auto ran = sh("unset SSL_CERT_FILE SSL_CERT_DIR; unshare -m sh -c 'mount -t tmpfs none /etc/ssl && exec strace -f -e trace=openat,access -o trace " + ikigai() + " llm < in'; cat trace");
    CHECK(says(ran, "cannot be trusted"));
    CHECK(says(ran, "/etc/ssl/cert.pem"));
}
