#include "term/width.h"
#include <utf8proc.h>
namespace ik {
std::size_t width(std::string_view text)
{
    std::size_t out = 0;
    while (!text.empty()) {
        utf8proc_int32_t c;
        auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()), &c);
        if (n <= 0) n = 1, c = 0xFFFD;
        out += static_cast<std::size_t>(utf8proc_charwidth(c));
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return out;
}
}
