#include "base/http.h"

#include "base/address.h"
#include "base/certificates.h"
#include "base/fd.h"
#include "base/httplib.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ik {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_collected = 1 << 20;

std::string seconds(milliseconds time)
{
    auto ms = time.count();
    return ms % 1000 ? std::to_string(ms) + " ms" : std::to_string(ms / 1000) + " s";
}

// Why no connection came about: httplib does not say, so it is tried once more, for the words only.
std::string connect_error(const std::string& host, int port)
{
    addrinfo hints{}, *list = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list))
        return std::string("the name cannot be resolved (") + gai_strerror(error) + ")";
    int why = 0;
    for (auto* address = list; address; address = address->ai_next) {
        Fd fd(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!fd) {
            why = errno;
            continue;
        }
        why = connect(fd.get(), address->ai_addr, address->ai_addrlen) < 0 ? errno : 0;
        if (why == EINPROGRESS) {
            pollfd writable{fd.get(), POLLOUT, 0};
            socklen_t size = sizeof why;
            if (poll(&writable, 1, 1000) == 1)
                getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &why, &size);
        }
    }
    freeaddrinfo(list);
    if (why == ECONNREFUSED)
        return "connection refused (port " + std::to_string(port) + ")";
    return why ? "cannot connect: " + lower(std::strerror(why)) : "cannot connect";
}

std::string tls_error()
{
    auto* reason = ERR_reason_error_string(ERR_peek_last_error());
    return std::string("no TLS connection") + (reason ? std::string(": ") + reason : "");
}

}

std::string_view header(const Headers& headers, std::string_view name)
{
    for (auto& h : headers)
        if (lower(h.name) == lower(name))
            return h.value;
    return {};
}

struct Http::Connection {
    Connection(const Url& to, HttpLimits set) : url(to), limits(set), client(to.origin()) {}

    // Over TLS httplib would wait 100 ms and more for the other side to take leave.
    ~Connection()
    {
        if (auto open = client.socket(); open != INVALID_SOCKET)
            shutdown(open, SHUT_RDWR);
    }

    Url url;
    std::string address = {};           // connected to instead of the host
    std::optional<Url> proxy = {};
    HttpLimits limits;
    httplib::Client client;
    bool fresh = false;                 // the last request opened a connection
    bool begun = false;                 // its answer has begun
    int proxy_status = 0;               // what a proxy said that opened no tunnel
    Clock::time_point heard = {};       // when the last byte came

    void set_up();
    void set_up_tls();
    httplib::Error perform(const HttpRequest&, Sink, Head, HttpAnswer&);
    Error why(httplib::Error);
};

void Http::Connection::set_up_tls()
{
    SSL_CTX_set_min_proto_version(client.ssl_context(), TLS1_2_VERSION);
    if (auto trusted = certificates(); trusted != Certificates())
        return client.set_ca_cert_path(trusted.file, trusted.folder);
    auto bundle = built_in_certificates();
    client.load_ca_cert_store(bundle.data(), bundle.size());
}

void Http::Connection::set_up()
{
    if (url.scheme == "https") set_up_tls();
    if (!address.empty()) client.set_hostname_addr_map({{url.host, address}});
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);   // head and body are two writes
    client.set_url_encode(false);
    client.set_connection_timeout(limits.connect);
    client.set_read_timeout(limits.silence);
    client.set_write_timeout(limits.silence);
    client.set_socket_options([this](socket_t) { fresh = true; });
    if (!proxy)
        return;
    client.set_proxy(proxy->host, proxy->port);
    if (!proxy->user.empty())
        client.set_proxy_basic_auth(proxy->user, proxy->password);
    // Inside the tunnel httplib would say the proxy's password to the server too: an empty value marks that request.
    client.set_header_writer([](httplib::Stream& stream, httplib::Headers& headers) {
        auto range = headers.equal_range("Proxy-Authorization");
        if (range.first != range.second && range.first->second.empty())
            headers.erase(range.first, range.second);
        return httplib::detail::write_headers(stream, headers);
    });
}

