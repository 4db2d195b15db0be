// web_fetch as it is called: against a server on the loopback that answers, and that does not.
#include "base/fd.h"
#include "base/poll.h"
#include "base/text.h"
#include "support/server.h"
#include "support/tls_server.h"
#include "support/world.h"

#include <arpa/inet.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <zlib.h>

using namespace ik;
using namespace ik::test;
using namespace std::chrono_literals;

namespace {

// A connection as the author of an answer has it.
class Line {
public:
    Line(int fd, const Fd& stop) : fd_(fd), stop_(stop) {}

    bool say(std::string_view bytes) const   // false once nobody listens
    {
        while (!bytes.empty()) {
            auto n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }

    // Says nothing for so long, or until the other side or the test is over: then false.
    bool hold(milliseconds time) const
    {
        Poll poll;
        poll.read(fd_);
        poll.read(stop_);
        poll.until(Clock::now() + time);
        poll.wait();
        return !poll.ready(fd_) && !poll.ready(stop_);
    }

private:
    int fd_;
    const Fd& stop_;
};

using Author = std::function<void(const Line&)>;

Author answer(std::string head, std::string body = "", int status = 200)
{
    return [=](const Line& line) {
        line.say("HTTP/1.1 " + std::to_string(status) + (status == 404 ? " Not Found" : " OK") + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + head + "\r\n\r\n" + body);
    };
}
Author page(std::string html) { return answer("Content-Type: text/html", std::move(html)); }
Author redirect(std::string to, int status = 302) { return answer("Location: " + to, "", status); }

// Pages of a server on the loopback, by the path they are asked for; as a proxy, by the whole URL.
class Site {
public:
    explicit Site(std::map<std::string, Author> pages) : pages_(std::move(pages)), stop_(*make_pipe())
    {
        listener_ = Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
        listen(listener_.get(), 64);
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        port_ = std::to_string(ntohs(address.sin_port));
        threads_.emplace_back([this] { accept_all(); });
    }
    Site(const Site&) = delete;
    ~Site()
    {
        stop_.write.reset();
        threads_.front().join();
        for (std::size_t i = 1; i < threads_.size(); ++i) threads_[i].join();
    }

    std::string port() const { return port_; }
    std::string at(const std::string& path) const { return "http://127.0.0.1:" + port_ + path; }
    int connections() const { return connections_; }
    std::vector<std::string> heads() const
    {
        std::lock_guard lock(mutex_);
        return heads_;
    }

private:
    void accept_all()
    {
        for (;;) {
            Poll poll;
            poll.read(listener_);
            poll.read(stop_.read);
            poll.wait();
            if (poll.ready(stop_.read)) return;
            Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!connection) continue;
            ++connections_;
            threads_.emplace_back([this, fd = std::move(connection)] { serve(fd); });
        }
    }

    void serve(const Fd& fd)
    {
        std::string head;
        char bytes[4096];
        while (head.find("\r\n\r\n") == head.npos) {
            Poll poll;
            poll.read(fd);
            poll.read(stop_.read);
            poll.wait();
            auto n = poll.ready(stop_.read) ? 0 : read_some(fd.get(), bytes, sizeof bytes);
            if (n <= 0) return;
            head.append(bytes, static_cast<std::size_t>(n));
        }
        auto path = std::string(split(head, ' ')[1]);
        {
            std::lock_guard lock(mutex_);
            heads_.push_back(head);
        }
        auto found = pages_.find(path);
        (found == pages_.end() ? answer("Content-Type: text/plain", "none", 404) : found->second)(Line(fd.get(), stop_.read));
        shutdown(fd.get(), SHUT_WR);
        Line(fd.get(), stop_.read).hold(2s);
    }

