#include "version.h"

#include "base/http.h"
#include "base/json.h"
#include "commit.h"
#include "term/width.h"

#include <CLI/Version.hpp>

namespace ik {

const char* commit() { return IKIGAI_COMMIT; }

std::string compiler() { return std::string("g++ ") + __VERSION__; }

std::string library_versions() { return http_library_versions() + "; " + json_library_version() + "; CLI11 " CLI11_VERSION + ("; " + term::utf8proc_version_text()); }

}
