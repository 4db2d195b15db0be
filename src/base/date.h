// Date: what the clock says, as text.
#pragma once

#include <string>

namespace ik {

std::string local_date();   // 2026-11-22
std::string utc_time();     // 2026-11-22T01:02:03.004Z (RFC 3339)

}
