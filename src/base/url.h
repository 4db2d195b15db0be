// Url: the parts of an http or https address, and the way to it. Fetches nothing.
#pragma once

#include "base/result.h"

#include <optional>

namespace ik {

struct Url {
    std::string scheme;          // http or https
    std::string user, password;  // decoded
    std::string host;            // without the brackets of an IPv6 address
    int port = 0;                // the scheme's own when the text names none
    std::string path;            // with the query; empty or begins with /

    std::string origin() const;  // https://host:port, the port only where it is not the scheme's own
    friend bool operator==(const Url&, const Url&) = default;
};

// Error: INVALID_ARG, "Not an http or https address: TEXT".
Result<Url> parse_url(std::string_view text);

// A reference in a page as HTML reads it: without white space around it and line ends in it; bytes that end an
// address in text (space, quotes, angle brackets) are percent-encoded.
std::string clean_reference(std::string_view reference);

// The absolute address that the reference means in a page at base (RFC 3986, 5.2). One with a scheme of its own stays as it is.
std::string resolve(const Url& base, std::string_view reference);

// What the environment says about proxies (curl's names; lower case wins, HTTP_PROXY in capitals counts too).
struct ProxyRules {
    std::string http, https, all, except;   // HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY
};
ProxyRules proxy_rules();

// The proxy for url, if there is one; for the loopback there is none. NO_PROXY lists hosts, suffixes (.example.com, example.com,
// *.example.com), host:port, addresses, networks (10.0.0.0/8, fd00::/8) or *.
// Error: INVALID_ARG for a proxy address that is none.
Result<std::optional<Url>> proxy_for(const Url& url, const ProxyRules& rules);

}
