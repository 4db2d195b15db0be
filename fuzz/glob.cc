// A glob pattern over a small tree.
#include "fuzz/fuzz.h"

#include "applets/walk.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>

namespace ik::fuzz {
namespace {

bool tree()
{
    auto folder = scratch() + "/tree";
    if (std::filesystem::exists(folder))
        return true;
    for (auto* name : {"/a/b/c", "/.hidden/d", "/a/*", "/[x]", "/e-f"}) std::filesystem::create_directories(folder + name);
    for (auto* name : {"tree/1.txt", "tree/a/2.cc", "tree/a/b/c/3", "tree/.hidden/4", "tree/a/b/\xFF"}) write_scratch(name, "");
    return true;
}

// Whether a component may be the folder above: .., but also .* or .?, from where any folder of the machine may be reached.
bool may_leave(std::string_view pattern)
{
    return std::ranges::any_of(split(pattern, '/'), [](auto part) {
        return part.starts_with('\\') || (part.size() > 1 && part[0] == '.' && !std::isalnum(static_cast<unsigned char>(part[1])));
    });
}

}

void glob(std::string_view bytes)
{
    static const bool made = tree();
    if (!made || bytes.size() > 300 || bytes.find('\0') != bytes.npos)
        return;
    if (bytes.starts_with('/') || may_leave(bytes))
        return;
    auto paths = walk({.pattern = std::string(bytes), .path = scratch() + "/tree"});
    if (!paths)
        return;
    claim(std::ranges::is_sorted(*paths), "paths are in order");
    claim(std::ranges::adjacent_find(*paths) == paths->end(), "each once");
    for (auto& path : *paths) claim(path.starts_with(scratch() + "/tree"), "paths are below where the search began");
}

}
