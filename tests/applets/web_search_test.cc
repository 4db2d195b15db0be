// The web searches, with a server on the loopback that plays both services as their documentation shows them.
#include "applets/web_search.h"

#include "support/server.h"
#include "support/tls_server.h"
#include "support/world.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

using namespace ik;
using namespace ik::test;

namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;

const std::string brave_key = "BSA-secret-of-brave", google_key = "AIza-secret-of-google", engine = "0123456789:abc";

struct Tool {
    std::string link, address_variable;
    Strings keys;
};
const Tool brave{"web-search-brave-tool", "IKIGAI_BRAVE_URL", {"BRAVE_API_KEY=" + brave_key}};
const Tool google{"web-search-google-tool", "IKIGAI_GOOGLE_SEARCH_URL", {"GOOGLE_SEARCH_API_KEY=" + google_key, "GOOGLE_SEARCH_ENGINE_ID=" + engine}};

Reply json(const std::string& body, int status = 200, Strings headers = {})
{
    headers.push_back("Content-Type: application/json");
    return {.status = status, .pieces = {body}, .headers = std::move(headers)};
}

std::string origin(const ModelServer& server) { return "http://127.0.0.1:" + std::to_string(server.port()); }

Ran by_hand(const Home& home, const Tool& which, const std::string& address, const std::string& arguments, Strings env = {})
{
    auto all = which.keys;
    all.push_back(which.address_variable + "=" + address);
    all.insert(all.end(), env.begin(), env.end());
    return run({.argv = {tool(which.link)}, .input = arguments, .env = home.env(all)});
}

Json answer_of(const Ran& ran)
{
    UNSCOPED_INFO(ran.status << " " << ran.out.substr(0, 3000) << " " << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.err == "");
    auto answer = parse_json(ran.out);
    REQUIRE(answer);
    for (auto& key : {brave_key, google_key}) CHECK(ran.out.find(key) == std::string::npos);
    return *answer;
}

// One search, and what the service says to it.
Json search(const Tool& which, const Reply& reply, const std::string& arguments = R"({"query":"xy"})")
{
    Home home;
    ModelServer server(std::vector<Reply>(10, reply));
    return answer_of(by_hand(home, which, origin(server), arguments));
}

std::string failed(std::string_view code, const std::string& sentence)
{
    return object({{"success", false}, {"error", sentence}, {"error_code", code}}).dump();
}

std::string urls(const Json& answer)
{
    std::string out;
    auto* results = answer.find("results");
    REQUIRE(results);
    for (auto& each : *results->as<Json::Array>()) out += std::string(each.text("url")) + " ";
    CHECK(*answer.find("count") == Json(results->as<Json::Array>()->size()));
    return out;
}

std::map<std::string, std::string> query_of(const Request& request)
{
    std::map<std::string, std::string> out;
    auto text = request.path.substr(request.path.find('?') + 1);
    for (std::size_t at = 0; at <= text.size();) {
        auto end = std::min(text.find('&', at), text.size());
        auto pair = text.substr(at, end - at);
        out[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
        at = end + 1;
    }
    return out;
}

std::string brave_page(const Strings& addresses)
{
    Json::Array results;
    for (auto& each : addresses)
        results.push_back(object({{"title", "t"}, {"url", each}, {"is_source_local", false}, {"description", "d"}, {"family_friendly", true}}));
    auto web = object({{"type", "search"}, {"results", std::move(results)}, {"family_friendly", true}});
    return object({{"query", object({{"original", "xy"}, {"more_results_available", true}})}, {"type", "search"}, {"web", std::move(web)}}).dump();
}

std::string google_page(const Strings& addresses)
{
    Json::Array items;
    for (auto& each : addresses)
        items.push_back(object({{"kind", "customsearch#result"}, {"title", "t"}, {"htmlTitle", "<b>t</b>"}, {"link", each}, {"snippet", "s"}}));
    return object({{"kind", "customsearch#search"}, {"searchInformation", object({{"totalResults", "2"}})}, {"items", std::move(items)}}).dump();
}

std::string brave_error(int status, const std::string& reason, const std::string& detail)
{
    auto error = object({{"id", "1"}, {"status", status}, {"code", reason}, {"detail", detail}, {"meta", Json::Object{}}});
    return object({{"type", "ErrorResponse"}, {"error", error}, {"time", 1710000000}}).dump();
}

std::string google_error(int status, const std::string& reason, const std::string& message)
{
    auto one = object({{"message", message}, {"domain", "global"}, {"reason", reason}});
    return object({{"error", object({{"code", status}, {"message", message}, {"errors", Json::Array{one}}, {"status", "X"}})}}).dump();
}

const std::string over = "Google's Custom Search JSON API is closed to new customers and ends on 2027-01-01; use web_search_brave instead ";

// Accepts one connection, says head, and then a byte now and then, for ever.
class Dripping {
public:
    explicit Dripping(std::string head) : head_(std::move(head)), stop_(*make_pipe()), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        listen(listener_.get(), 4);
        thread_ = std::thread([this] { serve(); });
    }
    ~Dripping()
    {
        stop_.write.reset();
        thread_.join();
    }
    std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

private:
    bool stopped(int fd, int time) const
    {
        pollfd set[] = {{stop_.read.get(), POLLIN, 0}, {fd, POLLIN, 0}};
        poll(set, 2, time);
        return set[0].revents != 0;
    }
    void serve()
    {
        if (stopped(listener_.get(), -1)) return;
        Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        for (auto said = head_; send(connection.get(), said.data(), said.size(), MSG_NOSIGNAL) > 0 && !stopped(-1, 300);)
            said = "x";
    }

    std::string head_;
    int port_ = 0;
    Pipe stop_;
    Fd listener_;
    std::thread thread_;
};

}

