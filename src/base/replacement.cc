#include "base/replacement.h"

#include <algorithm>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace ik {
namespace {

constexpr std::size_t buffer_size = 1 << 17;

bool same_file(const std::string& path, const struct stat& other)
{
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && info.st_dev == other.st_dev && info.st_ino == other.st_ino;
}

// Where a write is an order to the kernel and not something to keep.
bool kernel_file(const std::string& path)
{
    constexpr long file_systems[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,
                                     TRACEFS_MAGIC, SECURITYFS_MAGIC, SELINUX_MAGIC, EFIVARFS_MAGIC, 0x62656570 /* configfs */};
    struct statfs info {};
    return statfs(path.c_str(), &info) == 0 && std::ranges::count(file_systems, static_cast<long>(info.f_type));
}

// The call that asks for the effective user is a new one, which old container managers refuse: it is made only where that
// is another than the real one.
bool may_write(const std::string& path)
{
    bool same = geteuid() == getuid() && getegid() == getgid();
    return (same ? syscall(SYS_faccessat, AT_FDCWD, path.c_str(), W_OK) : faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS)) == 0;
}

// The names of path's extended attributes that belong to what is kept.
// Capabilities go with the content that had them; ima and evm are checksums.
std::vector<std::string> attribute_names(const std::string& path)
{
    std::string list(65536, '\0');
    auto n = listxattr(path.c_str(), list.data(), list.size());
    list.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    std::vector<std::string> names;
    for (std::size_t at = 0; at < list.size(); at += names.back().size() + 1)
        names.emplace_back(list.c_str() + at);
    std::erase_if(names, [](auto& name) { return name == "security.capability" || name == "security.ima" || name == "security.evm"; });
    return names;
}

std::optional<std::string> attribute(const std::string& path, const std::string& name)
{
    std::string value(65536, '\0');
    auto n = getxattr(path.c_str(), name.c_str(), value.data(), value.size());
    if (n < 0)
        return {};
    value.resize(static_cast<std::size_t>(n));
    return value;
}

bool copy_attribute(const std::string& from, const std::string& to, const Fd& fd, const std::string& name)
{
    auto value = attribute(from, name);
    return value && (attribute(to, name) == value || fsetxattr(fd.get(), name.c_str(), value->data(), value->size(), 0) == 0);
}

// Owner, group, attributes and mode of the old file; false when one of them cannot be had.
bool take_on(const TemporaryFile& fresh, const struct stat& old, const std::string& old_path)
{
    auto& fd = fresh.fd;
    struct stat mine {};
    if (fstat(fd.get(), &mine) < 0)
        return false;
    bool owned = mine.st_uid == old.st_uid && mine.st_gid == old.st_gid;
    if (!owned && fchown(fd.get(), old.st_uid, old.st_gid) < 0)
        return false;
    // What the folder gives to new files is not the old file's.
    constexpr const char* acl = "system.posix_acl_access";
    auto names = attribute_names(old_path);
    if (!std::ranges::count(names, acl) && fremovexattr(fd.get(), acl) < 0 && errno != ENODATA && errno != EOPNOTSUPP)
        return false;
    auto path = fresh.name.path().empty() ? path_of(fd) : fresh.name.path();
    return std::ranges::all_of(names, [&](auto& name) { return copy_attribute(old_path, path, fd, name); })
        && fchmod(fd.get(), old.st_mode & 07777) == 0;
}

// The whole of one file over the beginning of another, which gets its length; errno is set where it cannot be done.
bool pour(const Fd& from, const Fd& to)
{
    std::vector<char> buffer(buffer_size);
    off_t size = 0;
    if (lseek(from.get(), 0, SEEK_SET) < 0 || lseek(to.get(), 0, SEEK_SET) < 0)
        return false;
    for (;;) {
        auto n = read_some(from.get(), buffer.data(), buffer.size());
        if (n < 0)
            return false;
        if (n == 0)
            return ftruncate(to.get(), size) == 0 && fsync(to.get()) == 0;
        if (!write_all(to.get(), {buffer.data(), static_cast<std::size_t>(n)}))
            return false;
        size += n;
    }
}

// Room for size bytes before the first of them is written; true also where the file system cannot
// tell. Otherwise the file is as it was, and errno is set.
bool reserve(const Fd& file, off_t size, off_t old_size)
{
    if (size == 0 || fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, size) == 0 || !is_full(errno))
        return true;
    int why = errno;
    [[maybe_unused]] int given_back = ftruncate(file.get(), old_size);
    errno = why;
    return false;
}

void sync_folder(const std::string& folder)
{
    if (Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); fd)
        fsync(fd.get());
}

}

Result<Replacement> Replacement::begin(const std::string& path)
{
    Replacement out;
    out.path_ = path;
    struct stat info {};
    if (stat(path.c_str(), &info) == 0)
        out.old_ = info;
    else if (errno != ENOENT)
        return file_error(Doing::creating, path);
    if (out.old_ && (!S_ISREG(info.st_mode) || kernel_file(path)))
        return std::move(out).directly();
    if (auto ready = out.prepare(); !ready)
        return ready.error();
    return out;
}

