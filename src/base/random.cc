#include "base/random.h"

#include "base/fd.h"

#include <ctime>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>
#include <vector>

namespace ik {

bool fill_random(std::span<unsigned char> bytes)
{
    auto all = static_cast<std::ptrdiff_t>(bytes.size());
    if (getrandom(bytes.data(), bytes.size(), 0) == all)
        return true;
    if (Fd source(open("/dev/urandom", O_RDONLY | O_CLOEXEC)); source && read_some(source.get(), reinterpret_cast<char*>(bytes.data()), bytes.size()) == all)
        return true;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    auto number = static_cast<unsigned long long>(now.tv_sec) * 1'000'000'000ULL + static_cast<unsigned long long>(now.tv_nsec);
    number ^= static_cast<unsigned long long>(getpid()) << 40;
    for (auto& byte : bytes) {
        number = number * 6364136223846793005ULL + 1442695040888963407ULL;   // Knuth's, for numbers that look alike to differ
        byte = static_cast<unsigned char>(number >> 56);
    }
    return false;
}

std::string random_hex(std::size_t bytes)
{
    std::vector<unsigned char> all(bytes);
    fill_random(all);
    std::string out;
    for (auto byte : all)
        for (auto digit : {byte >> 4, byte & 15})
            out += "0123456789abcdef"[digit];
    return out;
}

}
