// SHA-256, as lower-case hex digits.
#pragma once

#include <string>
#include <string_view>

namespace ik {

std::string sha256(std::string_view bytes);

}
