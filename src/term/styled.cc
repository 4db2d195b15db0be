#include "term/styled.h"

namespace ik {

void add(Line& line, std::string_view text, Style style)
{
    if (text.empty())
        return;
    if (!line.empty() && line.back().style == style)
        line.back().text += text;
    else
        line.push_back({std::string(text), style});
}

std::string plain(const Line& line)
{
    std::string out;
    for (auto& span : line)
        out += span.text;
    return out;
}

}
