// Fetch: one document from the public internet. Follows redirects and checks every address before it connects to it.
// Knows no kind of content.
#pragma once

#include "base/function_ref.h"
#include "base/poll.h"
#include "base/url.h"

#include <optional>
#include <string>
#include <string_view>

namespace ik {

// The text's URL as it can go over the wire.
// Error: INVALID_URL.
Result<Url> fetchable_url(std::string_view text);

struct Fetched {
    Url url;                            // the last, after redirects
    std::string type, charset;          // of the Content-Type: "text/html", "utf-8"; empty where it says nothing
    std::optional<std::uint64_t> size;  // of the body, where the server says it
    std::string body;
    bool wanted = true;                 // false: so the body was not read
    bool truncated = false;             // there is more of the body

    std::string address() const { return url.origin() + (url.path.empty() ? "/" : url.path); }
};

struct FetchLimits {
    Clock::time_point until;            // all in all
    std::size_t body = 0;
    int redirects = 10;
    bool private_addresses = false;     // these too
};

// wants: asked when the head of the document is there, without its body. Looking up a name may take longer than until.
// Error: INVALID_URL, BLOCKED_ADDRESS, NETWORK_ERROR, HTTP_ERROR.
using Wants = FunctionRef<bool(const Fetched&)>;
Result<Fetched> fetch(const Url&, const FetchLimits&, Wants wants);

}
