// Spool: bytes that arrive, in memory while they are few, in a file without a name once
// they are many.
#pragma once

#include "base/fd.h"

#include <cstdint>

namespace ik {

class Spool {
public:
    explicit Spool(std::size_t in_memory = SIZE_MAX) : in_memory_(in_memory) {}

    void append(std::string_view bytes);
    std::size_t size() const { return size_; }

    // The bytes from offset on, at most size of them.
    std::string read(std::size_t offset, std::size_t size) const;

    // The same, for who reads it piece by piece: it lies in buffer, or where it is.
    std::string_view read(std::size_t offset, std::size_t size, std::string& buffer) const;

    std::string memory;   // all of it, unless it is in the file
    int failure = 0;      // errno of a write that lost bytes: a full disk

private:
    void keep(std::string_view bytes);

    std::size_t in_memory_, size_ = 0;
    Fd file_;
};

}
