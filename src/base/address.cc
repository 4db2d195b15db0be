#include "base/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstdlib>
#include <netdb.h>
#include <netinet/in.h>
#include <nss.h>
#include <sys/socket.h>

namespace ik {
namespace {

using Bytes = std::array<unsigned char, 16>;

// How many bytes of an address the text names: 4, 16 or 0.
unsigned parse(const std::string& text, Bytes& bytes)
{
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return 4;
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return 16;
    return 0;
}

constexpr std::string_view not_public[] = {
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
    "168.63.129.16/32",                                  // Azure's services for the machine itself
    "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
};

// IPv6 networks whose addresses have an IPv4 address in them, and where.
struct Carrier { std::string_view network; std::size_t at; unsigned char mask; };
constexpr Carrier carriers[] = {
    {"::/96", 12, 0}, {"::ffff:0:0/96", 12, 0}, {"::ffff:0:0:0/96", 12, 0}, {"64:ff9b::/96", 12, 0}, {"2002::/16", 2, 0},
    {"2001::/32", 4, 0}, {"2001::/32", 12, 0xFF},        // Teredo: the server, and the client in disguise
};

std::string ipv4_in(const Bytes& bytes, const Carrier& carrier)
{
    std::string out;
    for (std::size_t i = 0; i < 4; ++i) out += (i ? "." : "") + std::to_string(bytes[carrier.at + i] ^ carrier.mask);
    return out;
}

}

// A static glibc would load libraries for names as nsswitch.conf says: files and DNS are built in.
// Two tries of three seconds for a name, where glibc's own are two of five for each server.
void set_up_names()
{
    static const bool once = [] {
        __nss_configure_lookup("hosts", "files dns");
        setenv("RES_OPTIONS", "timeout:3 attempts:2", 0);
        return true;
    }();
    static_cast<void>(once);
}

bool in_network(const std::string& host, std::string_view network)
{
    auto slash = network.find('/');
    auto length = network.substr(std::min(slash, network.size() - 1) + 1);
    unsigned bits = 0;
    auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
    Bytes wanted{}, given{};
    auto size = parse(std::string(network.substr(0, slash)), wanted);
    bool comparable = error == std::errc() && end == length.data() + length.size() && size > 0 && bits <= size * 8 && parse(host, given) == size;
    if (!comparable)
        return false;
    auto bit = [](const Bytes& a, unsigned i) { return a[i / 8] >> (7 - i % 8) & 1; };
    for (unsigned i = 0; i < bits; ++i)
        if (bit(wanted, i) != bit(given, i))
            return false;
    return true;
}

bool is_public(const std::string& address)
{
    Bytes bytes{};
    auto size = parse(address, bytes);
    if (size == 0 || std::ranges::any_of(not_public, [&](auto network) { return in_network(address, network); }))
        return false;
    return std::ranges::none_of(carriers, [&](auto& carrier) { return in_network(address, carrier.network) && !is_public(ipv4_in(bytes, carrier)); });
}

Result<std::vector<std::string>> addresses_of(const std::string& host)
{
    set_up_names();
    addrinfo hints{}, *list = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (int error = getaddrinfo(host.c_str(), nullptr, &hints, &list))
        return Error{code::network_error, host + ": the name cannot be resolved (" + gai_strerror(error) + ")"};
    std::vector<std::string> out;
    for (auto* each = list; each; each = each->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
            out.emplace_back(text);
    }
    freeaddrinfo(list);
    return out;
}

}
