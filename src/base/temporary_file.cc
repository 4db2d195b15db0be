#include "base/temporary_file.h"

#include "base/file.h"
#include "base/random.h"

#include <sys/xattr.h>
#include <unistd.h>

namespace ik {
namespace {

mode_t current_umask()
{
    auto mask = umask(077);
    umask(mask);
    return mask;
}

// A file that has no name until it is linked: whoever is killed before leaves nothing behind.
Fd nameless_file(const std::string& folder, mode_t mode)
{
    Fd fd(open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode));
    if (!fd || access(path_of(fd).c_str(), F_OK) < 0)   // without /proc it cannot be linked
        return Fd();
    // Linux before 6.0 forgets the umask here on file systems without ACLs.
    if (getxattr(folder.c_str(), "system.posix_acl_default", nullptr, 0) < 0)
        fchmod(fd.get(), mode & ~current_umask());
    return fd;
}

}

TemporaryName::~TemporaryName()
{
    if (!path_.empty())
        unlink(path_.c_str());
}

std::string temporary_path(const std::string& folder, const char* kind) { return folder + "/.ikigai-" + kind + "-" + random_hex(8); }

Result<TemporaryFile> named_file(const std::string& folder, const char* kind, mode_t mode)
{
    auto path = temporary_path(folder, kind);
    Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!fd)
        return file_error(Doing::creating, path);
    return TemporaryFile{std::move(fd), TemporaryName(path)};
}

std::string path_of(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

Result<TemporaryFile> new_file(const std::string& folder, mode_t mode)
{
    if (auto fd = nameless_file(folder, mode))
        return TemporaryFile{std::move(fd), TemporaryName()};
    return named_file(folder, "new", mode);
}

}
