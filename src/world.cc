#include "world.h"

#include "base/date.h"
#include "base/places.h"
#include "base/random.h"
#include "environment.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <sys/utsname.h>
#include <unistd.h>

namespace ik {
namespace {

}

Place here()
{
    utsname system{};
    uname(&system);
    auto folder = current_folder();
    return {folder.empty() ? "(removed)" : folder, host_name(), user_name(), std::string(system.sysname) + " " + system.release + " " + system.machine, local_date()};
}

std::string outputs_folder(const std::string& id)
{
    auto state = state_folder();
    if (!state.empty() && access(state.c_str(), W_OK) == 0)
        return state + "/outputs/" + id;
    auto home = home_folder();
    bool can_make = !state.empty() && access(home.c_str(), W_OK) == 0 && access(state.c_str(), F_OK) != 0;
    if (can_make)
        return state + "/outputs/" + id;
    auto temporary = temporary_folder();
    return access(temporary.c_str(), W_OK) == 0 ? temporary + "/ikigai-" + id : "";
}

std::string history_file()
{
    auto state = state_folder();
    return state.empty() ? "" : state + "/history";
}

void sweep_outputs()
{
    namespace fs = std::filesystem;
    constexpr auto longest = std::chrono::hours(24 * 30);
    std::error_code failed;
    auto oldest = fs::file_time_type::clock::now() - longest;
    int looked_at = 0;
    for (fs::directory_iterator each(state_folder() + "/outputs", failed), end; !failed && each != end && ++looked_at <= 10'000; each.increment(failed)) {
        std::error_code ignored;
        auto changed = fs::last_write_time(each->path(), ignored);
        if (!ignored && changed < oldest && each->symlink_status(ignored).type() == fs::file_type::directory)
            fs::remove_all(each->path(), ignored);
    }
}

std::string sessions_file()
{
    auto state = state_folder();
    return state.empty() ? "" : state + "/sessions.db";
}

std::string new_id() { return random_hex(6); }

std::string project_folder() { return ".ikigai"; }
std::string project_tools() { return ".ikigai/tools"; }
std::string project_settings() { return ".ikigai/config.json"; }

Registry::Places tool_places(const World& world, bool trust, Registry::Confine confine)
{
    auto named = variable("IKIGAI_LIBEXEC_DIR"), home = home_folder();
    Registry::Places places;
    places.self = world.self;
    places.builtins = world.builtins;
    places.system = named.empty() ? world.self.substr(0, world.self.rfind('/')) + "/../libexec/ikigai" : named;
    if (!named.empty())
        places.builtins = {};
    places.user = home.empty() ? "" : home + "/.ikigai/tools";
    places.project = trust ? project_tools() : "";
    places.env = without_secrets(environment());
    places.confine = std::move(confine);
    return places;
}

}