    std::map<std::string, Author> pages_;
    Pipe stop_;
    Fd listener_;
    std::string port_;
    std::atomic<int> connections_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> heads_;
    std::vector<std::thread> threads_;
};

using Env = std::vector<std::string>;
const Env plain{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "IKIGAI_WEB_ALLOW_PRIVATE"};

Json fetch_with(Env more, const Json& arguments, int status = 0)
{
    auto env = plain;
    env.insert(env.end(), more.begin(), more.end());
    auto ran = run({.argv = {tool("web-fetch-tool")}, .input = arguments.dump(), .env = env});
    auto answer = parse_json(ran.out);
    UNSCOPED_INFO(arguments.dump() << " -> " << ran.status << " " << ran.out.substr(0, 2000) << ran.err);
    CHECK(ran.status == status);
    return answer ? *answer : Json();
}
Json fetched(const std::string& url) { return fetch_with({"IKIGAI_WEB_ALLOW_PRIVATE=1"}, object({{"url", url}})); }
std::string content(const std::string& url) { return std::string(fetched(url).text("content")); }
std::string code_of(const std::string& url) { return std::string(fetched(url).text("error_code")); }

std::string deflated(std::string_view text, int window)
{
    z_stream stream{};
    deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

}

TEST_CASE("web_fetch: its schema and its names")
{
    auto schema = sh("'" + tool("web-fetch-tool") + "' --schema").out;
    CHECK(schema == R"x({"name":"web_fetch","description":"Fetch a URL and return its content as markdown","parameters":{"type":"object","properties":{)x"
                    R"x("url":{"type":"string","description":"URL to fetch","format":"uri"},)x"
                    R"x("offset":{"type":"integer","description":"Markdown line to start from (1-based)","minimum":1},)x"
                    R"x("limit":{"type":"integer","description":"Lines to return","minimum":1}},"required":["url"]}})x");
    for (auto* name : {"web-fetch", "web_fetch", "web-fetch-tool"})
        CHECK(sh("'" + ikigai() + "' " + name + " --schema").out == schema);
}

TEST_CASE("web_fetch: bad arguments")
{
    constexpr std::pair<const char*, const char*> cases[] = {
        {"", "standard input is empty: expected a JSON object"}, {"{}", "missing required parameter: url"}, {R"({"url":null})", "missing required parameter: url"},
        {R"({"url":1})", "parameter url must be a string"}, {R"({"url":"http://x","offset":0})", "parameter offset must be at least 1"},
        {R"({"url":"http://x","limit":-5})", "parameter limit must be at least 1"}, {R"({"url":"http://x","limit":"1"})", "parameter limit must be an integer"},
        {R"({"url":"http://x\u0000"})", "parameter url must not contain a NUL character"},
    };
    for (auto& [input, sentence] : cases) {
        auto ran = run({.argv = {tool("web-fetch-tool")}, .input = input});
        CHECK(ran.status == 1);
        CHECK(ran.out == object({{"error", sentence}, {"error_code", "INVALID_ARG"}}).dump());
        CHECK(ran.err == std::string("web-fetch: ") + sentence + "\n");
    }
}

TEST_CASE("web_fetch: no URL")
{
    Site site({{"/", page("x")}});
    for (std::string url : {"", "x", "file:///etc/passwd", "ftp://127.0.0.1/", "javascript:1", "http:///x", "http://", "http://a b/", "http://x:99999/", "http://%31/",
                            "gopher://x", "http://ä.example/", "http://me:secret@127.0.0.1/", "http://me@127.0.0.1/"}) {
        auto answer = fetched(url);
        CHECK(answer.text("error_code") == "INVALID_URL");
        CHECK(*answer.find("success") == Json(false));
        CHECK(answer.dump().find("secret") == std::string::npos);
    }
}

TEST_CASE("web_fetch: a page")
{
    Site site({{"/a", page("<title>T</title><h1>H</h1><p>a <a href=b>b</a>")}, {"/empty", answer("Content-Type: text/html")}, {"/none", answer("", "", 204)},
               {"/q?a%20b%C3%A4", page("q")}});
    CHECK(fetched(site.at("/a#x")).dump()
          == object({{"success", true}, {"url", site.at("/a")}, {"title", "T"}, {"content", "# H\n\na [b](" + site.at("/b") + ")"}, {"lines_total", 3}, {"more", false}}).dump());
    CHECK(fetched(site.at("/empty")).dump() == object({{"success", true}, {"url", site.at("/empty")}, {"title", ""}, {"content", ""}, {"lines_total", 0}, {"more", false}}).dump());
    CHECK(content(site.at("/none")) == "");
    CHECK(content(" " + site.at("/q?a bä\r\n")) == "q");
    auto head = site.heads().front();
    CHECK(head.starts_with("GET /a HTTP/1.1\r\n"));
    CHECK(head.find("User-Agent: ikigai/") != head.npos);
    CHECK(head.find("gzip") != head.npos);
    CHECK(head.find("Authorization") == head.npos);
    CHECK(head.find("Cookie") == head.npos);
}

TEST_CASE("web_fetch: types")
{
    Site site({
        {"/xhtml", answer("Content-Type: application/xhtml+xml; charset=utf-8", "<html><body><p>a</p></body></html>")},
        {"/text", answer("Content-Type: text/plain", "a\n <b>\n")},
        {"/json", answer("Content-Type: application/problem+json", "{\"a\":1}")},
        {"/xml", answer("Content-Type: application/rss+xml", "<?xml version='1.0' encoding='iso-8859-1'?><a>\xE4</a>")},
        {"/png", answer("Content-Type: image/png", "\x89PNG")},
        {"/pdf", [](auto& line) { line.say("HTTP/1.1 200 OK\r\nContent-Type: Application/PDF\r\n\r\n"); line.hold(20s); }},
        {"/guess-html", answer("X: y", " \n<!DOCTYPE HTML><p>a")},
        {"/guess-text", answer("X: y", "a <b>")},
        {"/guess-binary", answer("X: y", std::string("\x7F" "ELF\0\1", 6))},
        {"/odd", answer("Content-Type: html", "<html>a")},
    });
    CHECK(content(site.at("/xhtml")) == "a");
    CHECK(content(site.at("/text")) == "a\n <b>\n");
    CHECK(content(site.at("/json")) == "{\"a\":1}");
    CHECK(content(site.at("/xml")).ends_with("<a>ä</a>"));
    CHECK(fetched(site.at("/png")).dump()
          == object({{"success", false}, {"error", site.at("/png") + " is image/png, 4 bytes: only HTML, text, JSON and XML can be shown"}, {"error_code", "UNSUPPORTED_TYPE"}}).dump());
    CHECK(fetched(site.at("/pdf")).text("error") == site.at("/pdf") + " is application/pdf, of unknown size: only HTML, text, JSON and XML can be shown");
    CHECK(content(site.at("/guess-html")) == "a");
    CHECK(content(site.at("/guess-text")) == "a <b>");
    CHECK(code_of(site.at("/guess-binary")) == "UNSUPPORTED_TYPE");
    CHECK(content(site.at("/odd")) == "a");
}

TEST_CASE("web_fetch: charsets")
{
    Site site({
        {"/header", answer("Content-Type: text/html; Charset=\"ISO-8859-2\"", "<p>\xB1")},
        {"/meta", page("<meta charset=koi8-r><p>\xF0")},
        {"/bom", page("\xEF\xBB\xBF<p>\xC3\xA4")},
        {"/utf8", page("<p>\xC3\xA4")},
        {"/guess", page("<p>\x93\xE4\x94")},
        {"/wrong", answer("Content-Type: text/plain; charset=utf-8", "a\xFF")},
        {"/japanese", answer("Content-Type: text/html; charset=Shift_JIS", "<p>\x83\x65\x83")},
    });
    CHECK(content(site.at("/header")) == "ą");
    CHECK(content(site.at("/meta")) == "П");
    CHECK(content(site.at("/bom")) == "ä");
    CHECK(content(site.at("/utf8")) == "ä");
    CHECK(content(site.at("/guess")) == "“ä”");
    CHECK(content(site.at("/wrong")) == "a\uFFFD");
    auto answer = fetched(site.at("/japanese"));
    CHECK(answer.text("error_code") == "UNSUPPORTED_TYPE");
    CHECK(answer.text("error") == site.at("/japanese") + ": the charset shift_jis is not supported");
}

TEST_CASE("web_fetch: gzip and deflate")
{
    auto text = "<p>" + std::string(100'000, 'a');
    Site site({
        {"/gzip", answer("Content-Type: text/html\r\nContent-Encoding: gzip", deflated(text, 31))},
        {"/deflate", answer("Content-Type: text/html\r\nContent-Encoding: deflate", deflated(text, 15))},
        {"/broken", answer("Content-Type: text/html\r\nContent-Encoding: gzip", "no gzip")},
        {"/bomb", answer("Content-Type: text/plain\r\nContent-Encoding: gzip", deflated(std::string(100 << 20, ' '), 31))},
    });
    CHECK(content(site.at("/gzip")).size() == 100'000);
    CHECK(content(site.at("/deflate")).size() == 100'000);
    CHECK(code_of(site.at("/broken")) == "NETWORK_ERROR");
    auto bomb = fetched(site.at("/bomb"));
    CHECK(*bomb.find("truncated") == Json(true));
    CHECK(bomb.text("content").size() < 10'000'100);
}

TEST_CASE("web_fetch: redirects")
{
    Site other({{"/x", page("other")}});
    std::map<std::string, Author> pages{
        {"/301", redirect("/page", 301)}, {"/302", redirect("page?a b", 302)}, {"/303", redirect("", 303)}, {"/307", redirect("//127.0.0.1:" + other.port() + "/x", 307)},
        {"/308", redirect("http://me:secret@127.0.0.1:" + other.port() + "/x", 308)}, {"/page", page("<a href=b>p</a>")}, {"/page?a%20b", page("q")},
        {"/loop", redirect("/loop")}, {"/file", redirect("file:///etc/passwd")}, {"/script", redirect("javascript:alert(1)")}, {"/bad", redirect("http://%00/")},
        {"/304", redirect("/page", 304)},
    };
    for (int i = 0; i < 12; ++i) pages["/" + std::to_string(i)] = i ? redirect(std::to_string(i - 1)) : page("end");
    Site site(pages);
    CHECK(fetched(site.at("/301")).dump()
          == object({{"success", true}, {"url", site.at("/page")}, {"title", ""}, {"content", "[p](" + site.at("/b") + ")"}, {"lines_total", 1}, {"more", false}}).dump());
    CHECK(content(site.at("/302")) == "q");
    CHECK(code_of(site.at("/303")) == "HTTP_ERROR");
    CHECK(content(site.at("/307")) == "other");
    CHECK(content(site.at("/308")) == "other");
    for (auto& head : other.heads()) CHECK(head.find("Authorization") == head.npos);
    CHECK(code_of(site.at("/304")) == "HTTP_ERROR");
    CHECK(content(site.at("/10")) == "end");
    CHECK(code_of(site.at("/11")) == "HTTP_ERROR");
    CHECK(code_of(site.at("/loop")) == "HTTP_ERROR");
    for (auto* path : {"/file", "/script", "/bad"}) CHECK(code_of(site.at(path)) == "INVALID_URL");
}

TEST_CASE("web_fetch: errors of servers and of the way to them")
{
    Site site({{"/500", answer("Content-Type: text/html", "<h1>broken", 500)}, {"/cut", [](auto& line) { line.say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nabc"); }},
               {"/garbage", [](auto& line) { line.say("garbage\r\n\r\n"); }}, {"/nothing", [](auto&) {}}});
    CHECK(fetched(site.at("/404")).dump() == object({{"success", false}, {"error", "HTTP 404 Not Found: " + site.at("/404")}, {"error_code", "HTTP_ERROR"}}).dump());
    CHECK(code_of(site.at("/500")) == "HTTP_ERROR");
    for (auto* path : {"/cut", "/garbage", "/nothing"}) CHECK(code_of(site.at(path)) == "NETWORK_ERROR");
    CHECK(code_of("http://127.0.0.1:" + std::to_string(closed_port()) + "/") == "NETWORK_ERROR");
    CHECK(code_of("http://no-such-host.invalid/") == "NETWORK_ERROR");
}

TEST_CASE("web_fetch: over TLS, to the address that was checked, for the name")
{
    Folder folder;
    TlsServer server("localhost", folder / "cert.pem", "ok");
    auto url = "https://localhost:" + std::to_string(server.port()) + "/";
    Env env{"IKIGAI_WEB_ALLOW_PRIVATE=1", "SSL_CERT_FILE=" + folder / "cert.pem"};
    CHECK(fetch_with(env, object({{"url", url}})).text("content") == "ok");
    auto wrong = fetch_with(env, object({{"url", "https://127.0.0.1:" + std::to_string(server.port()) + "/"}}));
    CHECK(wrong.text("error_code") == "NETWORK_ERROR");
    CHECK(fetch_with({"IKIGAI_WEB_ALLOW_PRIVATE=1", "SSL_CERT_FILE=/dev/null"}, object({{"url", url}})).text("error_code") == "NETWORK_ERROR");
}

TEST_CASE("web_fetch: lines")
{
    Site site({{"/", page("<p>1<p>3<p>5")}, {"/text", answer("Content-Type: text/plain", "1\n2\n3\n")}});
    auto part = [&](const char* path, int offset, int limit) {
        Json::Object arguments{{"url", site.at(path)}};
        if (offset) arguments.emplace_back("offset", offset);
        if (limit) arguments.emplace_back("limit", limit);
        auto answer = fetch_with({"IKIGAI_WEB_ALLOW_PRIVATE=1"}, arguments);
        return object({{"", answer.text("content")}, {"n", *answer.find("lines_total")}, {"more", *answer.find("more")}}).dump();
    };
    CHECK(part("/", 0, 0) == R"({"":"1\n\n3\n\n5","n":5,"more":false})");
    CHECK(part("/", 1, 2) == R"({"":"1\n","n":5,"more":true})");
    CHECK(part("/", 3, 1) == R"({"":"3","n":5,"more":true})");
    CHECK(part("/", 3, 3) == R"({"":"3\n\n5","n":5,"more":false})");
    CHECK(part("/", 5, 1) == R"({"":"5","n":5,"more":false})");
    CHECK(part("/", 6, 1) == R"({"":"","n":5,"more":false})");
    CHECK(part("/text", 0, 2) == R"({"":"1\n2","n":3,"more":true})");
    CHECK(part("/text", 3, 1) == R"({"":"3\n","n":3,"more":false})");
    CHECK(part("/text", 9, 0) == R"({"":"","n":3,"more":false})");
}

TEST_CASE("web_fetch: a document that does not end, or not in time")
{
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    auto endless = [](const Line& line) { while (line.say("<p>" + std::string(65536, 'x'))) {} };
    auto drip = [](const Line& line) { while (line.hold(100ms) && line.say("x")) {} };
    auto begin = [](std::string said, auto rest) { return [=](const Line& line) { line.say(said); rest(line); }; };
    Site site({
        {"/endless", begin(head + "\r\n", endless)},
        {"/80MB", begin(head + "Content-Length: 83886080\r\n\r\n", endless)},
        {"/hang", [](auto& line) { line.hold(30s); }},
        {"/hang-in-head", begin(head, [](auto& line) { line.hold(30s); })},
        {"/hang-in-body", begin(head + "\r\n<p>a", [](auto& line) { line.hold(30s); })},
        {"/drip-head", begin(head + "X: ", drip)},
        {"/drip-body", begin(head + "\r\n<p>", drip)},
        {"/drip-redirects", [](auto& line) { line.hold(1500ms); line.say("HTTP/1.1 302 Found\r\nLocation: /drip-redirects\r\nContent-Length: 0\r\n\r\n"); }},
    });
    std::map<std::string, std::future<std::pair<Ran, milliseconds>>> asked;
    for (std::string path : {"/endless", "/80MB", "/hang", "/hang-in-head", "/hang-in-body", "/drip-head", "/drip-body", "/drip-redirects"})
        asked[path] = std::async(std::launch::async, [&, path] {
            auto start = Clock::now();
            auto env = plain;
            env.push_back("IKIGAI_WEB_ALLOW_PRIVATE=1");
            auto ran = run({.argv = {tool("web-fetch-tool")}, .input = object({{"url", site.at(path)}}).dump(), .env = env, .limit = 60s});
            return std::pair(ran, std::chrono::duration_cast<milliseconds>(Clock::now() - start));
        });
    for (auto& [path, result] : asked) {
        auto [ran, time] = result.get();
        auto answer = parse_json(ran.out);
        INFO(path << " " << time.count() << " ms " << ran.status << " " << ran.out.substr(0, 300) << ran.err);
        CHECK(ran.status == 0);
        CHECK(time < (sanitized() ? 20s : 12s));
        REQUIRE(answer);
        if (path == "/endless" || path == "/80MB") {
            CHECK(*answer->find("success") == Json(true));
            CHECK(*answer->find("truncated") == Json(true));
            CHECK(answer->text("content").ends_with("\n\n[The document is longer than 10 MB: the rest is not here.]"));
            CHECK(answer->text("content").size() < 10'100'000);
        } else
            CHECK(answer->text("error_code") == "NETWORK_ERROR");
    }
}

TEST_CASE("web_fetch: nothing that is not public is asked")
{
    Site site({{"/", page("secret")}});
    for (std::string host : {"127.0.0.1", "localhost", "LOCALHOST", "2130706433", "0177.0.0.1", "0x7f.1", "0x7f000001", "127.1", "127.0.1", "127.255.255.254", "0.0.0.0", "0", "[::1]", "[::]",
                             "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1",
                             "169.254.169.254", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25lo]", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.192", "127.0.0.1."}) {
        auto answer = fetch_with({}, object({{"url", "http://" + host + ":" + site.port() + "/"}}));
        INFO(host);
        CHECK(*answer.find("success") == Json(false));
        bool no_name = host == "127.0.0.1." || host.find('%') != host.npos;
        if (!no_name) CHECK(answer.text("error_code") == "BLOCKED_ADDRESS");
    }
    CHECK(fetch_with({"IKIGAI_WEB_ALLOW_PRIVATE=0"}, object({{"url", site.at("/")}})).text("error_code") == "BLOCKED_ADDRESS");
    CHECK(fetch_with({"IKIGAI_WEB_ALLOW_PRIVATE="}, object({{"url", site.at("/")}})).text("error_code") == "BLOCKED_ADDRESS");
    CHECK(site.connections() == 0);
}

TEST_CASE("web_fetch: a redirect leads to nothing that is not public, through a proxy neither")
{
    Site inside({{"/", page("secret")}});
    Site proxy({{"http://93.184.216.34:80/", page("public")}, {"http://93.184.216.34:80/a", redirect(inside.at("/"))}, {"http://93.184.216.34:80/b", redirect("http://2130706433:" + inside.port() + "/")},
                {"http://93.184.216.34:80/c", redirect("http://localhost:" + inside.port() + "/")}, {"http://93.184.216.34:80/d", redirect("http://10.0.0.1/")},
                {"http://93.184.216.34:80/e", redirect("//169.254.169.254/latest/meta-data/")}, {"http://93.184.216.34:80/f", redirect("http://[::ffff:127.0.0.1]:" + inside.port() + "/")},
                {"http://10.0.0.1:80/", page("secret")}, {"http://169.254.169.254:80/latest/meta-data/", page("secret")}});
    Env env{"http_proxy=" + proxy.at("")};
    auto ask = [&](const std::string& url) { return fetch_with(env, object({{"url", url}})); };
    CHECK(ask("http://93.184.216.34/").text("content") == "public");
    for (auto* path : {"a", "b", "c", "d", "e", "f"}) CHECK(ask(std::string("http://93.184.216.34/") + path).text("error_code") == "BLOCKED_ADDRESS");
    for (auto* url : {"http://10.0.0.1/", "http://127.0.0.2/", "http://0x7f.1/"}) CHECK(ask(url).text("error_code") == "BLOCKED_ADDRESS");
    CHECK(inside.connections() == 0);
    CHECK(proxy.connections() == 7);
}
