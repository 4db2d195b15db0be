#include "base/file.h"

#include "base/owner.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <unistd.h>

namespace ik {
namespace {

constexpr off_t largest_own_file = 1 << 20;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

Error unreadable(const std::string& folder, int why)
{
    return {why == ENOENT || why == ENOTDIR ? code::file_not_found : code::read_failed, "cannot read " + folder + ": " + std::strerror(why)};
}

}

bool is_full(int number) { return number == ENOSPC || number == EDQUOT; }

Error file_error(Doing doing, const std::string& path, int number)
{
    bool changing = doing == Doing::creating || doing == Doing::writing;
    if (doing == Doing::reading)
        return {code::read_failed, "Failed to read file: " + path};
    if (doing == Doing::opening && number == ENOENT)
        return {code::file_not_found, "File not found: " + path};
    if (number == EACCES || number == EPERM)
        return {code::permission_denied, "Permission denied: " + path};
    if (changing && is_full(number))
        return {code::no_space, "No space left on device: " + path};
    if (doing == Doing::writing)
        return {code::write_failed, "Failed to write file: " + path};
    return {code::open_failed, "Cannot open file: " + path};
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string folder_name(const std::string& path)
{
    auto slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string follow_links(std::string path)
{
    std::array<char, PATH_MAX> to;
    for (int links = 0; links < 40; ++links) {
        auto n = readlink(path.c_str(), to.data(), to.size());
        if (n < 0)
            break;
        std::string next(to.data(), static_cast<std::size_t>(n));
        path = next.starts_with('/') ? next : folder_name(path) + "/" + next;
    }
    return path;
}

bool is_folder(const std::string& path)
{
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool make_folders(const std::string& path)
{
    if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)   // mostly
        return true;
    for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
        auto part = path.substr(0, end);
        if (mkdir(part.c_str(), 0700) < 0 && errno != EEXIST)
            return false;
        if (end == path.npos)
            return true;
    }
}

Result<std::vector<std::string>> names_in(const std::string& folder, std::size_t most)
{
    return names_in(Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), folder, most);
}

Result<std::vector<std::string>> names_in(const Fd& folder, const std::string& path, std::size_t most)
{
    int own = folder ? fcntl(folder.get(), F_DUPFD_CLOEXEC, 0) : -1;
    std::unique_ptr<DIR, int (*)(DIR*)> dir(own >= 0 ? fdopendir(own) : nullptr, closedir);
    if (!dir) {
        int why = errno;
        close(own);
        return unreadable(path, why);
    }
    std::vector<std::string> names;
    errno = 0;
    while (auto* entry = names.size() <= most ? readdir(dir.get()) : nullptr) {
        if (std::string name = entry->d_name; name != "." && name != "..")
            names.push_back(std::move(name));
        errno = 0;
    }
    if (errno)
        return unreadable(path, errno);
    std::ranges::sort(names);
    return names;
}

Result<Fd> open_file(const std::string& path)
{
    struct stat info {};
    if (stat(path.c_str(), &info) < 0)
        return file_error(Doing::opening, path);
    if (!S_ISREG(info.st_mode))
        return file_error(Doing::reading, path);
    Fd fd(open(path.c_str(), O_RDONLY | careful));
    if (!fd)
        return file_error(Doing::opening, path);
    if (fstat(fd.get(), &info) < 0 || !S_ISREG(info.st_mode))   // it may be another one by now
        return file_error(Doing::reading, path);
    return fd;
}

Result<std::size_t> read_file(const Fd& fd, const std::string& path, char* buffer, std::size_t size)
{
    auto n = read_some(fd.get(), buffer, size);
    if (n < 0)
        return file_error(Doing::reading, path);
    return static_cast<std::size_t>(n);
}

Result<std::string> read_up_to(const Fd& fd, const std::string& path, std::size_t most)
{
    std::string out(most, '\0');
    std::size_t size = 0;
    while (size < most) {
        auto n = read_file(fd, path, out.data() + size, most - size);
        if (!n)
            return n.error();
        if (*n == 0)
            break;
        size += *n;
    }
    out.resize(size);
    return out;
}

Result<std::string> read_own_file(const std::string& path, Own own)
{
    auto fd = open_file(path);
    if (!fd)
        return fd.error();
    struct stat file {}, folder {};
    auto above = folder_name(follow_links(path));
    if (fstat(fd->get(), &file) < 0 || stat(above.c_str(), &folder) < 0)
        return file_error(Doing::reading, path);
    auto refuse = [](std::string why) { return Error{code::permission_denied, std::move(why)}; };
    for (auto* of : {&file, &folder})
        if (auto& name = of == &file ? path : above; of->st_uid != 0 && of->st_uid != geteuid())
            return refuse(name + " belongs to another user (" + std::to_string(of->st_uid) + "): chown it, or remove it");
    if (own == Own::secret && (file.st_mode & 077))
        return refuse("others can read " + path + ": run chmod 600 " + path);
    if (file.st_mode & 022)
        return refuse("others can write to " + path + ": run chmod go-w " + path);
    if ((folder.st_mode & 022) && !(folder.st_mode & S_ISVTX))
        return refuse("others can write to the folder of " + path + ": run chmod go-w " + above);
    if (auto why = not_ours(path))
        return refuse(*why);

    if (file.st_size > largest_own_file)
        return Error{code::read_failed, path + " is larger than 1 MB"};
    return read_up_to(*fd, path, static_cast<std::size_t>(file.st_size));   // it may have become shorter
}

Stamp stamp_of(const struct stat& info)
{
    return {.device = info.st_dev, .inode = info.st_ino, .size = info.st_size,
            .modified_ns = nanoseconds(info.st_mtim), .changed_ns = nanoseconds(info.st_ctim)};
}

Stamp stamp_of(const Fd& fd)
{
    struct stat info {};
    return fstat(fd.get(), &info) < 0 ? Stamp{} : stamp_of(info);
}

}
