// The inside of JSON strings, written. What reading a file, or what a tool prints, spends its time on.
#include "base/json.h"

#include "base/text.h"
#include "base/utf8_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ik {
namespace {

// What an escape of the byte looks like; 0 for a byte that stands for itself.
constexpr char escape_of(unsigned char c)
{
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return c < 0x20 ? 'u' : 0;
    }
}

// What stands for a byte that cannot stand for itself.
struct Escape {
    std::array<char, 8> text;
    unsigned char size;
};

constexpr Escape escape(unsigned char c)
{
    constexpr char hex[] = "0123456789ABCDEF";
    if (c >= 0x80) return {{'\xEF', '\xBF', '\xBD'}, 3};   // U+FFFD
    if (escape_of(c) == 'u') return {{'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6};
    if (!escape_of(c)) return {};
    return {{'\\', escape_of(c)}, 2};
}

constexpr auto escapes = [] {
    std::array<Escape, 256> table{};
    for (unsigned c = 0; c < table.size(); ++c)
        table[c] = escape(static_cast<unsigned char>(c));
    return table;
}();

#ifdef __SSE2__
// Where a byte is that a JSON string cannot have as it is.
__m128i not_verbatim(__m128i chunk)
{
    const auto last_control = _mm_set1_epi8(0x1F);
    auto control = _mm_cmpeq_epi8(_mm_max_epu8(chunk, last_control), last_control);
    auto marks = _mm_or_si128(_mm_cmpeq_epi8(chunk, _mm_set1_epi8('"')), _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\')));
    return _mm_or_si128(control, marks);
}

unsigned escaped(__m128i chunk) { return bits(not_verbatim(chunk)); }
#endif

}

// Sixteen bytes are copied where fewer are wanted, and an escape's eight: that is quicker than to look how many.
void append_escaped(std::string& out, std::string_view bytes)
{
    auto plain = [](char c) { return escapes[static_cast<unsigned char>(c)].size == 0; };
    if (bytes.size() < 32 && std::ranges::all_of(bytes, plain)) {   // as most names and words are
        out += bytes;
        return;
    }
    char piece[4096];
    constexpr std::ptrdiff_t most = 16 * 6 + 16;   // that one block, or one step behind them, writes
    auto* to = piece;
    auto full = [&] { return piece + sizeof piece - to < most; };
    auto put = [&](char c) {
        auto& escape = escapes[static_cast<unsigned char>(c)];
        std::memcpy(to, escape.text.data(), escape.text.size());
        to += escape.size;
    };
    [[maybe_unused]] auto take = [&](const char* block, auto chunk) {
        if (full())
            return false;
        std::size_t done = 0;
        for (auto found = escaped(chunk); found; found &= found - 1) {
            auto next = static_cast<std::size_t>(std::countr_zero(found));
            std::memcpy(to, block + done, 16);
            to += next - done;
            put(block[next]);
            done = next + 1;
        }
        std::memcpy(to, block + done, 16);
        to += 16 - done;
        return true;
    };
    std::size_t sound = 0;   // bytes[sound, i) are whole characters
    for (std::size_t i = 0; i < bytes.size();) {
        if (full())
            out.append(piece, std::exchange(to, piece));
        i += utf8_run(bytes.substr(sound), i - sound, take);
        auto begun = incomplete_tail(bytes.substr(sound, i - sound));
        i -= begun;
        to -= begun;
        auto size = utf8_length(bytes.substr(i));
        if (size == 0) {
            put(bytes[i]);
            sound = ++i;
        } else if (size == 1 && !plain(bytes[i]))
            put(bytes[i++]);
        else
            for (auto after = i + size; i < after; ++i) *to++ = bytes[i];
        for (auto stop = std::min(bytes.size(), i + 32); i < stop && plain(bytes[i]); ++i) *to++ = bytes[i];   // mostly the rest
    }
    out.append(piece, to);
}

std::size_t verbatim_prefix(std::string_view bytes)
{
    std::size_t i = 0;
#ifdef __SSE2__
    auto chunk = [&](std::size_t at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at)); };
    auto two = [&](std::size_t at) { return _mm_or_si128(not_verbatim(chunk(at)), not_verbatim(chunk(at + 16))); };
    while (i + 64 <= bytes.size() && !bits(_mm_or_si128(two(i), two(i + 32)))) i += 64;   // one look at four of them
    for (; i + 16 <= bytes.size(); i += 16)
        if (auto found = escaped(chunk(i)))
            return i + static_cast<unsigned>(std::countr_zero(found));
#endif
    while (i < bytes.size() && !escape_of(static_cast<unsigned char>(bytes[i])))
        ++i;
    return i;
}

std::size_t copy_verbatim(char* to, std::string_view bytes)
{
    std::size_t i = 0;
#ifdef __SSE2__
    for (; i + 16 <= bytes.size(); i += 16) {
        auto chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), chunk);
        if (auto found = escaped(chunk))
            return i + static_cast<unsigned>(std::countr_zero(found));
    }
#endif
    for (; i < bytes.size() && !escape_of(static_cast<unsigned char>(bytes[i])); ++i) to[i] = bytes[i];
    return i;
}

}
