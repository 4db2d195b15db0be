// The tree itself: who includes whom, and whether the manual is well formed.
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

TEST_CASE("tree: no layer includes what it must not")
{
    auto ran = sh("MAKEFLAGS= make -s -C '" + root() + "' check-layers 2>&1");
    CHECK(ran.out == "");
    CHECK(ran.status == 0);
}

TEST_CASE("tree: the manual pages are well formed")
{
    auto ran = sh("cd '" + root() + "' && mandoc -Tlint -W warning man/*.[17] \"$IKIGAI_BUILD\"/man/*.1 2>&1 | grep -v 'referenced manual not found'");
    CHECK(ran.out == "");
}
