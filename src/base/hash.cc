#include "base/hash.h"

#include <openssl/sha.h>

namespace ik {

std::string sha256(std::string_view bytes)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
    std::string out;
    for (auto byte : digest)
        for (auto digit : {byte >> 4, byte & 15})
            out += "0123456789abcdef"[digit];
    return out;
}

}
