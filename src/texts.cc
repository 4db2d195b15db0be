#include "texts.h"

#include "base/inflate.h"
#include "base/text.h"

// bundle.S with what make/texts has written
extern "C" const char ikigai_texts[], ikigai_texts_end[];

namespace ik {
namespace {

constexpr std::size_t longest = 8 << 20;   // bytes, of all together
constexpr char begins = '\x1e';            // before the line with a text's name

}

Result<std::vector<Text>> built_in_texts()
{
    auto all = inflated({ikigai_texts, static_cast<std::size_t>(ikigai_texts_end - ikigai_texts)}, longest);
    if (!all)
        return all.error();
    std::vector<Text> out;
    auto parts = split(*all, begins);
    for (auto part : std::span(parts).subspan(1))
        if (auto line = part.find('\n'); line != part.npos)
            out.push_back({std::string(part.substr(0, line)), std::string(part.substr(line + 1))});
    return out;
}

std::string plain(std::string_view bytes)
{
    std::string out;
    for (char c : bytes)
        if (c != '\b')
            out += c;
        else
            while (!out.empty()) {   // the character before, whole
                bool continues = (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80;
                out.pop_back();
                if (!continues) break;
            }
    return out;
}

}