TEST_CASE("web search: schemas to the letter")
{
    auto rest = R"json(,"allowed_domains":{"type":"array","description":"Only results from these domains","items":{"type":"string"}},"blocked_domains":{"type":"array","description":"No results from these domains","items":{"type":"string"}}},"required":["query"]}})json";
    auto start = R"json(,"parameters":{"type":"object","properties":{"query":{"type":"string","description":"Search query","minLength":2})json";
    CHECK(run({.argv = {tool(brave.link), "--schema"}}).out ==
          std::string(R"json({"name":"web_search_brave","description":"Search the web with Brave Search: current pages from an independent index")json") + start
          + R"json(,"count":{"type":"integer","description":"Results to return (1-20)","minimum":1,"maximum":20,"default":10},"offset":{"type":"integer","description":"Pages to skip (0-9)","minimum":0,"maximum":9,"default":0})json" + rest);
    CHECK(run({.argv = {tool(google.link), "--schema"}}).out ==
          std::string(R"json({"name":"web_search_google","description":"Search the web with a Google Programmable Search Engine")json") + start
          + R"json(,"num":{"type":"integer","description":"Results to return (1-10)","minimum":1,"maximum":10,"default":10},"start":{"type":"integer","description":"Index of the first result (1-91)","minimum":1,"maximum":91,"default":1})json" + rest);
}

TEST_CASE("web search: every name calls it")
{
    Home home;
    for (auto* name : {"web-search-brave", "web_search_brave", "web-search-brave-tool"})
        CHECK(ikigai(home, {name, "--version"}).out.starts_with("web-search-brave (ikigai "));
    CHECK(ikigai(home, {"grep-tool", "--version"}).status == 2);
    std::filesystem::create_directory(home / "links");
    CHECK(ikigai(home, {"install-links", home / "links"}).status == 0);
    CHECK(home.exists("links/web-search-brave-tool"));
    CHECK(home.exists("links/web-search-google-tool"));
    CHECK(home.exists("links/file-read"));
    CHECK(run({.argv = {home / "links/web-search-google-tool", "--version"}}).out.starts_with("web-search-google (ikigai "));
    CHECK(ikigai(home, {"applets"}).out.find("web-search-brave\n") != std::string::npos);
}

TEST_CASE("web search: arguments are checked against the schema")
{
    struct Case { const Tool& which; std::string arguments, sentence; };
    const Case cases[] = {
        {brave, "", "standard input is empty: expected a JSON object"},
        {brave, "{}", "missing required parameter: query"},
        {brave, R"({"query":7})", "parameter query must be a string"},
        {brave, R"({"query":"x"})", "parameter query must have at least 2 characters"},
        {brave, R"({"query":"\u00e9"})", "parameter query must have at least 2 characters"},
        {brave, R"({"query":"xy","count":0})", "parameter count must be at least 1"},
        {brave, R"({"query":"xy","count":21})", "parameter count must be at most 20"},
        {brave, R"({"query":"xy","offset":10})", "parameter offset must be at most 9"},
        {brave, R"({"query":"xy","offset":-1})", "parameter offset must be at least 0"},
        {brave, R"({"query":"xy","count":"5"})", "parameter count must be an integer"},
        {brave, R"({"query":"xy","allowed_domains":"a.com"})", "parameter allowed_domains must be an array of strings"},
        {brave, R"({"query":"xy","blocked_domains":[1]})", "parameter blocked_domains must be an array of strings"},
        {google, R"({"query":"xy","num":11})", "parameter num must be at most 10"},
        {google, R"({"query":"xy","start":92})", "parameter start must be at most 91"},
    };
    Home home;
    for (auto& [which, arguments, sentence] : cases) {
        auto ran = by_hand(home, which, "http://127.0.0.1:9", arguments);
        INFO(arguments);
        CHECK(ran.out == object({{"error", sentence}, {"error_code", "INVALID_ARG"}}).dump());
        CHECK(ran.err == which.link.substr(0, which.link.size() - 5) + ": " + sentence + "\n");
        CHECK(ran.status == 1);
    }
}

TEST_CASE("web search: what Brave takes as a query is said before it is asked")
{
    Home home;
    ModelServer server({json(brave_page({})), json(brave_page({}))});
    auto say = [&](const std::string& query) { return answer_of(by_hand(home, brave, origin(server), object({{"query", query}}).dump())).dump(); };
    std::string words;
    for (int i = 0; i < 50; ++i) words += "w  ";
    CHECK(say(words + "w") == failed("INVALID_ARG", "Brave Search takes queries of at most 50 words"));
    CHECK(say(std::string(401, 'x')) == failed("INVALID_ARG", "Brave Search takes queries of at most 400 characters"));
    CHECK(server.requests().empty());
    std::string characters;
    for (int i = 0; i < 400; ++i) characters += "é";
    for (auto& fine : {words, characters}) CHECK(say(fine) == R"({"success":true,"results":[],"count":0})");
}

