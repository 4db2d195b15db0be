// texts: what the binary brings to read: the manual, and the licences of what is linked in. Small (gzip) until it is asked for.
#pragma once

#include "base/result.h"

#include <vector>

namespace ik {

// A page is bytes for a terminal of 80 columns: c\bc is bold, _\bc is underlined, as pagers know it.
struct Text {
    std::string name;    // "ikigai-tools.7"; the licences' is "licences"
    std::string bytes;
};

Result<std::vector<Text>> built_in_texts();

// bytes without what makes them bold or underlined.
std::string plain(std::string_view bytes);

}
