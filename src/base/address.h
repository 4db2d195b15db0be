// Address: IPv4 and IPv6 addresses as text, what a host's name leads to, and which addresses are the public internet.
// Opens no connection.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ik {

// Before the first look-up of a name.
void set_up_names();

// Whether host is an address in the network (10.0.0.0/8, fd00::/8); a name is in none.
bool in_network(const std::string& host, std::string_view network);

// An address that the whole internet may reach. Not: loopback, private, link-local, multicast and reserved ones, those where
// clouds keep their metadata, and IPv6 addresses that stand for one of these (mapped, NAT64, 6to4, Teredo).
bool is_public(const std::string& address);

// The addresses of a host, in the order in which to try them; of an IPv4 address in any of its spellings (2130706433, 0x7f.1),
// that one. May take as long as the resolver does.
// Error: NETWORK_ERROR, "HOST: the name cannot be resolved (why)".
Result<std::vector<std::string>> addresses_of(const std::string& host);

}