httplib::Error Http::Connection::perform(const HttpRequest& request, Sink sink, Head head_seen, HttpAnswer& answer)
{
    httplib::Request req;
    req.method = request.method;
    req.path = request.path;
    req.body = request.body;
    for (auto& [name, value] : request.headers)
        req.set_header(name, value);
    if (proxy && url.scheme == "https")
        req.set_header("Proxy-Authorization", "");

    answer = {};
    fresh = begun = false;
    heard = Clock::now();
    req.response_handler = [&](const httplib::Response& head) {
        begun = true;
        heard = Clock::now();
        answer.status = head.status;
        answer.reason = head.reason;
        for (auto& [name, value] : head.headers)
            answer.headers.push_back({name, value});
        return head_seen(answer);
    };
    req.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t, std::uint64_t) {
        heard = Clock::now();
        if (answer.ok())
            return sink({bytes, size});
        answer.body.append(bytes, std::min(size, max_collected - answer.body.size()));
        return answer.body.size() < max_collected;
    };
    httplib::Response res;
    auto error = httplib::Error::Success;
    ERR_clear_error();
    if (client.send(req, res, error))
        answer.status = res.status;   // also of an answer without a body
    proxy_status = error == httplib::Error::ProxyConnection ? res.status : 0;
    return error;
}

Error Http::Connection::why(httplib::Error error)
{
    using Failed = httplib::Error;
    auto& to = proxy ? *proxy : url;
    auto who = url.host + (proxy ? " (through the proxy " + proxy->host + ")" : "") + ": ";
    auto because = [&](const std::string& words, const char* hint = "") { return Error{code::network_error, who + words, hint}; };
    switch (error) {
    case Failed::ConnectionTimeout: return because("no connection within " + seconds(limits.connect));
    case Failed::Connection: return because(connect_error(proxy || address.empty() ? to.host : address, to.port));
    case Failed::ProxyConnection:
        return because("the proxy answered HTTP " + std::to_string(proxy_status), proxy_status < 500 ? "Check HTTPS_PROXY and NO_PROXY." : "");
    case Failed::SSLConnection: return because(tls_error());
    case Failed::SSLLoadingCerts: return because("the certificates cannot be read", "Check SSL_CERT_FILE and SSL_CERT_DIR.");
    case Failed::SSLServerVerification:
        return because(std::string("the TLS certificate cannot be trusted: ") + X509_verify_cert_error_string(client.get_openssl_verify_result()),
                       "SSL_CERT_FILE names a file with the certificates to trust.");
    case Failed::SSLServerHostnameVerification: return because("the TLS certificate is for another host", "Check the address.");
    default: break;
    }
    if (Clock::now() - heard >= limits.silence)
        return because("silent for " + seconds(limits.silence));
    return because(begun ? "the connection was closed before the answer was complete" : "the connection was closed without an answer");
}

Http::Http(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Http::Http(Http&&) noexcept = default;
Http& Http::operator=(Http&&) noexcept = default;
Http::~Http() = default;

Result<Http> Http::to(const Url& url, HttpLimits limits, const std::string& address)
{
    auto proxy = proxy_for(url, proxy_rules());
    if (!proxy)
        return proxy.error();
    set_up_names();
    auto connection = std::make_unique<Connection>(url, limits);
    connection->proxy = std::move(*proxy);
    connection->address = address;
    connection->set_up();
    return Http(std::move(connection));
}

Result<HttpAnswer> Http::send(const HttpRequest& request, Sink sink)
{
    return send(request, sink, [](const HttpAnswer&) { return true; });
}

Result<HttpAnswer> Http::send(const HttpRequest& request, Sink sink, Head head)
{
    auto& c = *connection_;
    HttpAnswer answer;
    auto error = c.perform(request, sink, head, answer);
    bool stale = !c.fresh && !c.begun && (error == httplib::Error::Read || error == httplib::Error::Write) &&
                 Clock::now() - c.heard < c.limits.silence;
    if (stale)
        error = c.perform(request, sink, head, answer);
    if (error == httplib::Error::Success || error == httplib::Error::Canceled)
        return answer;
    if (!answer.ok() && c.begun)   // what it said before it was cut is worth more than the cut
        return answer;
    return c.why(error);
}

std::string http_library_versions()
{
    return std::string(OpenSSL_version(OPENSSL_VERSION)) + "; cpp-httplib " CPPHTTPLIB_VERSION "; zlib " + zlibVersion();
}

}
