#include "applets/pattern_token.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ik {
namespace {

// The length of the bracket expression at the start of text; all of it where it is not closed.
std::size_t bracket_size(std::string_view text)
{
    std::size_t at = 1;
    at += text.substr(at).starts_with('^');
    at += text.substr(at).starts_with(']');
    while (at < text.size() && text[at] != ']') {
        char kind = text[at] == '[' && at + 1 < text.size() ? text[at + 1] : ' ';
        if (!std::strchr(":.=", kind)) {
            ++at;
            continue;
        }
        const char end[] = {kind, ']'};
        auto closed = text.find(std::string_view(end, 2), at + 2);
        at = closed == text.npos ? text.size() : closed + 2;
    }
    return std::min(at + 1, text.size());
}

}

Token take_token(std::string_view& pattern)
{
    auto take = [&](Token::Kind kind, std::size_t size) {
        auto text = pattern.substr(0, size);
        pattern.remove_prefix(text.size());
        return Token{kind, text};
    };
    switch (pattern[0]) {
    case '\\': return take(Token::escape, 2);
    case '[': return take(Token::bracket, bracket_size(pattern));
    case '.': return take(Token::any, 1);
    case '^': case '$': return take(Token::anchor, 1);
    case '(': return take(Token::open, 1);
    case ')': return take(Token::close, 1);
    case '|': return take(Token::bar, 1);
    case '*': case '+': case '?': return take(Token::repeat, 1);
    case '{': return take(Token::repeat, std::min(pattern.find('}'), pattern.size() - 1) + 1);
    default: return take(Token::plain, 1);
    }
}

Times times(std::string_view token)
{
    if (token == "*") return {0, 0, true};
    if (token == "+") return {1, 1, true};
    if (token == "?") return {0, 1, false};
    std::string numbers(token.substr(1));
    char* end = nullptr;
    double least = static_cast<double>(std::strtoul(numbers.c_str(), &end, 10));
    if (*end != ',')
        return {least, least, false};
    char* start = end + 1;
    double most = static_cast<double>(std::strtoul(start, &end, 10));
    return {least, end == start ? least : most, end == start};
}

}
