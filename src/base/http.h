// Http: requests to one address over one connection that is kept alive.
// The only door to cpp-httplib and OpenSSL. Knows no provider and no tool; follows no redirect.
#pragma once

#include "base/function_ref.h"
#include "base/url.h"

#include <chrono>
#include <memory>
#include <vector>

namespace ik {

struct Header {
    std::string name, value;
    friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;

// The value of the header called name (case ignored); empty when there is none.
std::string_view header(const Headers&, std::string_view name);

struct HttpRequest {
    std::string method = "POST";
    std::string path;              // as it goes over the wire, with the query
    Headers headers = {};
    std::string body = {};
};

struct HttpAnswer {
    int status = 0;
    std::string reason;            // "Not Found", in the server's words
    Headers headers;
    std::string body;              // of an answer that is not 2xx: its first megabyte
    bool ok() const { return status >= 200 && status < 300; }
};

struct HttpLimits {
    std::chrono::milliseconds connect = std::chrono::seconds(10);
    std::chrono::milliseconds silence = std::chrono::seconds(120);   // between two pieces of an answer
};

class Http {
public:
    // Nothing is opened yet. The environment is asked for a proxy and for certificates.
    // address: where to connect, instead of asking what the host's name leads to; a proxy is not told.
    // Error: INVALID_ARG.
    static Result<Http> to(const Url&, HttpLimits = {}, const std::string& address = {});
    Http(Http&&) noexcept;
    Http& operator=(Http&&) noexcept;
    ~Http();

    // Bytes of a 2xx answer as they arrive; false ends the request (no error: the answer is what has come).
    using Sink = FunctionRef<bool(std::string_view)>;

    // A connection that the other side closed while it was idle is replaced without a word.
    // Error: NETWORK_ERROR, "HOST: why"; with a hint where somebody must do something, so that
    // another try is no help.
    Result<HttpAnswer> send(const HttpRequest&, Sink);

    // The same; head sees the status and the headers, and with false nothing more is read.
    using Head = FunctionRef<bool(const HttpAnswer&)>;
    Result<HttpAnswer> send(const HttpRequest&, Sink, Head);

private:
    struct Connection;
    explicit Http(std::unique_ptr<Connection>);
    std::unique_ptr<Connection> connection_;
};

// "OpenSSL 3.0.15 …; cpp-httplib 0.18.7; zlib 1.2.13"
std::string http_library_versions();

}
