#include "base/places.h"

#include "base/file.h"
#include "base/owner.h"
#include "base/text.h"

#include <climits>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace ik {
namespace {

// The field of our line in /etc/passwd: 0 the name, 5 the home.
std::string passwd(std::size_t field)
{
    std::ifstream file("/etc/passwd");
    auto uid = std::to_string(geteuid());
    for (std::string line; std::getline(file, line);) {
        auto fields = split(line, ':');
        if (fields.size() >= 7 && fields[2] == uid)
            return std::string(fields[field]);
    }
    return "";
}

std::string in_home(const char* variable_name, const char* otherwise)
{
    auto named = variable(variable_name);
    if (named.starts_with('/') && !of_another_user(named))
        return named + "/ikigai";
    auto home = home_folder();
    return is_folder(home) ? home + otherwise : "";   // a home that is not there is not for us to make
}

}

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string home_folder()
{
    auto home = variable("HOME");
    return home.starts_with('/') && !of_another_user(home) ? home : passwd(5);
}

std::string passwd_home() { return passwd(5); }

std::string state_folder() { return in_home("XDG_STATE_HOME", "/.local/state/ikigai"); }
std::string config_folder() { return in_home("XDG_CONFIG_HOME", "/.config/ikigai"); }

std::string temporary_folder()
{
    auto named = variable("TMPDIR");
    for (auto& folder : {named, std::string("/tmp"), std::string("/var/tmp"), std::string("/dev/shm")})
        if (folder.starts_with('/') && is_folder(folder) && access(folder.c_str(), W_OK | X_OK) == 0)
            return folder;
    return "/tmp";
}

std::string in_path(const std::string& name)
{
    if (name.find('/') != name.npos)
        return name;
    auto path = variable("PATH");
    for (auto folder : split(path, ':')) {
        auto candidate = std::string(folder) + "/" + name;
        if (access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return name;
}

std::string own_path(const char* argv0)
{
    char path[PATH_MAX];
    auto size = readlink("/proc/self/exe", path, sizeof path);
    if (size > 0)
        return {path, static_cast<std::size_t>(size)};
    std::string name = argv0 ? argv0 : "ikigai";
    return in_path(name);
}

std::string current_folder()
{
    char* path = getcwd(nullptr, 0);
    std::string out = path ? path : "";
    std::free(path);
    return out;
}

std::string host_name()
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

std::string user_name()
{
    for (auto name : {variable("USER"), passwd(0)})
        if (!name.empty())
            return name;
    return std::to_string(geteuid());
}

}
