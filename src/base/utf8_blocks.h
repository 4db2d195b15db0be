// UTF-8, sixteen bytes at a time, where the machine can (every x86-64 can). What is found wrong here only ends a run:
// whoever asks goes on byte by byte.
#pragma once

#include <string_view>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ik {

#ifdef __SSE2__
inline unsigned bits(__m128i chunk) { return static_cast<unsigned>(_mm_movemask_epi8(chunk)); }

// A bit for each of the sixteen bytes that cannot stand where it does in UTF-8; a character that the block does not end
// is not wrong. There are three bytes in front of it to be read.
inline unsigned wrong_in_utf8(const char* block)
{
    auto load = [&](int back) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(block - back)); };
    auto all = [](int byte) { return _mm_set1_epi8(static_cast<char>(byte)); };
    auto at_least = [&](__m128i chunk, int byte) { return _mm_cmpeq_epi8(_mm_max_epu8(chunk, all(byte)), chunk); };
    auto is = [&](__m128i chunk, int byte) { return _mm_cmpeq_epi8(chunk, all(byte)); };

    auto here = load(0), before = load(1);
    auto continues = _mm_cmplt_epi8(here, all(0xC0));   // 0x80 to 0xBF: the lowest, with signs
    auto too_long = is(_mm_and_si128(here, all(0xFE)), 0xC0);
    if (!bits(at_least(_mm_max_epu8(here, load(3)), 0xE0)))   // ASCII and characters of two bytes, as most scripts with letters have
        return bits(_mm_or_si128(_mm_xor_si128(continues, at_least(before, 0xC0)), too_long));
    auto must = _mm_or_si128(at_least(before, 0xC0), _mm_or_si128(at_least(load(2), 0xE0), at_least(load(3), 0xF0)));
    auto lone = _mm_xor_si128(continues, must);
    auto never = _mm_or_si128(too_long, at_least(here, 0xF5));

    // Forms that are too long, halves of surrogate pairs, and what is beyond the last character.
    auto high = at_least(here, 0xA0), higher = at_least(here, 0x90);
    auto narrow = _mm_or_si128(_mm_or_si128(_mm_andnot_si128(high, is(before, 0xE0)), _mm_and_si128(high, is(before, 0xED))),
                               _mm_or_si128(_mm_andnot_si128(higher, is(before, 0xF0)), _mm_and_si128(higher, is(before, 0xF4))));
    return bits(_mm_or_si128(_mm_or_si128(lone, never), narrow));
}
#endif

// How many bytes from `from` on (the start of a character) are UTF-8, in whole blocks of sixteen; the last character of
// them may lack its end. take is given each block (its place and its bytes; sixteen more bytes can be read behind it)
// and says whether to go on.
template <class Take>
std::size_t utf8_run([[maybe_unused]] std::string_view bytes, std::size_t from, [[maybe_unused]] Take take)
{
    auto at = from;
#ifdef __SSE2__
    bool open = false;   // the block before was not all ASCII
    for (; at >= 3 && at + 32 <= bytes.size(); at += 16) {
        auto* block = bytes.data() + at;
        auto chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
        auto foreign = bits(chunk);
        if (((foreign || open) && wrong_in_utf8(block)) || !take(block, chunk)) break;
        open = foreign;
    }
#endif
    return at - from;
}

}