TEST_CASE("web search: Brave's results, and what it was asked")
{
    Home home;
    ModelServer server({json(R"({"query":{"original":"a&b"},"type":"search","mixed":{},"web":{"type":"search","results":[
        {"title":"One &amp; <b>only</b>","url":"https://one.example/?a=1&b=2","description":"The <strong>best</strong> &#x27;page&#39;<br/>on   &lt;div&gt;","extra_snippets":["more"]},
        {"title":5,"url":"https://two.example/"},
        {"title":"no address"}, "text", null, [],
        {"title":"t","url":"","description":"d"},
        {"title":"Drei \u2713","url":"https://three.example/","description":null}]}})"), json(brave_page({})), json(brave_page({}))});
    auto ran = by_hand(home, brave, origin(server) + "/", R"({"query":"a&b c=d+\u00e9 100%","count":7,"offset":3,"ignored":1})");
    CHECK(ran.out == R"({"success":true,"results":[{"title":"One & only","url":"https://one.example/?a=1&b=2","snippet":"The best 'page' on <div>"},{"title":"","url":"https://two.example/","snippet":""},{"title":"Drei ✓","url":"https://three.example/","snippet":""}],"count":3})");
    CHECK(ran.status == 0);
    auto request = server.requests().at(0);
    CHECK(request.method == "GET");
    CHECK(request.path == "/res/v1/web/search?q=a%26b%20c%3Dd%2B%C3%A9%20100%25&count=7&offset=3");
    CHECK(request.header("X-Subscription-Token") == brave_key);
    CHECK(request.header("Accept") == "application/json");
    CHECK(request.body == "");

    by_hand(home, brave, origin(server) + "/gate/way?tenant=1", R"({"query":"xy","count":null})");
    CHECK(server.requests().at(1).path == "/gate/way?tenant=1&q=xy&count=10&offset=0");
    by_hand(home, brave, origin(server), R"({"query":"xy","count":2.0})");
    CHECK(server.requests().at(2).path == "/res/v1/web/search?q=xy&count=2&offset=0");
}

