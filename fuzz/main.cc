// The door to libFuzzer: the target is the one that the program is named after.
#include "fuzz/fuzz.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const ik::fuzz::Target* chosen = nullptr;

}

extern "C" int LLVMFuzzerInitialize(int*, char*** argv)
{
    std::string_view name = **argv;
    name.remove_prefix(name.rfind('/') + 1);
    auto all = ik::fuzz::targets();
    auto found = std::ranges::find(all, name, &ik::fuzz::Target::name);
    if (found == all.end()) {
        std::fprintf(stderr, "there is no target %s\n", **argv);
        std::exit(2);
    }
    chosen = &*found;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    chosen->run({reinterpret_cast<const char*>(data), size});
    return 0;
}
