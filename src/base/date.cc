#include "base/date.h"

#include <cstdio>
#include <ctime>

namespace ik {

std::string local_date()
{
    std::time_t now = std::time(nullptr);
    std::tm local{};
    char text[16] = "";
    localtime_r(&now, &local);
    std::strftime(text, sizeof text, "%Y-%m-%d", &local);
    return text;
}

std::string utc_time()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    std::tm utc{};
    gmtime_r(&now.tv_sec, &utc);
    char day[32] = "", out[48] = "";
    std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(out, sizeof out, "%s.%03dZ", day, static_cast<int>(now.tv_nsec / 1'000'000));
    return out;
}

}
