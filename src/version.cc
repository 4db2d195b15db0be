#include "version.h"

#include "base/http.h"
#include "base/json.h"
#include "store/db.h"
#include "commit.h"
#include "term/markdown.h"
#include "term/width.h"

#include <CLI/Version.hpp>

namespace ik {

const char* commit() { return IKIGAI_COMMIT; }

std::string compiler() { return std::string("g++ ") + __VERSION__; }

std::string library_versions() { return http_library_versions() + "; " + json_library_version() + "; " + database_library_version() + "; " + term::utf8proc_version_text() + "; " + term::cmark_version_text() + "; CLI11 " CLI11_VERSION; }

}