Result<Replacement> Replacement::directly() &&
{
    direct_ = Fd(open(path_.c_str(), O_WRONLY | O_TRUNC | careful));   // a pipe without a reader is ENXIO
    if (!direct_)
        return file_error(Doing::creating, path_);
    return std::move(*this);
}

// Decides how the content gets there, and opens the place where it is collected.
Status Replacement::prepare()
{
    if (old_ && !may_write(path_))
        return file_error(Doing::creating, path_);
    target_ = follow_links(path_);
    if (base_name(target_).empty())
        return file_error(Doing::creating, path_, EISDIR);

    auto fresh = new_file(folder_name(target_), old_ ? 0600 : 0666);
    int why = errno;
    if (!fresh && (!old_ || is_full(why)))
        return file_error(Doing::creating, path_, why);
    if (fresh) {
        fresh_ = std::move(*fresh);
        in_place_ = old_ && (old_->st_nlink > 1 || !same_file(target_, *old_));
        return Done{};
    }
    in_place_ = true;
    auto elsewhere = anonymous_file();
    if (!elsewhere)
        return file_error(Doing::creating, path_);
    fresh_.fd = std::move(*elsewhere);
    return Done{};
}

Status Replacement::append(std::string_view bytes)
{
    pending_ += bytes;
    size_ += static_cast<std::int64_t>(bytes.size());
    return direct_ || pending_.size() < buffer_size ? Done{} : flush();
}

Status Replacement::flush()
{
    if (!write_all(direct_ ? direct_.get() : fresh_.fd.get(), pending_))
        return file_error(Doing::writing, path_);
    pending_.clear();
    return Done{};
}

Status Replacement::commit()
{
    if (auto flushed = flush(); !flushed || direct_)
        return flushed;
    if (struct stat now {}; expected_ && (stat(path_.c_str(), &now) < 0 || stamp_of(now) != *expected_))
        return Error{code::write_failed, "Failed to write file: " + path_, "the file was changed by somebody else meanwhile; nothing was written"};
    if (in_place_ || (old_ && !take_on(fresh_, *old_, path_)))   // after the last write, which would take the set-user-ID bit away
        return overwrite();
    if (fsync(fresh_.fd.get()) < 0)
        return file_error(Doing::writing, path_);
    if (!rename_over())
        return old_ ? overwrite() : file_error(Doing::creating, path_);
    sync_folder(folder_name(target_));
    return Done{};
}

bool Replacement::give_name()
{
    auto path = temporary_path(folder_name(target_), "new");
    if (linkat(AT_FDCWD, path_of(fresh_.fd).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        fresh_.name = TemporaryName(path);
        return true;
    }
    // Some sandboxes and file systems make nameless files, but never let them have a name.
    auto named = named_file(folder_name(target_), "new", old_ ? 0600 : 0666);
    if (!named || !pour(fresh_.fd, named->fd))
        return false;
    fresh_ = std::move(*named);
    return (!old_ || take_on(fresh_, *old_, path_)) && fsync(fresh_.fd.get()) == 0;
}

bool Replacement::rename_over()
{
    if (fresh_.name.path().empty() && !give_name())
        return false;
    if (rename(fresh_.name.path().c_str(), target_.c_str()) < 0)
        return false;
    fresh_.name.keep();
    return true;
}

// A kill in here may leave a mixture; then the copy stays too.
Status Replacement::overwrite()
{
    Fd target(open(path_.c_str(), O_WRONLY | careful));
    if (!target)
        return file_error(Doing::creating, path_);
    auto copy = copy_of_old();
    if (!copy)
        return copy.error();
    if (!reserve(target, size_, old_->st_size))
        return file_error(Doing::writing, path_);
    if (pour(fresh_.fd, target))
        return Done{};

    auto error = file_error(Doing::writing, path_);
    if (copy->fd && !pour(copy->fd, target))
        error.hint = "the old content is in " + copy->name.keep();
    return error;
}

// In the first folder that has room for it. Nothing where the file may be written but not read: then
// there is no way back, and reserved space must do.
Result<TemporaryFile> Replacement::copy_of_old() const
{
    Fd old(open(path_.c_str(), O_RDONLY | careful));
    if (!old)
        return TemporaryFile{Fd(), TemporaryName()};
    const char* named = std::getenv("TMPDIR");
    int why = 0;
    for (auto& folder : {folder_name(target_), std::string(named && *named == '/' ? named : "/tmp"), std::string("/tmp"), std::string("/var/tmp")}) {
        auto copy = named_file(folder, "old", 0600);
        if (copy && pour(old, copy->fd))
            return copy;
        why = errno;
    }
    return file_error(Doing::writing, path_, is_full(why) ? why : EIO);
}

}
