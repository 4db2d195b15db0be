// Every seed through the function that the fuzzers call.
#include "fuzz/fuzz.h"

#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik::test;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds(const std::string& target)
{
    std::vector<std::string> out;
    for (auto& entry : fs::directory_iterator(root() + "/tests/fuzz/" + target)) out.push_back(entry.path());
    return out;
}

void try_seeds(const std::string& target, void (*run)(std::string_view))
{
    auto all = seeds(target);
    CHECK(!all.empty());
    for (auto& path : all) {
        auto bytes = contents_of(path);
        INFO(path);
        CHECK_NOTHROW(run(bytes));
        CHECK_NOTHROW(run(bytes.substr(0, bytes.size() / 2)));
    }
}

}

#define TARGET(name) TEST_CASE("fuzz: the seeds of " #name) { try_seeds(#name, ik::fuzz::name); }
#include "fuzz/targets.def"
#undef TARGET
