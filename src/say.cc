#include "say.h"

#include "base/fd.h"
#include "mouth.h"

#include <cerrno>
#include <cstring>

namespace ik {

void warn(std::string_view sentence) { write_all(2, "ikigai: " + harmless(sentence) + "\n"); }

int fail(std::string_view sentence, int status)
{
    warn(sentence);
    return status;
}

int print(std::string_view text)
{
    return write_all(1, text) ? 0 : fail(std::string("cannot write to standard output: ") + std::strerror(errno), 1);
}

}
