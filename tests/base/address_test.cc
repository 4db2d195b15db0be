#include "base/address.h"

#include <catch2/catch.hpp>

using namespace ik;

TEST_CASE("address: what is public")
{
    for (auto* inside : {"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254",
                         "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
                         "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1",
                         "2001:0:a00:1::", "2001:0:102:304:0:0:f5ff:fffe", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%lo", "febf::1", "fec0::1", "ff02::1", "localhost", "", "1.2.3"}) {
        INFO(inside);
        CHECK(!is_public(inside));
    }
    for (auto* outside : {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.0.1", "172.15.0.1", "172.32.0.1",
                          "192.0.1.1", "192.167.1.1", "193.0.0.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::"}) {
        INFO(outside);
        CHECK(is_public(outside));
    }
}

TEST_CASE("address: every spelling of an address is that address")
{
    for (auto* spelling : {"127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "0x7f000001", "017700000001", "127.0.1"}) {
        INFO(spelling);
        auto found = addresses_of(spelling);
        REQUIRE(found);
        CHECK(*found == std::vector<std::string>{"127.0.0.1"});
    }
    CHECK(*addresses_of("::1") == std::vector<std::string>{"::1"});
    CHECK(*addresses_of("0:0:0:0:0:0:0:1") == std::vector<std::string>{"::1"});
    auto none = addresses_of("no such host");
    REQUIRE(!none);
    CHECK(none.error().code == code::network_error);
}
