#include "base/text.h"

#include "base/utf8_blocks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

namespace ik {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

char32_t code_point(std::string_view character)
{
    auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1)
        return first;
    char32_t out = first & (0x7Fu >> character.size());
    for (char c : character.substr(1)) out = out << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
    return out;
}

// Edits (insert, delete, replace) from a to b.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t best = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = std::exchange(row[j], best);
        }
    }
    return row.back();
}

// How many bytes at the front of bytes are ASCII: eight at a time, as most of all text is.
std::size_t ascii_length(std::string_view bytes)
{
    std::size_t i = 0;
    for (std::uint64_t eight; i + 8 <= bytes.size(); i += 8) {
        std::memcpy(&eight, bytes.data() + i, 8);
        if (eight & 0x8080808080808080)
            break;
    }
    while (i < bytes.size() && static_cast<unsigned char>(bytes[i]) < 0x80) ++i;
    return i;
}

// The length of the longest beginning that is UTF-8.
std::size_t valid_length(std::string_view bytes)
{
    for (std::size_t i = 0;;) {
        i += ascii_length(bytes.substr(i));
        i += utf8_run(bytes, i, [](auto...) { return true; });
        i -= incomplete_tail(bytes.substr(0, i));
        auto size = utf8_length(bytes.substr(i));
        if (!size)
            return i;
        i += size;
    }
}

}

bool valid_utf8(std::string_view bytes) { return valid_length(bytes) == bytes.size(); }

std::string clean_utf8(std::string_view bytes)
{
    std::string out;
    out.reserve(bytes.size());
    for (;;) {
        auto size = valid_length(bytes);
        out.append(bytes, 0, size);
        if (size == bytes.size())
            return out;
        out += "\uFFFD";
        bytes.remove_prefix(size + 1);
    }
}

std::string_view utf8_prefix(std::string_view text, std::size_t size)
{
    if (size >= text.size())
        return text;
    while (size > 0 && continues(text[size]))
        --size;
    return text.substr(0, size);
}

std::string_view utf8_suffix(std::string_view text, std::size_t size)
{
    if (size >= text.size())
        return text;
    auto start = text.size() - size;
    while (start < text.size() && continues(text[start]))
        ++start;
    return text.substr(start);
}

std::string_view trim(std::string_view text)
{
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view text, char by)
{
    std::vector<std::string_view> parts;
    for (std::size_t start = 0;;) {
        auto end = text.find(by, start);
        parts.push_back(text.substr(start, end - start));
        if (end == text.npos) return parts;
        start = end + 1;
    }
}

std::string lower(std::string_view text)
{
    std::string out(text);
    for (auto& c : out) c = lower(c);
    return out;
}

std::string replace(std::string_view text, char from, char to)
{
    std::string out(text);
    std::ranges::replace(out, from, to);
    return out;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix)
{
    return text.size() >= prefix.size() && lower(text.substr(0, prefix.size())) == lower(prefix);
}

bool invisible(std::string_view character)
{
    struct Range { char32_t first, last; };
    constexpr Range ranges[] = {{0x80, 0xA0}, {0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x1680, 0x1680}, {0x17B4, 0x17B5},
                                {0x180B, 0x180F}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800}, {0x3000, 0x3000},
                                {0x3164, 0x3164}, {0xE000, 0xF8FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
                                {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF}};
    auto c = code_point(character);
    return std::ranges::any_of(ranges, [&](auto& range) { return c >= range.first && c <= range.last; });
}

std::string exposed(std::string_view text)
{
    std::string out;
    std::array<char, 16> name;
    for (std::size_t i = 0, size = 0; i < text.size(); i += std::max<std::size_t>(size, 1)) {
        auto c = static_cast<unsigned char>(text[i]);
        size = utf8_length(text.substr(i));
        auto character = text.substr(i, size);
        if (size == 0) std::snprintf(name.data(), name.size(), "<%02X>", c), out += name.data();
        else if (c == '\n' || c == '\t') out += text[i];
        else if (c < 0x20) (out += '^') += static_cast<char>(c + 64);
        else if (c == 0x7F) out += "^?";
        else if (size > 1 && invisible(character)) std::snprintf(name.data(), name.size(), "<U+%04X>", static_cast<unsigned>(code_point(character))), out += name.data();
        else out += character;
    }
    return out;
}

std::optional<std::string> take_line(std::string& text)
{
    auto end = text.find('\n');
    if (end == std::string::npos)
        return {};
    auto line = text.substr(0, end);
    text.erase(0, end + 1);
    return line;
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> names)
{
    std::vector<std::pair<std::size_t, std::string>> near;
    for (auto& name : names) {
        auto edits = distance(lower(word), lower(name));
        bool begins = word.size() >= 2 && name.starts_with(word);
        if (begins || edits <= (std::min(word.size(), name.size()) + 2) / 3)
            near.emplace_back(begins ? 0 : edits, name);
    }
    std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
    std::vector<std::string> out;
    for (auto& [edits, name] : near)
        if (out.size() < 3)
            out.push_back(name);
    return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names)
{
    std::string out;
    for (auto& name : nearest(word, names))
        out += (out.empty() ? " Did you mean: " : ", ") + name;
    return out.empty() ? out : out + "?";
}

}
