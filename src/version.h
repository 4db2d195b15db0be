// The version, in one place. The commit it was built from is added by the Makefile.
#pragma once

#include <string>

namespace ik {

inline constexpr const char* version = "0.1.0";
inline constexpr const char* version_date = "November 21, 2026";

const char* commit();             // of the source, 12 digits; "unknown" outside a repository
std::string compiler();
std::string library_versions();   // of what is linked in

}
