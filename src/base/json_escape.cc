// The inside of JSON strings, written. What reading a file, or what a tool prints, spends its time on.
#include "base/json.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <bit>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    std::array<char, 6> text;
    unsigned char size;
};

constexpr Escape escape(unsigned char c)
{
    constexpr char hex[] = "0123456789ABCDEF";
    if (c >= 0x80) return {{'\xEF', '\xBF', '\xBD'}, 3};   // U+FFFD
    if (escape_of(c) == 'u') return {{'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6};
    return {{'\\', escape_of(c)}, 2};
}

constexpr auto escapes = [] {
    std::array<Escape, 256> table{};
    for (unsigned c = 0; c < table.size(); ++c)
        table[c] = escape(static_cast<unsigned char>(c));
    return table;
}();

// What ends a run of bytes: a byte that a JSON string cannot have as it is.
struct Escaped {
    bool operator()(char c) const { return escape_of(static_cast<unsigned char>(c)); }
#ifdef __SSE2__
    unsigned operator()(__m128i chunk) const   // sixteen bytes, a bit for each
    {
        const auto last_control = _mm_set1_epi8(0x1F);
        auto control = _mm_cmpeq_epi8(_mm_max_epu8(chunk, last_control), last_control);
        auto marks = _mm_or_si128(_mm_cmpeq_epi8(chunk, _mm_set1_epi8('"')), _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\')));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(control, marks)));
    }
#endif
};

// The same, or one that is not ASCII.
struct EscapedOrForeign {
    bool operator()(char c) const { return Escaped()(c) || static_cast<unsigned char>(c) >= 0x80; }
#ifdef __SSE2__
    unsigned operator()(__m128i chunk) const { return Escaped()(chunk) | static_cast<unsigned>(_mm_movemask_epi8(chunk)); }
#endif
};

// The number of bytes before the first that ends the run. Sixteen at a time where the machine can.
template <class Ends>
std::size_t run_length(std::string_view bytes, Ends ends)
{
    std::size_t i = 0;
#ifdef __SSE2__
    for (; i + 16 <= bytes.size(); i += 16)
        if (auto found = ends(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i))))
            return i + static_cast<unsigned>(std::countr_zero(found));
#endif
    while (i < bytes.size() && !ends(bytes[i]))
        ++i;
    return i;
}

}

void append_escaped(std::string& out, std::string_view bytes)
{
    std::size_t plain = 0;   // bytes[plain, i) are copied as they are
    for (std::size_t i = 0;;) {
        i += run_length(bytes.substr(i), EscapedOrForeign());
        while (auto size = utf8_length(bytes.substr(i))) {
            if (size == 1)
                break;
            i += size;
        }
        if (i == bytes.size())
            break;
        auto c = static_cast<unsigned char>(bytes[i]);
        if (c < 0x80 && !escape_of(c))
            continue;   // plain again behind other characters
        out.append(bytes, plain, i - plain);
        out.append(escapes[c].text.data(), escapes[c].size);
        plain = ++i;
    }
    out.append(bytes, plain);
}

std::size_t verbatim_prefix(std::string_view bytes) { return run_length(bytes, Escaped()); }

std::size_t incomplete_tail(std::string_view text)
{
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        auto c = static_cast<unsigned char>(text[text.size() - back]);
        if (c < 0x80) return 0;
        if (c < 0xC0) continue;
        std::size_t wanted = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
        return wanted > back ? back : 0;
    }
    return 0;
}

}