TEST_CASE("web search: Google's results, and what it was asked")
{
    Home home;
    ModelServer server({json(R"({"kind":"customsearch#search","items":[
        {"title":"Use <b> here &amp; there","link":"https://one.example/","displayLink":"one.example","snippet":"Two\nlines, 1 < 2 ...","htmlSnippet":"<b>x</b>"},
        {"title":null,"link":"https://two.example/"}, {"snippet":"no address"}, 7]})"), json(R"({"kind":"customsearch#search","searchInformation":{"totalResults":"0"}})")});
    auto ran = by_hand(home, google, origin(server), R"({"query":"a b","num":3,"start":11})");
    CHECK(ran.out == R"({"success":true,"results":[{"title":"Use <b> here &amp; there","url":"https://one.example/","snippet":"Two lines, 1 < 2 ..."},{"title":"","url":"https://two.example/","snippet":""}],"count":2})");
    auto request = server.requests().at(0);
    CHECK(request.method == "GET");
    CHECK(request.path == "/customsearch/v1?key=" + google_key + "&cx=0123456789%3Aabc&q=a%20b&num=3&start=11");
    CHECK(by_hand(home, google, origin(server), R"({"query":"xy"})").out == R"({"success":true,"results":[],"count":0})");
    CHECK(server.requests().at(1).path.ends_with("&q=xy&num=10&start=1"));
}

TEST_CASE("web search: nothing found, and answers of another form")
{
    auto none = R"({"success":true,"results":[],"count":0})";
    for (auto* empty : {R"({"type":"search"})", R"({"web":null})", R"({"web":{}})", R"({"web":{"results":null}})", R"({"web":{"results":[]}})"})
        CHECK(search(brave, json(empty)).dump() == none);
    for (auto* empty : {"{}", R"({"items":null})", R"({"items":[]})"})
        CHECK(search(google, json(empty)).dump() == none);

    auto other = " could not answer (HTTP 200): its answer has another form than expected";
    for (auto* wrong : {R"({"web":[]})", R"({"web":"x"})", R"({"web":{"results":{}}})", R"({"web":{"results":"x"}})"})
        CHECK(search(brave, json(wrong)).dump() == failed("API_ERROR", std::string("Brave Search") + other));
    for (auto* wrong : {R"({"items":{}})", R"({"items":5})"})
        CHECK(search(google, json(wrong)).dump() == failed("API_ERROR", std::string("Google Custom Search") + other));
    for (auto& garbage : {std::string(""), std::string("[]"), std::string("not json"), std::string("{\"web\":"), std::string("\xff\xfe\0x", 4), std::string(300'000, '[')}) {
        CHECK(search(brave, json(garbage)).dump() == failed("API_ERROR", "Brave Search could not answer (HTTP 200): its answer is no JSON object"));
        CHECK(search(google, json(garbage)).dump() == failed("API_ERROR", "Google Custom Search could not answer (HTTP 200): its answer is no JSON object"));
    }
    CHECK(search(brave, Reply{.pieces = {"<html>no</html>"}, .headers = {"Content-Type: text/html"}}).text("error_code") == "API_ERROR");
    CHECK(search(brave, json(std::string(5'000'000, ' '))).dump() == failed("API_ERROR", "The answer is longer than 4 MB"));
}

TEST_CASE("web search: Brave's errors")
{
    struct Case { int status; std::string body; std::string_view code; std::string sentence; };
    const Case cases[] = {
        {401, brave_error(401, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."), "AUTH_INVALID", "Brave Search refused the API key (HTTP 401): The provided subscription token is invalid."},
        {403, brave_error(403, "RESOURCE_NOT_ALLOWED", "Not in the plan: " + brave_key), "AUTH_INVALID", "Brave Search refused the API key (HTTP 403): Not in the plan: ***"},
        {422, brave_error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."), "AUTH_INVALID", "Brave Search refused the API key (HTTP 422): The provided subscription token is invalid."},
        {422, brave_error(422, "VALIDATION", "Unable to validate request parameter(s)"), "API_ERROR", "Brave Search could not answer (HTTP 422): Unable to validate request parameter(s)"},
        {404, brave_error(404, "", ""), "API_ERROR", "Brave Search could not answer (HTTP 404)"},
        {500, brave_error(500, "INTERNAL", ""), "API_ERROR", "Brave Search could not answer (HTTP 500): INTERNAL"},
        {503, "<html>busy</html>", "API_ERROR", "Brave Search could not answer (HTTP 503)"},
        {500, R"({"error":"text"})", "API_ERROR", "Brave Search could not answer (HTTP 500)"},
        {401, "", "AUTH_INVALID", "Brave Search refused the API key (HTTP 401)"},
        {302, "", "API_ERROR", "Brave Search could not answer (HTTP 302)"},
        {500, brave_error(500, "X", std::string(1000, 'y')), "API_ERROR", "Brave Search could not answer (HTTP 500): " + std::string(300, 'y') + "…"},
    };
    for (auto& [status, body, code, sentence] : cases)
        CHECK(search(brave, json(body, status)).dump() == failed(code, sentence));
}

TEST_CASE("web search: Brave's limits, and when they end")
{
    struct Case { Strings headers; std::string said; };
    const Case cases[] = {
        {{}, ""},
        {{"X-RateLimit-Limit: 1, 15000", "X-RateLimit-Policy: 1;w=1, 15000;w=2592000", "X-RateLimit-Remaining: 0, 14523", "X-RateLimit-Reset: 1, 1419704"}, " Try again in 1 s"},
        {{"X-RateLimit-Remaining: 0, 0", "X-RateLimit-Reset: 1, 1419704"}, " Try again in 17 days"},
        {{"X-RateLimit-Remaining: 1, 0", "X-RateLimit-Reset: 1, 90"}, " Try again in 90 s"},
        {{"X-RateLimit-Reset: 600, 1419704"}, " Try again in 10 minutes"},
        {{"X-RateLimit-Remaining: 1, 1", "X-RateLimit-Reset: 600, 1419704"}, ""},
        {{"x-ratelimit-reset: soon"}, ""},
        {{"Retry-After: 7200"}, " Try again in 2 hours"},
        {{"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT"}, ""},
        {{"X-RateLimit-Reset: 99999999999999999999999"}, ""},
    };
    for (auto& [headers, said] : cases)
        CHECK(search(brave, json(brave_error(429, "RATE_LIMITED", "Request rate limit exceeded for plan."), 429, headers)).dump() ==
              failed("RATE_LIMIT", "Brave Search allows no more requests for now (HTTP 429): Request rate limit exceeded for plan." + said));
    CHECK(search(brave, json("", 429, {"Retry-After: 5"})).text("error") == "Brave Search allows no more requests for now (HTTP 429). Try again in 5 s");
}

TEST_CASE("web search: Google's errors")
{
    struct Case { int status; std::string body; std::string_view code; std::string sentence; };
    const Case cases[] = {
        {403, google_error(403, "dailyLimitExceeded", "Daily Limit Exceeded"), "RATE_LIMIT", "Google Custom Search allows no more requests for now (HTTP 403): Daily Limit Exceeded"},
        {403, google_error(403, "quotaExceeded", "Quota exceeded"), "RATE_LIMIT", "Google Custom Search allows no more requests for now (HTTP 403): Quota exceeded"},
        {429, google_error(429, "rateLimitExceeded", "Quota exceeded for quota metric 'Queries'"), "RATE_LIMIT", "Google Custom Search allows no more requests for now (HTTP 429): Quota exceeded for quota metric 'Queries'"},
        {429, "<html>sorry</html>", "RATE_LIMIT", "Google Custom Search allows no more requests for now (HTTP 429)"},
        {400, google_error(400, "keyInvalid", "Bad Request"), "AUTH_INVALID", "Google Custom Search refused the API key (HTTP 400): Bad Request"},
        {403, google_error(403, "keyInvalid", "Invalid key " + google_key + "."), "AUTH_INVALID", "Google Custom Search refused the API key (HTTP 403): Invalid key ***."},
        {400, R"({"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","errors":[{"reason":"badRequest"}],"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}})",
         "AUTH_INVALID", "Google Custom Search refused the API key (HTTP 400): API key not valid. Please pass a valid API key."},
        {401, "{}", "AUTH_INVALID", "Google Custom Search refused the API key (HTTP 401)"},
        {400, google_error(400, "badRequest", "Request contains an invalid argument."), "API_ERROR", "Google Custom Search could not answer (HTTP 400): Request contains an invalid argument."},
        {404, google_error(404, "notFound", "Requested entity was not found."), "API_ERROR", "Google Custom Search could not answer (HTTP 404): Requested entity was not found."},
        {500, google_error(500, "backendError", "Internal error"), "API_ERROR", "Google Custom Search could not answer (HTTP 500): Internal error"},
        {502, "<html>bad gateway</html>", "API_ERROR", "Google Custom Search could not answer (HTTP 502)"},
        {503, R"({"error":{"errors":5,"details":[5,null]}})", "API_ERROR", "Google Custom Search could not answer (HTTP 503)"},
    };
    for (auto& [status, body, code, sentence] : cases)
        CHECK(search(google, json(body, status)).dump() == failed(code, sentence));
}

TEST_CASE("web search: the end of Google's service is told as such")
{
    struct Case { int status; std::string body, said; };
    const Case cases[] = {
        {403, google_error(403, "forbidden", "This project does not have the access to Custom Search JSON API."), ": This project does not have the access to Custom Search JSON API."},
        {404, google_error(404, "notFound", "The Custom Search JSON API has been discontinued."), ": The Custom Search JSON API has been discontinued."},
        {404, "<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>", ""},
        {410, google_error(410, "gone", "Gone"), ": Gone"},
        {410, "", ""},
        {200, "\n<html>Moved to Vertex AI Search</html>", ""},
    };
    for (auto& [status, body, said] : cases)
        CHECK(search(google, json(body, status)).dump() == failed("API_ERROR", over + "(Google Custom Search could not answer (HTTP " + std::to_string(status) + ")" + said + ")"));
    auto page = Reply{.status = 403, .pieces = {"Sorry."}, .headers = {"Content-Type: text/html; charset=UTF-8"}};
    CHECK(search(google, page).text("error").starts_with(over));
    CHECK(run({.argv = {tool(google.link), "--man"}}).out.find("2027-01-01") != std::string::npos);
}

TEST_CASE("web search: a service that cannot be reached")
{
    Home home;
    auto port = std::to_string(closed_port());
    for (auto* which : {&brave, &google}) {
        CHECK(answer_of(by_hand(home, *which, "http://127.0.0.1:" + port, R"({"query":"xy"})")).dump() ==
              failed("NETWORK_ERROR", "127.0.0.1: connection refused (port " + port + ")"));
        CHECK(answer_of(by_hand(home, *which, "ftp://me:password@there", R"({"query":"xy"})")).dump() ==
              failed("NETWORK_ERROR", which->address_variable + " is not an http or https address"));
        CHECK(answer_of(by_hand(home, *which, "http://10.0.0.1", R"({"query":"xy"})", {"HTTP_PROXY=socks9://x:hidden@y"})).text("error_code") == "NETWORK_ERROR");
    }
    CHECK(search(brave, Reply{.raw = "nonsense\r\n\r\n"}).text("error_code") == "NETWORK_ERROR");
    auto cut = json(R"({"web":{"results":[)");
    cut.ending = Reply::cut;
    CHECK(search(brave, cut).dump() == failed("NETWORK_ERROR", "127.0.0.1: the connection was closed before the answer was complete"));
}

TEST_CASE("web search: over TLS, with certificates that are trusted")
{
    Home home;
    TlsServer server("127.0.0.1", home / "cert.pem", google_page({"https://a.com/", "https://b.com/"}));
    auto ask = [&](const Strings& env) { return answer_of(by_hand(home, google, server.base_url(), R"({"query":"xy","allowed_domains":["a.com","b.com"]})", env)); };
    CHECK(urls(ask({"SSL_CERT_FILE=" + (home / "cert.pem")})) == "https://a.com/ https://b.com/ ");
    CHECK(server.requests() == 2);
    auto refused = ask({"SSL_CERT_FILE"});
    CHECK(refused.text("error_code") == "NETWORK_ERROR");
    CHECK(refused.text("error").starts_with("127.0.0.1: the TLS certificate cannot be trusted: self"));
    CHECK(refused.text("error").ends_with(". SSL_CERT_FILE names a file with the certificates to trust."));
    CHECK(refused.find("hint") == nullptr);
}

TEST_CASE("web search: the answer comes in time, whatever the server does")
{
    Home home;
    ModelServer silent(std::vector<Reply>(1, Reply{.headers = {}, .ending = Reply::hang}));
    Dripping head("HTTP/1.1 200 OK\r\nX-"), body("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), failure("HTTP/1.1 500 No\r\n\r\n");
    const std::string in_time = "127.0.0.1: no complete answer within 10 s";
    struct Case { const Tool& which; std::string address, sentence; };
    const Case cases[] = {{brave, origin(silent), "127.0.0.1: silent for 8 s"}, {google, head.address(), in_time}, {brave, body.address(), in_time}, {google, failure.address(), in_time}};
    auto before = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    std::vector<Ran> ran(std::size(cases));
    for (std::size_t i = 0; i < std::size(cases); ++i)
        threads.emplace_back([&, i] { ran[i] = by_hand(home, cases[i].which, cases[i].address, R"({"query":"xy"})"); });
    for (auto& thread : threads) thread.join();
    CHECK(std::chrono::steady_clock::now() - before < 12s);
    for (std::size_t i = 0; i < std::size(cases); ++i)
        CHECK(answer_of(ran[i]).dump() == failed("NETWORK_ERROR", cases[i].sentence));
}

TEST_CASE("web search: what a domain covers")
{
    struct Case { std::string domain, url; bool covered; };
    const Case cases[] = {
        {"example.com", "https://example.com/x", true},
        {"example.com", "https://www.example.com/", true},
        {"example.com", "http://a.b.EXAMPLE.com:8080/x?y#z", true},
        {"EXAMPLE.Com", "https://example.com", true},
        {"example.com", "https://notexample.com/", false},
        {"example.com", "https://example.com.evil.org/", false},
        {"example.com", "https://evil.org/example.com", false},
        {"example.com", "https://evil.org/?u=@example.com", false},
        {"example.com", "https://example.com@evil.org/", false},
        {"example.com", "https://evil.org#.example.com", false},
        {"example.com", "https://me@example.com./", true},
        {".example.com", "https://example.com/", true},
        {"*.example.com", "https://example.com/", true},
        {"https://example.com/docs", "https://example.com/other", true},
        {" example.com ", "https://example.com", true},
        {"example.com:443", "https://example.com", true},
        {"www.example.com", "https://example.com/", false},
        {"com", "https://example.com/", true},
        {"example.com", "not an address", false},
        {"example.com", "", false},
        {"192.0.2.1", "http://192.0.2.1/", true},
    };
    for (auto& [domain, url, covered] : cases) {
        INFO(domain << " " << url);
        CHECK(web::Domains({domain}, {}).admit(url) == covered);
        CHECK(web::Domains({}, {domain}).admit(url) == !covered);
        CHECK(web::Domains({domain, "other.org"}, {}).admit(url) == covered);
        CHECK_FALSE(web::Domains({domain}, {domain}).admit(url));
    }
    CHECK(web::Domains({}, {}).admit("anything"));
    CHECK(web::Domains({"", " . "}, {""}).admit("anything"));
    CHECK(web::Domains({"A.com", "b.com", "https://a.com/"}, {}).allowed() == Strings{"a.com", "b.com"});
}

TEST_CASE("web search: Brave's results are filtered")
{
    auto page = json(brave_page({"https://a.com/1", "https://b.org/2", "https://sub.A.com/3", "https://nota.com/4", "https://a.com/1"}));
    auto with = [&](const std::string& lists) { return urls(search(brave, page, R"({"query":"xy",)" + lists + "}")); };
    CHECK(with(R"("allowed_domains":["a.com"])") == "https://a.com/1 https://sub.A.com/3 ");
    CHECK(with(R"("blocked_domains":["A.COM"])") == "https://b.org/2 https://nota.com/4 ");
    CHECK(with(R"("allowed_domains":["a.com","b.org"],"blocked_domains":["sub.a.com"])") == "https://a.com/1 https://b.org/2 ");
    CHECK(with(R"("allowed_domains":["none.net"])") == "");
    CHECK(with(R"("allowed_domains":[],"blocked_domains":null,"count":2)") == "https://a.com/1 https://b.org/2 ");
}

TEST_CASE("web search: one domain is part of Google's request, what remains is filtered")
{
    struct Case { std::string lists, filter, urls; };
    const Case cases[] = {
        {R"("allowed_domains":["A.com"])", "a.com i", "https://a.com/1 https://sub.a.com/3 "},
        {R"("blocked_domains":["a.com"])", "a.com e", "https://b.org/2 "},
        {R"("blocked_domains":["a.com","x.y"])", " ", "https://b.org/2 "},
        {R"("allowed_domains":["a.com"],"blocked_domains":["sub.a.com"])", "a.com i", "https://a.com/1 "},
        {R"("allowed_domains":[""])", " ", "https://a.com/1 https://b.org/2 https://sub.a.com/3 "},
    };
    for (auto& [lists, filter, expected] : cases) {
        Home home;
        ModelServer server({json(google_page({"https://a.com/1", "https://b.org/2", "https://sub.a.com/3"}))});
        CHECK(urls(answer_of(by_hand(home, google, origin(server), R"({"query":"xy",)" + lists + "}"))) == expected);
        REQUIRE(server.requests().size() == 1);
        auto query = query_of(server.requests()[0]);
        CHECK(query["siteSearch"] + " " + query["siteSearchFilter"] == filter);
    }
}

TEST_CASE("web search: several allowed domains are asked at once, their results come in turn")
{
    Home home;
    // No answer before the third request has come: one after the other would never end.
    Strings all;
    for (auto* domain : {"a", "b", "c"})
        for (int i = 1; i < 5; ++i) all.push_back(std::string("https://") + domain + ".com/" + std::to_string(i));
    all.push_back("https://a.com/1");
    Reply held = json(google_page(all));
    held.hold_before = 0;
    ModelServer server(std::vector<Reply>(3, held));
    std::thread release([&] {
        server.asked(3);
        for (int i = 0; i < 3; ++i) server.go_on();
    });
    auto answer = answer_of(by_hand(home, google, origin(server), R"({"query":"xy","start":11,"allowed_domains":["a.com","b.com","c.com"]})"));
    release.join();
    // Every answer has all of the addresses, and each is taken once.
    CHECK(urls(answer) == "https://a.com/1 https://a.com/2 https://a.com/3 https://a.com/4 https://b.com/1 https://b.com/2 https://b.com/3 https://b.com/4 https://c.com/1 https://c.com/2 ");
    Strings asked;
    for (auto& request : server.requests()) {
        auto query = query_of(request);
        asked.push_back(query["siteSearch"] + " " + query["siteSearchFilter"] + " " + query["num"] + " " + query["start"]);
    }
    std::ranges::sort(asked);
    CHECK(asked == Strings{"a.com i 4 5", "b.com i 3 4", "c.com i 3 4"});

    ModelServer few(std::vector<Reply>(3, json(google_page(all))));
    by_hand(home, google, origin(few), R"({"query":"xy","num":2,"allowed_domains":["a.com","b.com","c.com"]})");
    REQUIRE(few.requests().size() == 3);
    for (auto& request : few.requests()) CHECK(query_of(request)["num"] == "1");

    ModelServer refusing({json(google_page(all)), json(google_error(403, "quotaExceeded", "No"), 403)});
    CHECK(answer_of(by_hand(home, google, origin(refusing), R"({"query":"xy","allowed_domains":["a.com","b.com"]})")).text("error_code") == "RATE_LIMIT");

    std::string many;
    for (int i = 0; i < 11; ++i) many += (i ? ",\"" : "\"") + std::to_string(i) + ".com\"";
    CHECK(answer_of(by_hand(home, google, origin(few), R"({"query":"xy","allowed_domains":[)" + many + "]}")).dump() ==
          failed("INVALID_ARG", "allowed_domains has more than 10 domains; each takes a request of its own"));
    CHECK(few.requests().size() == 3);
}

TEST_CASE("web search: lists are merged in turn")
{
    auto list = [](const Strings& addresses) {
        web::Pages out;
        for (auto& each : addresses) out.push_back({each, each, ""});
        return out;
    };
    auto merged = [&](const std::vector<web::Pages>& lists, std::size_t most) {
        std::string out;
        for (auto& page : web::merged(lists, most)) out += page.url + " ";
        return out;
    };
    CHECK(merged({list({"a", "b", "c"}), list({"1"}), list({"x", "y"})}, 10) == "a 1 x b y c ");
    CHECK(merged({list({"a", "b"}), list({"a", "1"}), list({})}, 10) == "a b 1 ");
    CHECK(merged({list({"a", "b"}), list({"1", "2"})}, 3) == "a 1 b ");
    CHECK(merged({}, 3) == "");
}

TEST_CASE("web search: text out of HTML")
{
    const std::map<std::string, std::string> cases = {
        {"plain", "plain"},
        {"a <strong>b</strong>c", "a bc"},
        {"a<br>b<p class=\"x\">c</p>", "a b c"},
        {"1 < 2 & 3 > 2 <", "1 < 2 & 3 > 2 <"},
        {"<!-- x -->y", "y"},
        {"&lt;b&gt; &amp;amp; &quot;&#39;&#x27;&nbsp;x&hellip;", "<b> &amp; \"'' x…"},
        {"&unknown; &#xD800; &#x110000; &#; &#x; &;", "&unknown; \uFFFD \uFFFD &#; &#x; &;"},
        {"&#8211;&#128512;&#233;", "–😀é"},
        {" \n a\t\tb ", "a b"},
        {"<b", "<b"},
        {"&", "&"},
        {"", ""},
    };
    for (auto& [html, text] : cases) CHECK(web::plain_text(html) == text);
    CHECK(web::plain_text(std::string(2'000'000, '<')).size() == 2'000'000);
    std::string open;
    for (int i = 0; i < 500'000; ++i) open += "<a";
    CHECK(web::plain_text(open) == open);
}

namespace {

// What is sent as a key when these are set, or the answer when there is none.
struct Asked { std::string key, engine; Ran ran; };

Asked with_credentials(const Tool& which, const std::string& file, int mode, Strings env, const std::string& path = ".config/ikigai/credentials.json")
{
    Home home;
    if (!file.empty()) home.write(path, file, mode);
    for (auto& entry : env)
        if (auto at = entry.find("$HOME"); at != entry.npos) entry.replace(at, 5, home.path);
    ModelServer server({json("{}")});
    env.push_back(which.address_variable + "=" + origin(server));
    auto ran = run({.argv = {tool(which.link)}, .input = R"({"query":"xy"})", .env = home.env(env)});
    for (auto at = ran.out.find(home.path); at != ran.out.npos; at = ran.out.find(home.path)) ran.out.replace(at, home.path.size(), "~");
    if (server.requests().empty())
        return {"", "", ran};
    auto request = server.requests()[0];
    return {which.link == brave.link ? request.header("X-Subscription-Token") : query_of(request)["key"], query_of(request)["cx"], ran};
}

}

TEST_CASE("web search: where the credentials come from")
{
    const std::string nested = R"({"web_search":{"brave":{"api_key":"from-file"},"google":{"api_key":"g-key","engine_id":"g-engine"}}})";
    const std::string flat = R"({"BRAVE_API_KEY":"from-flat","GOOGLE_SEARCH_API_KEY":"f-key","GOOGLE_SEARCH_ENGINE_ID":"f-engine"})";
    CHECK(with_credentials(brave, nested, 0600, {"BRAVE_API_KEY=from-variable"}).key == "from-variable");
    CHECK(with_credentials(brave, nested, 0644, {"BRAVE_API_KEY= from-variable\n"}).key == "from-variable");
    CHECK(with_credentials(brave, nested, 0600, {"BRAVE_API_KEY="}).key == "from-file");
    CHECK(with_credentials(brave, nested, 0400, {}).key == "from-file");
    CHECK(with_credentials(brave, flat, 0600, {}).key == "from-flat");
    CHECK(with_credentials(brave, R"({"web_search":{"brave":{"api_key":""}},"BRAVE_API_KEY":"from-flat"})", 0600, {}).key == "from-flat");
    CHECK(with_credentials(brave, nested, 0600, {"XDG_CONFIG_HOME=$HOME/conf"}, "conf/ikigai/credentials.json").key == "from-file");
    auto both = with_credentials(google, nested, 0600, {});
    CHECK(both.key + " " + both.engine == "g-key g-engine");
    both = with_credentials(google, flat, 0600, {"GOOGLE_SEARCH_API_KEY=v-key"});
    CHECK(both.key + " " + both.engine == "v-key f-engine");
    both = with_credentials(google, nested, 0644, {"GOOGLE_SEARCH_API_KEY=v-key", "GOOGLE_SEARCH_ENGINE_ID=v-engine"});
    CHECK(both.key + " " + both.engine == "v-key v-engine");

    for (auto* file : {"", "{}", R"({"web_search":{"brave":{"api_key":""}}})", R"({"web_search":{"brave":{"api_key":5}}})", R"({"web_search":[]})", R"({"web_search":{"brave":"x"}})"}) {
        auto asked = with_credentials(brave, file, 0600, {});
        CHECK(asked.ran.status == 1);
        CHECK(parse_json(asked.ran.out)->text("error_code") == "AUTH_MISSING");
    }
    CHECK(with_credentials(google, "", 0600, {"GOOGLE_SEARCH_API_KEY=only"}).ran.status == 1);
}

TEST_CASE("web search: a file of credentials that is not to be used")
{
    auto error = [](const std::string& file, int mode) {
        auto asked = with_credentials(brave, file, mode, {});
        CHECK(asked.key == "");
        CHECK(asked.ran.status == 1);
        CHECK(asked.ran.out.find("hidden") == std::string::npos);
        CHECK(asked.ran.err.find("hidden") == std::string::npos);
        auto answer = parse_json(asked.ran.out);
        REQUIRE(answer);
        CHECK(answer->text("error_code") == "AUTH_MISSING");
        return std::string(answer->text("error"));
    };
    const std::string start = "Web search requires API key configuration.\n\n", path = "~/.config/ikigai/credentials.json";
    const std::string good = R"({"web_search":{"brave":{"api_key":"hidden"}}})";
    for (int mode : {0644, 0640, 0604, 0666})
        CHECK(error(good, mode) == start + path + ": not used: others can read " + path + ": run chmod 600 " + path);
    CHECK(error(R"({"BRAVE_API_KEY":"hidden")", 0600).starts_with(start + path + ":1: "));
    Home home;
    std::filesystem::create_directories(home / ".config/ikigai/credentials.json");
    auto ran = run({.argv = {tool(brave.link)}, .input = R"({"query":"xy"})", .env = home.env()});
    CHECK(ran.status == 1);
    CHECK(parse_json(ran.out)->text("error_code") == "AUTH_MISSING");
}

TEST_CASE("web search: without a key, to the letter")
{
    Home home;
    auto text = [&](const std::string& how, const std::string& file) {
        return "Web search requires API key configuration.\n\n" + how + ", or write this to " + home.path + "/.config/ikigai/credentials.json (chmod 600):\n" + file;
    };
    auto brave_text = text("Get a key for Brave Search at https://brave.com/search/api/\n\nThen set BRAVE_API_KEY", R"({"web_search":{"brave":{"api_key":"..."}}})");
    auto ran = run({.argv = {tool(brave.link)}, .input = R"({"query":"xy"})", .env = home.env()});
    CHECK(ran.status == 1);
    CHECK(ran.out == failed("AUTH_MISSING", brave_text));
    CHECK(ran.err == R"({"kind":"config_required","content":)" + Json("⚠ Configuration Required\n\n" + brave_text).dump()
                         + R"(,"data":{"tool":"web_search_brave","credential":"api_key","signup_url":"https://brave.com/search/api/"}})" + "\n");

    ran = run({.argv = {tool(google.link)}, .input = R"({"query":"xy"})", .env = home.env()});
    CHECK(ran.status == 1);
    auto answer = parse_json(ran.out);
    REQUIRE(answer);
    CHECK(answer->dump() == failed("AUTH_MISSING", std::string(answer->text("error"))));
    for (auto* part : {"GOOGLE_SEARCH_API_KEY and GOOGLE_SEARCH_ENGINE_ID", "https://programmablesearchengine.google.com/", "2027-01-01", R"({"web_search":{"google":{"api_key":"...","engine_id":"..."}}})"})
        CHECK(answer->text("error").find(part) != std::string::npos);
    CHECK(ran.err == object({{"kind", "config_required"}, {"content", "⚠ Configuration Required\n\n" + std::string(answer->text("error"))},
                             {"data", object({{"tool", "web_search_google"}, {"credentials", Json::Array{"api_key", "engine_id"}}})}}).dump() + "\n");
}

TEST_CASE("web search: through the host the user is told, and the model is not told twice")
{
    Home home;
    auto ran = ikigai(home, {"run", "web_search_brave", R"({"query":"xy"})"});
    CHECK(ran.status == 0);
    CHECK(ran.out.starts_with(R"({"tool_success":true,"result":{"success":false,"error":"Web search requires API key configuration.)"));
    CHECK(ran.out.find("config_required") == std::string::npos);
    CHECK(ran.out.find("Configuration Required") == std::string::npos);
    CHECK(ran.err.starts_with("⚠ Configuration Required\n\nWeb search requires API key configuration.\n\nGet a key"));
    CHECK(ikigai(home, {"run", "web-search-brave", R"({"query":"x"})"}).out ==
          "{\"tool_success\":false,\"error\":\"Tool 'web_search_brave': parameter query must have at least 2 characters\",\"error_code\":\"INVALID_PARAMS\"}\n");

    // Each key reaches its own tool, and no other.
    ModelServer server({json(brave_page({"https://a.com/"}))});
    Strings env{brave.keys[0], google.keys[0], google.keys[1], "IKIGAI_BRAVE_URL=" + origin(server)};
    CHECK(ikigai(home, {"run", "web_search_brave", R"({"query":"xy"})"}, "", env).out ==
          "{\"tool_success\":true,\"result\":{\"success\":true,\"results\":[{\"title\":\"t\",\"url\":\"https://a.com/\",\"snippet\":\"d\"}],\"count\":1}}\n");
    CHECK(ikigai(home, {"run", "bash", R"({"command":"env"})"}, "", env).out.find("secret-of") == std::string::npos);
}

TEST_CASE("web search: in a conversation the event has a line of its own")
{
    Home home;
    ModelServer server({stream_of({test::call("c1", "web_search_brave", R"({"query":"xy"})")}), stream_of({text("No key.")})});
    auto ran = ikigai(home, {"chat", "-p", "search", "--output-format", "stream-json"}, "", {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("\n{\"type\":\"event\",\"kind\":\"config_required\",\"content\":\"⚠ Configuration Required\\n\\nWeb search") != std::string::npos);
    CHECK(ran.out.find(R"("data":{"tool":"web_search_brave","credential":"api_key","signup_url":"https://brave.com/search/api/"}})") != std::string::npos);
    REQUIRE(server.requests().size() == 2);
    CHECK(server.requests()[1].body.find("AUTH_MISSING") != std::string::npos);
    CHECK(server.requests()[1].body.find("config_required") == std::string::npos);
    CHECK(server.requests()[1].body.find("Configuration Required") == std::string::npos);
}
