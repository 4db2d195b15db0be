#pragma once
#include <string_view>
namespace ik {
std::size_t width(std::string_view text);
}
