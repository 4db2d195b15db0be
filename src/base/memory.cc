#include "base/memory.h"

#include <cstdlib>   // says which library this is
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ik {

void give_back_memory()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}
