// Text: UTF-8, lines and words. Knows no encoding but UTF-8 and no locale.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ik {

bool valid_utf8(std::string_view bytes);

// bytes with U+FFFD for each byte that is no part of a UTF-8 character.
std::string clean_utf8(std::string_view bytes);

// The length of the UTF-8 character at the start of bytes (1 to 4); 0 when there is none.
inline std::size_t utf8_length(std::string_view bytes)
{
    if (bytes.empty())
        return 0;
    auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
    unsigned first = at(0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    unsigned second = at(1);
    if ((second & 0xC0) != 0x80) return 0;
    if (first < 0xE0) return 2;
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
    if ((at(2) & 0xC0) != 0x80) return 0;
    if (first < 0xF0) return 3;
    return (at(3) & 0xC0) == 0x80 ? 4 : 0;
}

// The number of bytes at the end of text that begin a UTF-8 character but do not end it (0 to 3).
inline std::size_t incomplete_tail(std::string_view text)
{
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        auto c = static_cast<unsigned char>(text[text.size() - back]);
        if (c < 0x80) return 0;
        if (c < 0xC0) continue;
        std::size_t wanted = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
        return wanted > back ? back : 0;
    }
    return 0;
}

// text cut to at most size bytes, on a character boundary.
std::string_view utf8_prefix(std::string_view text, std::size_t size);
std::string_view utf8_suffix(std::string_view text, std::size_t size);

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char by);
std::string lower(std::string_view text);                                  // ASCII only
std::string replace(std::string_view text, char from, char to);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);   // ASCII only

// Whether a character (one, UTF-8) is one that is not seen, or is seen as something else: blanks of other scripts,
// joiners, marks of direction, tags, the control characters behind ASCII.
bool invisible(std::string_view character);

// text as a person must see it who is to judge it: control characters as ^X, what is invisible as <U+200B>, bytes
// that are no UTF-8 as <FF>. Newlines and tabs stay.
std::string exposed(std::string_view text);

// The next whole line of text without its end, taken off its front.
std::optional<std::string> take_line(std::string& text);

// The names most like word, best first; empty when none is near.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> names);

// " Did you mean: a, b?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}
