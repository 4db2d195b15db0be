// random: bytes that nobody can guess, from the kernel.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ik {

// Where the kernel has no getrandom(2), or a filter refuses it, from /dev/urandom. False where that is not there either:
// then they only differ from time to time and from process to process.
bool fill_random(std::span<unsigned char> bytes);

std::string random_hex(std::size_t bytes);   // two digits a byte

}
