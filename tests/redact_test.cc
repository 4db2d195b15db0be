#include "redact.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace ik;

namespace {

std::string without(std::string_view text) { return redacted(text, {}); }

}

TEST_CASE("redact: what secrets look like")
{
    struct Row { const char* text; const char* redacted; };
    const Row rows[] = {
        {"export OPENAI=sk-abcdefgh12345678 && run", "export OPENAI=[redacted] && run"},
        {"git clone https://ghp_0123456789abcdef@example.com/x", "git clone https://[redacted]@example.com/x"},
        {"git clone https://me:hunter2@example.com/x.git", "git clone https://me:[redacted]@example.com/x.git"},
        {"curl -H 'Authorization: Bearer abc.def-123' http://h/", "curl -H 'Authorization: Bearer [redacted]' http://h/"},
        {"authorization: Basic dXNlcjpwYXNz\nhost: a", "authorization: Basic [redacted]\nhost: a"},
        {"echo bearer 0123456789", "echo bearer [redacted]"},
        {"X-Api-Key: 12345", "X-Api-Key: [redacted]"},
        {"Cookie: a=1; b=2", "Cookie: [redacted]"},
        {"mysql password=hunter2 user=me", "mysql password=[redacted] user=me"},
        {"PGPASSWORD='a b c' psql", "PGPASSWORD='[redacted]' psql"},
        {R"({"db_password": "a\"b", "port": 1})", R"({"db_password": "[redacted]", "port": 1})"},
        {R"(echo "{\"password\":\"ab\"}")", R"(echo "{\"password\":\"[redacted]\"}")"},
        {"tool --token abc --verbose", "tool --token [redacted] --verbose"},
        {"tool --api-key=abc -v", "tool --api-key=[redacted] -v"},
        {"curl -u me:hunter2 http://h/", "curl -u me:[redacted] http://h/"},
        {"curl http://h/?key=abc&x=1", "curl http://h/?key=[redacted]&x=1"},
        {"a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [redacted] b"},
        {"-----BEGIN OPENSSH PRIVATE KEY-----\ncut", "[redacted]"},
        {"aws AKIAIOSFODNN7EXAMPLE", "aws [redacted]"},
    };
    for (auto& row : rows) CHECK(without(row.text) == row.redacted);
}

TEST_CASE("redact: what is none stays")
{
    for (auto* text : {"ls -la /etc", "docker run -u 1000:1000 x", "task-list: sk-", "ssh://git@example.com/x", "http://example.com:8080/@x", "a = b : c", "--password", "password=", ""})
        CHECK(without(text) == text);
}

TEST_CASE("redact: what is known goes wherever it stands")
{
    CHECK(redacted("echo xhunter2hunter2x", {"hunter2"}) == "echo x[redacted][redacted]x");
    setenv("SOME_TEST_TOKEN", "very-secret-value", 1);
    auto own = own_secrets();
    unsetenv("SOME_TEST_TOKEN");
    CHECK(redacted("echo very-secret-value", own) == "echo [redacted]");
}

TEST_CASE("redact: members of objects by their names")
{
    auto value = object({{"api_key", "x"}, {"user", "me"}, {"list", Json::Array{"password=y", 5}}, {"max_tokens", 7}});
    CHECK(redacted_json(value, {}).dump() == R"({"api_key":"[redacted]","user":"me","list":["password=[redacted]",5],"max_tokens":7})");
}
