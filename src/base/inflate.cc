#include "base/inflate.h"

#include <zlib.h>

namespace ik {

Result<std::string> inflated(std::string_view gzip, std::size_t most)
{
    z_stream stream{};
    constexpr int with_header_of_gzip = 16 + MAX_WBITS;
    if (inflateInit2(&stream, with_header_of_gzip) != Z_OK)
        return Error{code::out_of_memory, "no memory to unpack with"};
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(gzip.data()));   // zlib only reads it
    stream.avail_in = static_cast<uInt>(gzip.size());
    std::string out;
    int status = Z_OK;
    while (status == Z_OK && out.size() <= most) {
        char piece[1 << 14];
        stream.next_out = reinterpret_cast<Bytef*>(piece);
        stream.avail_out = sizeof piece;
        status = inflate(&stream, Z_NO_FLUSH);
        out.append(piece, sizeof piece - stream.avail_out);
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || out.size() > most)
        return Error{code::parse_error, "what is packed is damaged, or longer than " + std::to_string(most) + " bytes"};
    return out;
}

}
