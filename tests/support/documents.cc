#include "support/documents.h"

#include "base/text.h"
#include "support/world.h"

#include <catch2/catch.hpp>

namespace ik::test {
namespace {

// Text of a page, as it is read.
std::string unroff(std::string line)
{
    constexpr std::pair<std::string_view, std::string_view> escapes[] = {{"\\(dq", "\""}, {"\\&", ""}, {"\\-", "-"}, {"\\e", "\\"}};
    for (auto& [written, read] : escapes)
        for (auto at = line.find(written); at != line.npos; at = line.find(written, at + read.size())) line.replace(at, written.size(), read);
    return line;
}

bool names(const std::string& line, const std::string& path)
{
    if (!line.starts_with("# " + path))
        return false;
    auto rest = line.substr(2 + path.size());
    return rest.empty() || rest[0] == ':';
}

}

std::string document(const std::string& name)
{
    auto text = contents_of(root() + "/" + name);
    INFO(name);
    REQUIRE(!text.empty());
    return text;
}

Lines lines_of(std::string text)
{
    Lines out;
    if (!text.empty() && text.back() != '\n') text += '\n';
    while (auto line = take_line(text)) out.push_back(*line);
    return out;
}

std::string joined(const Lines& lines)
{
    std::string out;
    for (auto& line : lines) out += line + "\n";
    return out;
}

Lines between(const Lines& lines, const std::string& from, const std::string& to)
{
    Lines out;
    bool inside = false;
    for (auto& line : lines)
        if (inside && line.starts_with(to)) return out;
        else if (inside) out.push_back(line);
        else inside = line.starts_with(from);
    INFO("from " << from << " to " << to);
    CHECK(inside);
    return out;
}

std::vector<Lines> blocks(const std::string& name)
{
    std::vector<Lines> out;
    bool inside = false;
    for (auto& line : lines_of(document(name))) {
        bool begins = !inside && (line.starts_with("```") || line.starts_with(".Bd -literal"));
        bool ends = inside && (line == "```" || line == ".Ed");
        if (begins) out.emplace_back();
        else if (inside && !ends) out.back().push_back(name.starts_with("man/") ? unroff(line) : line);
        inside = (inside || begins) && !ends;
    }
    return out;
}

std::string file_in(const std::string& name, const std::string& path)
{
    for (auto& block : blocks(name))
        for (std::size_t i = 0; i < 2 && i < block.size(); ++i)
            if (names(block[i], path)) return joined(block);
    INFO(name << " has no block for " << path);
    CHECK(false);
    return "";
}

Lines commands_in(const std::string& name, const std::string& from, const std::string& to)
{
    const std::string sign = ".Dl $ ";
    Lines out;
    for (auto& line : between(lines_of(document(name)), from, to))
        if (line.starts_with(sign)) out.push_back(unroff(line.substr(sign.size())));
    return out;
}

}
