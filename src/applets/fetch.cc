#include "applets/fetch.h"

#include "base/address.h"
#include "base/http.h"
#include "base/text.h"
#include "version.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

namespace ik {
namespace {

constexpr int redirections[] = {301, 302, 303, 307, 308};

Error invalid(std::string message) { return {code::invalid_url, std::move(message)}; }

bool is_host_character(unsigned char c) { return std::isalnum(c) || std::string_view("-._:").find(static_cast<char>(c)) != std::string_view::npos; }

// Bytes beyond ASCII as %XX.
std::string ascii(std::string_view path)
{
    constexpr auto digits = "0123456789ABCDEF";
    std::string out;
    for (unsigned char c : path) {
        if (c < 0x80) out += static_cast<char>(c);
        else out.append({'%', digits[c >> 4], digits[c & 15]});
    }
    return out;
}

Result<Url> checked(std::string_view text)
{
    auto url = parse_url(clean_reference(text));
    if (!url)
        return invalid(url.error().message);
    url->path = ascii(url->path);
    if (!std::ranges::all_of(url->host, is_host_character))
        return invalid("Not a host name: " + url->host + " (a name beyond ASCII must be in its xn-- form)");
    return url;
}

void read_type(std::string_view header, Fetched& out)
{
    auto end = std::min(header.find(';'), header.size());
    out.type = lower(trim(header.substr(0, end)));
    if (out.type.find('/') == out.type.npos) out.type.clear();
    for (auto parameter : split(header.substr(end), ';')) {
        auto word = trim(parameter);
        if (!starts_with_ignoring_case(word, "charset="))
            continue;
        word.remove_prefix(8);
        while (!word.empty() && std::string_view("\"' ").find(word.front()) != word.npos) word.remove_prefix(1);
        out.charset = lower(word.substr(0, word.find_first_of("\"' ")));
        return;
    }
}

std::optional<std::uint64_t> number(std::string_view text)
{
    std::uint64_t out = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

class Fetch {
public:
    Fetch(const FetchLimits& limits, Wants wants) : limits_(limits), wants_(wants) {}

    Result<Fetched> from(Url url);

private:
    Result<std::vector<std::string>> addresses(const Url&) const;
    Result<HttpAnswer> ask(const Url&);
    Result<HttpAnswer> ask_at(const Url&, const std::string& address, milliseconds patience);
    bool head(const HttpAnswer&);
    bool take(std::string_view bytes);
    milliseconds left() const { return std::chrono::duration_cast<milliseconds>(limits_.until - Clock::now()); }
    bool late() const { return Clock::now() >= limits_.until; }

    const FetchLimits& limits_;
    Wants wants_;
    Fetched out_;
};

// Where to connect: nothing behind a proxy, which looks for itself. A proxy may know names that are not known here; those
// that are known must be public, too.
Result<std::vector<std::string>> Fetch::addresses(const Url& url) const
{
    auto proxy = proxy_for(url, proxy_rules());
    if (!proxy)
        return Error{code::network_error, proxy.error().message};
    if (*proxy) setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);   // there may be no name server at all
    auto found = addresses_of(url.host);
    if (!found && !*proxy)
        return found.error();
    if (found && !limits_.private_addresses)
        for (auto& address : *found)
            if (!is_public(address))
                return Error{code::blocked_address, (address == url.host ? address : url.host + " is " + address + ", which") + " is not an address of the public internet",
                             "IKIGAI_WEB_ALLOW_PRIVATE=1 in the environment allows it."};
    return *proxy ? std::vector<std::string>{""} : *found;
}

// False where the body is of no interest.
bool Fetch::head(const HttpAnswer& answer)
{
    if (!answer.ok())
        return false;
    read_type(header(answer.headers, "Content-Type"), out_);
    out_.size = number(header(answer.headers, "Content-Length"));
    out_.wanted = wants_(out_);
    return out_.wanted;
}

bool Fetch::take(std::string_view bytes)
{
    auto room = limits_.body - out_.body.size();
    out_.truncated = bytes.size() > room;
    out_.body += bytes.substr(0, room);
    return !out_.truncated && !late();
}

Result<HttpAnswer> Fetch::ask_at(const Url& url, const std::string& address, milliseconds patience)
{
    auto http = Http::to(url, {.connect = patience, .silence = std::max(left(), milliseconds(1))}, address);
    if (!http)
        return http.error();
    out_ = {.url = url, .type = {}, .charset = {}, .size = {}, .body = {}};
    HttpRequest request{.method = "GET", .path = url.path.empty() ? "/" : url.path,
                        .headers = {{"User-Agent", std::string("ikigai/") + version},
                                    {"Accept", "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.5"},
                                    {"Accept-Encoding", "gzip, deflate"}}};
    return http->send(request, [&](std::string_view bytes) { return take(bytes); }, [&](const HttpAnswer& answer) { return head(answer); });
}

// One address after the other, until one answers.
Result<HttpAnswer> Fetch::ask(const Url& url)
{
    auto where = addresses(url);
    if (!where)
        return where.error();
    for (std::size_t i = 0; i < where->size(); ++i) {
        auto patience = std::max(left() / static_cast<int>(where->size() - i), milliseconds(1));
        auto answer = ask_at(url, (*where)[i], patience);
        if (late())
            break;
        if (answer || i + 1 == where->size())
            return answer;
    }
    return Error{code::network_error, url.host + ": no whole answer in time"};
}

Result<Fetched> Fetch::from(Url url)
{
    for (int hop = 0; hop <= limits_.redirects; ++hop) {
        auto answer = ask(url);
        if (!answer)
            return Error{answer.error().code == code::invalid_arg ? code::network_error : answer.error().code, answer.error().message, answer.error().hint};
        if (answer->ok())
            return std::move(out_);
        auto location = header(answer->headers, "Location");
        if (std::ranges::find(redirections, answer->status) == std::end(redirections) || location.empty())
            return Error{code::http_error, "HTTP " + std::to_string(answer->status) + (answer->reason.empty() ? "" : " " + answer->reason) + ": " + out_.address()};
        auto next = checked(resolve(url, location));
        if (!next)
            return invalid(out_.address() + " redirects. " + next.error().message);
        next->user.clear();
        next->password.clear();
        url = std::move(*next);
    }
    return Error{code::http_error, "more than " + std::to_string(limits_.redirects) + " redirects, the last to " + url.origin() + url.path};
}

}

Result<Url> fetchable_url(std::string_view text)
{
    auto url = checked(text);
    if (url && !(url->user.empty() && url->password.empty()))
        return invalid("A URL with a user name or a password in it is not fetched: " + url->origin() + url->path);
    return url;
}

Result<Fetched> fetch(const Url& url, const FetchLimits& limits, Wants wants) { return Fetch(limits, wants).from(url); }

}
