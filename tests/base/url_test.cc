#include "base/url.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

std::string proxied(const char* url, const ProxyRules& rules)
{
    auto proxy = proxy_for(*parse_url(url), rules);
    REQUIRE(proxy);
    return *proxy ? (*proxy)->origin() : "direct";
}

}

TEST_CASE("url: the parts of an address")
{
    CHECK(*parse_url("https://api.openai.com/v1") == Url{.scheme = "https", .user = {}, .password = {}, .host = "api.openai.com", .port = 443, .path = "/v1"});
    CHECK(*parse_url(" HTTP://Me:p%40ss@Host:8080 ") == Url{.scheme = "http", .user = "Me", .password = "p@ss", .host = "host", .port = 8080, .path = ""});
    CHECK(parse_url("http://[::1]:11434/v1?a=b#c")->host == "::1");
    CHECK(parse_url("http://[::1]:11434/v1?a=b#c")->path == "/v1?a=b");
    CHECK(parse_url("http://[::1]:11434/v1")->origin() == "http://[::1]:11434");
    CHECK(parse_url("http://x?q")->path == "/?q");
    CHECK(parse_url("https://x:443")->origin() == "https://x");
    for (auto* wrong : {"", "x", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:99999", "http://x:y", "http://[::1", "http://a b/", "http:///path"})
        CHECK(!parse_url(wrong));
}

TEST_CASE("url: proxies and what is asked directly")
{
    ProxyRules rules{.http = "http://plain:3128", .https = "secure:8080", .all = "", .except = ".internal,*.corp,exact.org,port.org:8443,10.0.0.0/8,fd00::/8"};
    CHECK(proxied("https://api.openai.com", rules) == "http://secure:8080");
    CHECK(proxied("http://api.openai.com", rules) == "http://plain:3128");
    for (auto* direct : {"http://localhost:11434", "http://127.0.0.1:1", "http://[::1]", "https://a.internal", "https://a.b.corp", "https://exact.org", "https://sub.exact.org", "https://port.org:8443", "http://10.1.2.3", "http://[fd00::1]"}) {
        INFO(direct);
        CHECK(proxied(direct, rules) == "direct");
    }
    for (auto* through : {"https://notexact.org", "https://port.org", "https://11.0.0.1", "https://[fe00::1]", "https://internal.org"}) {
        INFO(through);
        CHECK(proxied(through, rules) != "direct");
    }
    CHECK(proxied("https://x", {.http = "http://p:1", .https = {}, .all = {}, .except = {}}) == "direct");
    CHECK(proxied("https://x", {.http = {}, .https = {}, .all = "http://p:1", .except = {}}) == "http://p:1");
    CHECK(proxied("https://x", {.http = {}, .https = {}, .all = "http://p:1", .except = "*"}) == "direct");
    auto wrong = proxy_for(*parse_url("https://x"), {.http = {}, .https = "socks5://me:secret@p", .all = {}, .except = {}});
    REQUIRE(!wrong);
    CHECK(wrong.error().message.find("secret") == std::string::npos);
}

TEST_CASE("url: references are resolved as RFC 3986 (5.4) says")
{
    auto base = *parse_url("http://a/b/c/d;p?q");
    constexpr std::pair<const char*, const char*> examples[] = {
        {"g:h", "g:h"}, {"g", "http://a/b/c/g"}, {"./g", "http://a/b/c/g"}, {"g/", "http://a/b/c/g/"}, {"/g", "http://a/g"},
        {"//g", "http://g"}, {"?y", "http://a/b/c/d;p?y"}, {"g?y", "http://a/b/c/g?y"}, {"#s", "http://a/b/c/d;p?q#s"}, {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"}, {";x", "http://a/b/c/;x"}, {"", "http://a/b/c/d;p?q"}, {".", "http://a/b/c/"}, {"./", "http://a/b/c/"},
        {"..", "http://a/b/"}, {"../", "http://a/b/"}, {"../g", "http://a/b/g"}, {"../..", "http://a/"}, {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"}, {"/./g", "http://a/g"}, {"/../g", "http://a/g"}, {"g.", "http://a/b/c/g."}, {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"}, {"./g/.", "http://a/b/c/g/"}, {"g/./h", "http://a/b/c/g/h"}, {"g/../h", "http://a/b/c/h"}, {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"\n g h\t", "http://a/b/c/g%20h"}, {"ht\ntp://x/", "http://x/"}, {"1:2", "http://a/b/c/1:2"},
    };
    for (auto& [reference, absolute] : examples) {
        INFO(reference);
        CHECK(resolve(base, reference) == absolute);
    }
    CHECK(resolve(*parse_url("http://u:p@a:81"), "b?c") == "http://a:81/b?c");
    CHECK(resolve(*parse_url("http://a?q"), "") == "http://a/?q");
}
