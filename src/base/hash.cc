// The functions that OpenSSL calls deprecated are those that do not first set up all of it: 5 million instructions
// and a megabyte that no hash needs.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <openssl/sha.h>

namespace ik {

std::string sha256(std::string_view bytes)
{
    SHA256_CTX state;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_Init(&state);
    SHA256_Update(&state, bytes.data(), bytes.size());
    SHA256_Final(digest, &state);
    std::string out;
    for (auto byte : digest)
        for (auto digit : {byte >> 4, byte & 15})
            out += "0123456789abcdef"[digit];
    return out;
}

}
