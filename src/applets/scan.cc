#include "applets/scan.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#define IKIGAI_WIDE 1
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

namespace ik {

#ifdef IKIGAI_WIDE
#pragma GCC push_options
#pragma GCC target("ssse3")
namespace by16 {
using Vector = __m128i;
constexpr int width = 16;
constexpr unsigned all = 0xFFFF;
inline Vector load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const Vector*>(p)); }
inline void store(unsigned char* p, Vector v) { _mm_store_si128(reinterpret_cast<Vector*>(p), v); }
inline Vector splat(int byte) { return _mm_set1_epi8(static_cast<char>(byte)); }
inline Vector table(const std::array<std::uint8_t, 16>& t) { return _mm_load_si128(reinterpret_cast<const Vector*>(t.data())); }
inline Vector both(Vector a, Vector b) { return _mm_and_si128(a, b); }
inline Vector either(Vector a, Vector b) { return _mm_or_si128(a, b); }
inline Vector equal(Vector a, Vector b) { return _mm_cmpeq_epi8(a, b); }
inline Vector halved(Vector v) { return _mm_srli_epi16(v, 4); }
inline Vector shuffle(Vector t, Vector by) { return _mm_shuffle_epi8(t, by); }
inline unsigned bits_of(Vector v) { return static_cast<unsigned>(_mm_movemask_epi8(v)); }
#include "applets/scan_wide.h"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,popcnt")
namespace by32 {
using Vector = __m256i;
constexpr int width = 32;
constexpr unsigned all = 0xFFFFFFFF;
inline Vector load(const char* p) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(p)); }
inline void store(unsigned char* p, Vector v) { _mm256_store_si256(reinterpret_cast<Vector*>(p), v); }
inline Vector splat(int byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
inline Vector table(const std::array<std::uint8_t, 16>& t) { return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(t.data()))); }
inline Vector both(Vector a, Vector b) { return _mm256_and_si256(a, b); }
inline Vector either(Vector a, Vector b) { return _mm256_or_si256(a, b); }
inline Vector equal(Vector a, Vector b) { return _mm256_cmpeq_epi8(a, b); }
inline Vector halved(Vector v) { return _mm256_srli_epi16(v, 4); }
inline Vector shuffle(Vector t, Vector by) { return _mm256_shuffle_epi8(t, by); }
inline unsigned bits_of(Vector v) { return static_cast<unsigned>(_mm256_movemask_epi8(v)); }
#include "applets/scan_wide.h"
}
#pragma GCC pop_options
#endif

namespace {

Width processor()
{
#ifdef IKIGAI_WIDE
    if (CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(POPCNT)) return Width::avx2;
    if (CPU_FEATURE_ACTIVE(SSSE3)) return Width::ssse3;
#endif
    return Width::one;
}

// Where whole vectors are looked at, that is done; the rest is one by one.
const char* look_widely(Width width, const Scan::Plan& plan, const char* at, const char* end, unsigned& in)
{
    in = 0;
#ifdef IKIGAI_WIDE
    if (width == Width::avx2) return plan.compares ? by32::compare(plan, at, end, in) : by32::look(plan, at, end, in);
    if (width == Width::ssse3) return plan.compares ? by16::compare(plan, at, end, in) : by16::look(plan, at, end, in);
#endif
    (void)width, (void)plan, (void)end;
    return at;
}

const char* look_singly(const Scan::Plan& plan, const char* at, const char* end, unsigned& in)
{
    auto byte = [](const char* p) { return static_cast<unsigned char>(*p); };
    auto &a = plan.at[0], &b = plan.at[1], &c = plan.at[2];
    for (; end - at > static_cast<std::ptrdiff_t>(plan.reach); ++at)
        if ((in = a.exact[byte(at + a.offset)] & b.exact[byte(at + b.offset)] & c.exact[byte(at + c.offset)]))
            return at;
    return end;
}

// The places of a needle that are looked at: where there is only one needle its rarest, wherever they are.
std::array<std::size_t, Scan::positions> rarest_places(const Needle& needle)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < needle.size(); ++i)
        order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](auto i) { return share_of(needle[i]); });
    std::array<std::size_t, Scan::positions> out;
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = order[std::min(i, order.size() - 1)];
    return out;
}

