#include "base/url.h"

#include "base/address.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace ik {
namespace {

int own_port(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decoded(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
            out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 2;
        } else
            out += text[i];
    return out;
}

template <class Number>
bool to_number(std::string_view text, Number& number)
{
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

// user:password@ taken off the front of the authority
void take_user(std::string_view& authority, Url& url)
{
    auto at = authority.rfind('@');
    if (at == authority.npos)
        return;
    auto user = authority.substr(0, at);
    auto colon = user.find(':');
    url.user = decoded(user.substr(0, colon));
    url.password = colon == user.npos ? "" : decoded(user.substr(colon + 1));
    authority.remove_prefix(at + 1);
}

bool take_host(std::string_view authority, Url& url)
{
    auto end = authority.starts_with('[') ? authority.find(']') : authority.find(':');
    if (authority.starts_with('[')) {
        if (end == authority.npos)
            return false;
        url.host = authority.substr(1, end - 1);
        authority.remove_prefix(end + 1);
    } else {
        url.host = lower(authority.substr(0, end));
        authority.remove_prefix(std::min(end, authority.size()));
    }
    if (authority.starts_with(':') && authority.size() > 1 &&
        !(to_number(authority.substr(1), url.port) && url.port > 0 && url.port < 65536))
        return false;
    return !url.host.empty() && url.host.find_first_of(" \t\r\n/\\") == std::string::npos;
}

bool loopback(const std::string& host) { return host == "localhost" || in_network(host, "127.0.0.0/8") || host == "::1"; }

bool excepted(const Url& url, std::string_view rule)
{
    if (rule == "*")
        return true;
    if (rule.find('/') != rule.npos)
        return in_network(url.host, rule);
    if (auto colon = rule.rfind(':'); colon != rule.npos && rule.find(':') == colon) {
        int port = 0;
        if (!to_number(rule.substr(colon + 1), port) || port != url.port)
            return false;
        rule = rule.substr(0, colon);
    }
    if (rule.starts_with('[') && rule.ends_with(']')) rule = rule.substr(1, rule.size() - 2);
    if (rule.starts_with('*')) rule.remove_prefix(1);
    if (rule.starts_with('.')) rule.remove_prefix(1);
    auto suffix = lower(rule);
    return url.host == suffix || (!suffix.empty() && url.host.ends_with("." + suffix));
}

bool has_scheme(std::string_view reference)
{
    auto end = reference.find_first_of(":/?#");
    auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-' || c == '.'; };
    return end != reference.npos && reference[end] == ':' && end > 0 && std::isalpha(static_cast<unsigned char>(reference[0]))
        && std::ranges::all_of(reference.substr(0, end), allowed);
}

// path with its . and .. followed (RFC 3986, 5.2.4); begins with /.
std::string without_dots(std::string_view path)
{
    std::vector<std::string_view> parts;
    if (path.starts_with('/')) path.remove_prefix(1);
    auto all = split(path, '/');
    for (auto& part : all) {
        bool last = &part == &all.back();
        if (part == ".." && !parts.empty()) parts.pop_back();
        if (part != "." && part != "..") parts.push_back(part);
        else if (last) parts.push_back("");
    }
    std::string out;
    for (auto part : parts) out.append("/").append(part);
    return out.empty() ? "/" : out;
}

std::string variable(std::initializer_list<const char*> names)
{
    for (auto* name : names)
        if (auto* value = std::getenv(name); value && *value)
            return value;
    return {};
}

}

std::string Url::origin() const
{
    auto name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return scheme + "://" + name + (port == own_port(scheme) ? "" : ":" + std::to_string(port));
}

Result<Url> parse_url(std::string_view text)
{
    auto wrong = [&] { return Error{code::invalid_arg, "Not an http or https address: " + std::string(text)}; };
    Url url;
    auto rest = trim(text);
    auto colon = rest.find("://");
    if (colon == rest.npos)
        return wrong();
    url.scheme = lower(rest.substr(0, colon));
    if (url.scheme != "http" && url.scheme != "https")
        return wrong();
    rest.remove_prefix(colon + 3);

    auto end = std::min(rest.find_first_of("/?#"), rest.size());
    auto authority = rest.substr(0, end);
    auto path = rest.substr(end, rest.find('#') - end);
    url.path = path.starts_with('?') ? "/" + std::string(path) : std::string(path);
    url.port = own_port(url.scheme);
    take_user(authority, url);
    return take_host(authority, url) ? Result<Url>(url) : wrong();
}

std::string clean_reference(std::string_view reference)
{
    constexpr auto digits = "0123456789ABCDEF";
    auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!reference.empty() && blank(reference.front())) reference.remove_prefix(1);
    while (!reference.empty() && blank(reference.back())) reference.remove_suffix(1);
    std::string out;
    for (char c : reference) {
        if (c == '\t' || c == '\n' || c == '\r')
            continue;
        if (auto byte = static_cast<unsigned char>(c); blank(c) || byte == 0x7F || std::string_view("\"<>`").find(c) != std::string_view::npos)
            out.append({'%', digits[byte >> 4], digits[byte & 15]});
        else
            out += c;
    }
    return out;
}

std::string resolve(const Url& base, std::string_view text)
{
    auto reference = clean_reference(text);
    if (has_scheme(reference))
        return reference;
    if (reference.starts_with("//"))
        return base.scheme + ":" + reference;
    auto own = base.path.substr(0, base.path.find('?'));
    auto end = std::min(reference.find_first_of("?#"), reference.size());
    auto path = reference.substr(0, end), rest = reference.substr(end);
    if (path.empty())
        return base.origin() + (rest.starts_with('?') ? without_dots(own) : without_dots(own) + base.path.substr(own.size())) + rest;
    if (!path.starts_with('/')) path = own.substr(0, own.rfind('/') + 1) + path;
    return base.origin() + without_dots(path) + rest;
}

ProxyRules proxy_rules()
{
    return {.http = variable({"http_proxy", "HTTP_PROXY"}), .https = variable({"https_proxy", "HTTPS_PROXY"}),
            .all = variable({"all_proxy", "ALL_PROXY"}), .except = variable({"no_proxy", "NO_PROXY"})};
}

Result<std::optional<Url>> proxy_for(const Url& url, const ProxyRules& rules)
{
    auto address = url.scheme == "https" ? rules.https : rules.http;
    if (address.empty()) address = rules.all;
    if (address.empty() || loopback(url.host))
        return std::optional<Url>();
    auto exceptions = replace(rules.except, ' ', ',');
    for (auto rule : split(exceptions, ','))
        if (!rule.empty() && excepted(url, rule))
            return std::optional<Url>();
    auto proxy = parse_url(address.find("://") == std::string::npos ? "http://" + address : address);
    if (!proxy)   // the text may hold a password: not repeated
        return Error{code::invalid_arg, "The proxy's address is not an http address (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY)"};
    return std::optional(std::move(*proxy));
}

}
