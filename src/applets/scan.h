// scan: where one of a few runs of bytes begins in a text, many bytes at a time where the processor can.
// Knows no expressions, files or lines.
#pragma once

#include "applets/needles.h"

#include <array>
#include <string_view>

namespace ik {

// How many bytes at a time; what is asked of a processor that cannot is no more than it can.
enum class Width { one, ssse3, avx2 };

Width widest();   // of this processor; asks what libc has found out at the start, so it costs nothing

class Scan {
public:
    Scan() = default;
    Scan(const std::vector<Needle>& any_of, Width = widest());

    // Where the first of them begins that lies in text at or behind from; npos where there is none.
    std::size_t find(std::string_view text, std::size_t from = 0) const;

    static constexpr std::size_t positions = 3, buckets = 8;

    // What a byte at one of the positions may belong to: a bit for each bucket of needles. Of a wide look only the
    // halves of the byte are known, so it finds a little more.
    struct Position {
        std::size_t offset = 0;
        std::array<std::uint8_t, 256> exact{};
        alignas(16) std::array<std::uint8_t, 16> low{}, high{};
        std::uint8_t mask = 0, value = 0;   // where one needle has one letter here, or one in both cases: byte | mask == value
    };
    struct Plan {
        std::array<Position, positions> at;
        std::size_t reach = 0;      // the largest offset
        bool compares = false;      // the first two positions have a mask and a value, and that is enough
    };

private:
    struct Bucket {
        std::size_t lead;           // the bytes of the needle before the first position
        Needle needle;
    };

    std::size_t confirmed(std::string_view text, std::size_t from, std::size_t at, unsigned in) const;

    Plan plan_;
    Width width_ = Width::one;
    std::array<std::vector<Bucket>, buckets> buckets_;
};

// The newlines of a text.
std::size_t newlines(std::string_view text, Width = widest());

}
