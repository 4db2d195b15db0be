#include "base/confine.h"

#include <cerrno>
#include <unistd.h>

namespace ik {
namespace {

int limit(const ResourceLimit& wanted)
{
    auto resource = static_cast<__rlimit_resource>(wanted.resource);
    rlimit both{};
    if (getrlimit(resource, &both) < 0)
        return errno;
    both.rlim_max = wanted.most < both.rlim_max ? wanted.most : both.rlim_max;
    both.rlim_cur = both.rlim_max;
    return setrlimit(resource, &both) < 0 ? errno : 0;
}

}

int confine(const Confinement& confinement)
{
    for (int door : confinement.join)
        if (write(door, "0", 1) < 0)
            return errno;
    for (auto& wanted : confinement.limits)
        if (int why = limit(wanted))
            return why;
    return 0;
}

}
