#include "version.h"

#include "commit.h"

namespace ik {
const char* commit() { return IKIGAI_COMMIT; }
}
