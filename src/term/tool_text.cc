#include "term/tool_text.h"

#include "base/text.h"

#include <algorithm>

namespace ik::term {
namespace {

constexpr std::size_t longest_sequence = 64;

// An attribute that a number turns on or off (ECMA-48, 8.3.117).
struct Attribute { int number; bool Style::*member; bool on; };
constexpr Attribute attributes[] = {
    {1, &Style::bold, true}, {2, &Style::dim, true}, {3, &Style::italic, true}, {4, &Style::underline, true}, {7, &Style::reverse, true}, {9, &Style::strike, true},
    {21, &Style::bold, false}, {22, &Style::bold, false}, {22, &Style::dim, false}, {23, &Style::italic, false}, {24, &Style::underline, false},
    {27, &Style::reverse, false}, {29, &Style::strike, false},
};

std::vector<int> numbers(std::string_view parameters)
{
    std::vector<int> out{0};
    for (char c : parameters) {
        if (c == ';' || c == ':') out.push_back(0);
        else if (out.back() < 1000) out.back() = out.back() * 10 + (c - '0');
    }
    return out;
}

std::uint8_t part(int n) { return static_cast<std::uint8_t>(std::clamp(n, 0, 255)); }

// The colour after 38 or 48 at `at`, which is moved behind it.
Colour colour(const std::vector<int>& n, std::size_t& at)
{
    if (at + 2 < n.size() && n[at + 1] == 5) {
        at += 2;
        return {Colour::indexed, part(n[at])};
    }
    if (at + 4 < n.size() && n[at + 1] == 2) {
        at += 4;
        return {Colour::rgb, part(n[at - 2]), part(n[at - 1]), part(n[at])};
    }
    at = n.size();
    return {};
}

void apply(std::string_view parameters, Style& style, const Style& base)
{
    auto n = numbers(parameters);
    for (std::size_t i = 0; i < n.size(); ++i) {
        int number = n[i];
        if (number == 0) style = base;
        for (auto& row : attributes)
            if (row.number == number) style.*row.member = row.on;
        if (number >= 30 && number <= 37) style.front = {Colour::indexed, part(number - 30)};
        if (number >= 90 && number <= 97) style.front = {Colour::indexed, part(number - 82)};
        if (number >= 40 && number <= 47) style.back = {Colour::indexed, part(number - 40)};
        if (number >= 100 && number <= 107) style.back = {Colour::indexed, part(number - 92)};
        if (number == 38) style.front = colour(n, i);
        else if (number == 39) style.front = base.front;
        else if (number == 48) style.back = colour(n, i);
        else if (number == 49) style.back = base.back;
    }
}

// The length of the SGR sequence at the start of text, 0 when there is none.
std::size_t sequence(std::string_view text)
{
    if (!text.starts_with("\x1b["))
        return 0;
    auto end = text.find_first_not_of("0123456789;:", 2);
    return end != text.npos && text[end] == 'm' && end < longest_sequence ? end + 1 : 0;
}

Line tool_line(std::string_view text, const Style& base)
{
    Line out;
    auto style = base;
    while (!text.empty()) {
        auto escape = std::min(text.find("\x1b["), text.size());
        auto size = sequence(text.substr(escape));
        if (!size && escape < text.size()) ++escape;   // not one of these: it is shown
        out.add(text.substr(0, escape), style);
        if (size) apply(text.substr(escape + 2, size - 3), style, base);
        text.remove_prefix(escape + size);
    }
    return out;
}

}

std::vector<Line> tool_lines(std::string_view bytes, Style base)
{
    std::vector<Line> out;
    while (!bytes.empty()) {
        auto end = std::min(bytes.find('\n'), bytes.size());
        auto line = bytes.substr(0, end);
        if (line.ends_with('\r') && end < bytes.size()) line.remove_suffix(1);
        out.push_back(tool_line(line, base));
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
    return out;
}

}
