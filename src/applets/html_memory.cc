#include "applets/html_memory.h"

#include <bit>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace ik::html {
namespace {

constexpr std::size_t head = 32;   // of a slab

struct Fit { std::size_t kind, bytes; };

// The kind of piece that holds size bytes.
Fit fit(std::size_t size, std::size_t small)
{
    if (size <= small) {
        auto units = (size + 7) / 8 + !size;
        return {units, units * 8};
    }
    auto bytes = std::bit_ceil(size);
    return {small / 8 + static_cast<std::size_t>(std::countr_zero(bytes / small)), bytes};
}

}

Memory::~Memory()
{
    for (auto* slab : slabs_)
        if (slab) munmap(slab, slab->size);
}

char* Memory::new_slab(std::size_t size, std::size_t kind)
{
    size = (size + slab_size - 1) / slab_size * slab_size;
    auto* found = static_cast<char*>(mmap(nullptr, size + slab_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (found == MAP_FAILED)
        throw std::bad_alloc();
    auto before = (slab_size - reinterpret_cast<std::uintptr_t>(found) % slab_size) % slab_size;
    if (before) munmap(found, before);
    munmap(found + before + size, slab_size - before);
    auto* slab = reinterpret_cast<Slab*>(found + before);
    *slab = {kind, size, slabs_.size()};
    slabs_.push_back(slab);
    return found + before + head;
}

void* Memory::allocate(std::size_t size)
{
    if (size > largest)
        return new_slab(head + size, no_kind);
    auto [index, bytes] = fit(size, small);
    auto& kind = kinds_[index];
    if (kind.free)
        return std::exchange(kind.free, kind.free->next);
    if (static_cast<std::size_t>(kind.end - kind.next) < bytes) {
        kind.next = new_slab(slab_size, index);
        kind.end = kind.next + slab_size - head;
    }
    return std::exchange(kind.next, kind.next + bytes);
}

void Memory::free(void* piece)
{
    if (!piece)
        return;
    auto* slab = reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(piece) & ~(slab_size - 1));
    if (slab->kind == no_kind) {
        slabs_[slab->index] = nullptr;
        munmap(slab, slab->size);
        return;
    }
    auto* freed = static_cast<Free*>(piece);
    freed->next = std::exchange(kinds_[slab->kind].free, freed);
}

}
