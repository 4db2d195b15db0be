#include "base/confine.h"

#include <cerrno>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

int failed(long answer) { return answer < 0 ? errno : 0; }

// All of them, also from what root's programs would be given. Of the bounding set only a privileged process can drop.
int drop_capabilities()
{
    for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;)
        ++capability;   // until one that there is not, or at once where we may not
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    return failed(syscall(SYS_capset, &header, none));
}

int restrict(int ruleset)
{
    constexpr long landlock_restrict_self = 446;
    if (int why = failed(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
        return why;
    if (int why = failed(syscall(landlock_restrict_self, ruleset, 0)))
        return why;
    return drop_capabilities();
}

int filter(const std::vector<sock_filter>& code)
{
    sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
    return failed(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
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
    if (confinement.ruleset >= 0)
        if (int why = restrict(confinement.ruleset))
            return why;
    return confinement.seccomp.empty() ? 0 : filter(confinement.seccomp);   // last: it refuses some of the above
}

}
