#include "base/owner.h"

#include "base/text.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/xattr.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr int max_links = 40;   // as the kernel has it
constexpr std::size_t passwd_fields = 7, group_fields = 4;

bool ours(uid_t user) { return user == 0 || user == geteuid(); }

// "bob (1001)", or the number alone where the file does not know it.
std::string named(const char* file, unsigned id)
{
    auto number = std::to_string(id);
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (auto fields = split(line, ':'); fields.size() > 2 && fields[2] == number)
            return std::string(fields[0]) + " (" + number + ")";
    return number;
}

// Whether nobody but us is in a group, as far as the files know.
bool private_to_us(gid_t group)
{
    auto user = std::to_string(geteuid()), number = std::to_string(group);
    std::string name;
    std::ifstream users("/etc/passwd");
    for (std::string line; std::getline(users, line);) {
        auto fields = split(line, ':');
        if (fields.size() < passwd_fields || (fields[3] != number && fields[2] != user))
            continue;
        if (fields[2] != user)
            return false;
        if (fields[3] == number)
            name = fields[0];
    }
    if (name.empty())
        return false;
    std::ifstream groups("/etc/group");
    for (std::string line; std::getline(groups, line);) {
        auto fields = split(line, ':');
        if (fields.size() < group_fields || fields[2] != number)
            continue;
        for (auto member : split(fields[3], ','))
            if (!member.empty() && member != name)
                return false;
    }
    return true;
}

// With a list the group's bits say what the most of its entries may, not what the group may.
bool has_access_list(const std::string& path) { return getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0; }

std::optional<std::string> foreign(const std::string& path, const struct stat& info)
{
    if (ours(info.st_uid))
        return {};
    return path + " belongs to " + named("/etc/passwd", info.st_uid);
}

std::optional<std::string> writable(const std::string& path, const struct stat& info)
{
    if (info.st_mode & S_IWOTH)
        return path + " is writable by others";
    if (!(info.st_mode & S_IWGRP))
        return {};
    if (has_access_list(path))
        return path + " is writable by others, by its access list";
    if (info.st_gid != 0 && !private_to_us(info.st_gid))
        return path + " is writable by group " + named("/etc/group", info.st_gid);
    return {};
}

std::optional<std::string> cannot_follow(const std::string& path, int why) { return "cannot look at " + path + ": " + std::strerror(why); }

std::optional<std::string> absolute(const std::string& path)
{
    if (path.starts_with('/'))
        return path;
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder) || *folder != '/')
        return {};
    return std::string(folder) + "/" + path;
}

// The first name of a path, taken from it; slashes around it go too.
std::string take_name(std::string& path)
{
    auto from = path.find_first_not_of('/');
    if (from == path.npos) {
        path.clear();
        return "";
    }
    auto to = path.find('/', from);
    auto name = path.substr(from, to == path.npos ? path.npos : to - from);
    auto next = to == path.npos ? path.npos : path.find_first_not_of('/', to);
    path = next == path.npos ? "" : path.substr(next);
    return name;
}

}

bool of_another_user(const std::string& path)
{
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && !ours(info.st_uid);
}

std::optional<std::string> not_ours(const std::string& path, const struct stat& info)
{
    auto why = foreign(path, info);
    return why || S_ISLNK(info.st_mode) ? why : writable(path, info);
}

std::optional<std::string> not_ours(const std::string& path)
{
    auto whole = absolute(path);
    if (!whole)
        return cannot_follow(path, ENOENT);
    std::string here, rest = *whole;   // here: followed already, without links
    int links = 0;
    for (std::string name = "/"; !name.empty(); name = take_name(rest)) {
        if (name == ".")
            continue;
        if (name == "..") {
            here.erase(here.empty() ? 0 : here.rfind('/'));
            continue;
        }
        auto next = name == "/" ? name : here + "/" + name;
        struct stat info {};
        if (lstat(next.c_str(), &info) < 0)
            return cannot_follow(next, errno);
        if (S_ISLNK(info.st_mode)) {
            std::array<char, PATH_MAX> to;
            auto size = readlink(next.c_str(), to.data(), to.size());
            if (size < 0 || ++links > max_links)
                return cannot_follow(next, size < 0 ? errno : ELOOP);
            if (auto why = foreign(next, info))
                return why;
            if (to[0] == '/')
                here.clear();
            rest = std::string(to.data(), static_cast<std::size_t>(size)) + "/" + rest;
            continue;
        }
        bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX);
        if (auto why = sticky ? foreign(next, info) : not_ours(next, info))
            return why;
        here = name == "/" ? "" : next;
    }
    struct stat last {};
    auto end = here.empty() ? "/" : here;
    return lstat(end.c_str(), &last) < 0 ? cannot_follow(end, errno) : not_ours(end, last);
}

}
