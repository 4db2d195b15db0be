// A page's address, and a reference in the page.
#include "fuzz/fuzz.h"

#include "applets/fetch.h"

namespace ik::fuzz {

void url(std::string_view bytes)
{
    auto first = take(bytes);
    auto url = parse_url(first);
    fetchable_url(std::string(first)).operator bool();
    clean_reference(first);
    if (!url)
        return;
    claim(!url->host.empty() && url->port > 0 && url->port < 65536, "an address has a host and a port");
    claim(url->path.empty() || url->path[0] == '/', "a path begins with a slash");
    auto reference = clean_reference(take(bytes));
    auto address = resolve(*url, reference);
    if (auto again = parse_url(address))
        claim(again->port > 0, "what a reference leads to is an address");
}

}
