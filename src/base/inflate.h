// inflate: what gzip made small, as it was. The door to zlib.
#pragma once

#include "base/result.h"

namespace ik {

// Error: PARSE_ERROR for what is no gzip, is cut short, or becomes more than `most` bytes.
Result<std::string> inflated(std::string_view gzip, std::size_t most);

}