// Of several needles it is as many bytes in a row as all have, where they are rarest.
std::size_t rarest_window(const Needle& needle, std::size_t size)
{
    std::size_t best = 0;
    double lowest = 2;
    for (std::size_t at = 0; at + size <= needle.size(); ++at) {
        auto share = share_of(Needle(needle.begin() + static_cast<std::ptrdiff_t>(at), needle.begin() + static_cast<std::ptrdiff_t>(at + size)));
        if (share < lowest)
            lowest = share, best = at;
    }
    return best;
}

void add(Scan::Position& position, const ByteSet& set, unsigned bucket)
{
    auto bit = static_cast<std::uint8_t>(1u << bucket);
    for (std::size_t i = 0; i < 256; ++i)
        if (set[i])
            position.exact[i] |= bit, position.low[i & 15] |= bit, position.high[i >> 4] |= bit;
}

// A set of one byte, or of two that differ in one bit.
bool comparable(Scan::Position& position, const ByteSet& set)
{
    unsigned any = 0, every = 255;
    for (unsigned i = 0; i < 256; ++i)
        if (set[i])
            any |= i, every &= i;
    position.value = static_cast<std::uint8_t>(any);
    position.mask = static_cast<std::uint8_t>(any ^ every);
    return set.count() == 1 || (set.count() == 2 && (position.mask & (position.mask - 1)) == 0);
}

}

Width widest()
{
    static const Width width = processor();
    return width;
}

Scan::Scan(const std::vector<Needle>& any_of, Width width) : width_(std::min(width, widest()))
{
    if (any_of.size() == 1) {
        auto& needle = any_of[0];
        auto places = rarest_places(needle);
        plan_.compares = true;
        for (std::size_t i = 0; i < positions; ++i) {
            auto& position = plan_.at[i];
            position.offset = places[i];
            add(position, needle[places[i]], 0);
            plan_.compares &= comparable(position, needle[places[i]]) || i > 1;
            plan_.reach = std::max(plan_.reach, places[i]);
        }
        buckets_[0].push_back({0, needle});
        return;
    }
    std::size_t size = positions;
    for (auto& needle : any_of)
        size = std::min(size, needle.size());
    for (std::size_t i = 0; i < positions; ++i)
        plan_.at[i].offset = std::min(i, size - 1);
    plan_.reach = size - 1;
    for (std::size_t n = 0; n < any_of.size(); ++n) {
        auto lead = rarest_window(any_of[n], size);
        auto bucket = n * buckets / any_of.size();
        for (auto& position : plan_.at)
            add(position, any_of[n][lead + position.offset], static_cast<unsigned>(bucket));
        buckets_[bucket].push_back({lead, any_of[n]});
    }
}

std::size_t Scan::find(std::string_view text, std::size_t from) const
{
    const char *at = text.data() + from, *end = text.data() + text.size();
    while (at < end) {
        unsigned in = 0;
        at = look_widely(width_, plan_, at, end, in);
        if (!in)
            at = look_singly(plan_, at, end, in);
        if (!in)
            break;
        auto found = confirmed(text, from, static_cast<std::size_t>(at - text.data()), in);
        if (found != text.npos)
            return found;
        ++at;
    }
    return text.npos;
}

std::size_t Scan::confirmed(std::string_view text, std::size_t from, std::size_t at, unsigned in) const
{
    for (; in; in &= in - 1)
        for (auto& [lead, needle] : buckets_[static_cast<std::size_t>(__builtin_ctz(in))]) {
            if (at < from + lead || text.size() - (at - lead) < needle.size())
                continue;
            auto* bytes = reinterpret_cast<const unsigned char*>(text.data()) + at - lead;
            if (std::ranges::all_of(needle, [&](auto& set) { return set[*bytes++]; }))
                return at - lead;
        }
    return text.npos;
}

std::size_t newlines(std::string_view text, Width width)
{
    const char *at = text.data(), *end = at + text.size();
    std::size_t out = 0;
#ifdef IKIGAI_WIDE
    if (width == Width::avx2) out = by32::count(at, end);
    if (width == Width::ssse3) out = by16::count(at, end);
#endif
    (void)width;
    return out + static_cast<std::size_t>(std::count(at, end, '\n'));
}

}
