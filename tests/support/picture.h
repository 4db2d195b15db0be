// A picture of a screen: its cells as SVG, in the frame of a window. The same screen is always the same bytes.
#pragma once

#include "support/screen.h"

#include <string>

namespace ik::test {

// Every row down to the last that has something on it; the cursor is a bar where it is.
std::string picture_of(const Screen&, int columns, int rows, std::string_view title);

}
