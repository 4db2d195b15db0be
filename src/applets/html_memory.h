// HTML memory: what the parser allocates, close together, and given back to the system all at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ik::html {

// The parser makes hundreds of thousands of small things and frees its tree by recursion: this saves a quarter of the
// memory, and the recursion.
class Memory {
public:
    Memory() = default;
    Memory(const Memory&) = delete;
    ~Memory();

    void* allocate(std::size_t size);
    void free(void*);   // for use again

private:
    // A slab begins at a multiple of slab_size and holds pieces of one size: multiples of 8 at first, then
    // powers of two. What is larger still has a slab of its own.
    static constexpr std::size_t slab_size = 256 << 10, small = 1024, largest = 64 << 10, no_kind = SIZE_MAX;

    struct Slab { std::size_t kind, size, index; };
    struct Free { Free* next; };
    struct Kind {
        Free* free = nullptr;
        char* next = nullptr;                // in the newest slab
        char* end = nullptr;
    };

    char* new_slab(std::size_t size, std::size_t kind);

    std::array<Kind, 136> kinds_{};
    std::vector<Slab*> slabs_;
};

}
