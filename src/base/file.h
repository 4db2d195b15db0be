// Files: reading them, and replacing what is in them so that it is either the old or the new,
// whole. The one place where errno of a file becomes an Error. Knows nothing of what is in a file.
#pragma once

#include "base/fd.h"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>

namespace ik {

enum class Doing { opening, reading, creating, writing };

// FILE_NOT_FOUND, PERMISSION_DENIED, OPEN_FAILED, READ_FAILED, NO_SPACE or WRITE_FAILED, with the path.
Error file_error(Doing, const std::string& path, int number = errno);

std::string base_name(const std::string& path);     // "c" of "a/b/c"
std::string folder_name(const std::string& path);   // "a/b" of "a/b/c", "." of "c"

// The folder and those above it, of mode 0700 where they are not there; false with errno set when that cannot be.
bool make_folders(const std::string& path);

// Regular files only, /proc and /sys among them. Anything else (a folder, a pipe, a device)
// is READ_FAILED at once and is not even opened, since opening some devices does something.
Result<Fd> open_file(const std::string& path);

// Up to size bytes, 0 at the end of the file. Error: READ_FAILED.
Result<std::size_t> read_file(const Fd&, const std::string& path, char* buffer, std::size_t size);

// What is left of the file, but no more than so many bytes. Error: READ_FAILED.
Result<std::string> read_up_to(const Fd&, const std::string& path, std::size_t most);

// A file that decides what we do, whole: it must belong to us or to root, as every folder above it must, and nobody
// else may write there (owner.h says how that is meant); a secret one nobody else may read either.
// Error: FILE_NOT_FOUND; PERMISSION_DENIED, with the chmod or chown that mends it; the others of opening and reading.
enum class Own { unwritable, secret };
Result<std::string> read_own_file(const std::string& path, Own);

// Which file it is, and when it was last changed.
struct Stamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, modified_ns = 0, changed_ns = 0;

    friend bool operator==(const Stamp&, const Stamp&) = default;
};
Stamp stamp_of(const Fd&);
Stamp stamp_of(const struct stat&);

// A name of ours in some folder. It is removed again, unless it is kept.
class TemporaryName {
public:
    explicit TemporaryName(std::string path = {}) : path_(std::move(path)) {}
    TemporaryName(TemporaryName&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryName& operator=(TemporaryName&& other) noexcept { std::swap(path_, other.path_); return *this; }
    ~TemporaryName();

    const std::string& path() const { return path_; }
    std::string keep() { return std::exchange(path_, {}); }

private:
    std::string path_;
};

struct TemporaryFile {
    Fd fd;
    TemporaryName name;   // empty where the file system has files without a name
};

// The new content of a file. Until commit() the file is untouched; a Replacement that is dropped
// leaves nothing behind.
//
// commit() puts a new file in the place of the old one, with its mode, owner, group and extended
// attributes; a symbolic link stays, what it points to is replaced. Where the old file must stay
// the same one (hard links, a folder that may not be written, an owner that cannot be given, a
// mount point) it is overwritten, with a copy of the old content to go back to. What is no file
// of a disk (devices, pipes, /proc, /sys) gets all bytes in one write.
class Replacement {
public:
    // Error: PERMISSION_DENIED also for a file that may not be written in a folder that may;
    // OPEN_FAILED, NO_SPACE.
    static Result<Replacement> begin(const std::string& path);

    // To be replaced only if it is still what it was then.
    void only_if(Stamp stamp) { expected_ = stamp; }

    Status append(std::string_view bytes);

    // Error: NO_SPACE, WRITE_FAILED; the hint says so where somebody else has changed the file,
    // and where its old content lies if it could not be restored.
    Status commit();

private:
    Result<Replacement> directly() &&;
    Status prepare();
    Status flush();
    bool give_name();
    bool rename_over();
    Status overwrite();
    Result<TemporaryFile> copy_of_old() const;

    std::string path_;                 // as the caller says it
    std::string target_;               // with links followed
    std::optional<struct stat> old_;   // nothing where the file is new
    std::optional<Stamp> expected_;
    TemporaryFile fresh_;              // the new content
    std::int64_t size_ = 0;            // its bytes
    bool in_place_ = false;
    Fd direct_;                        // what is no file of a disk
    std::string pending_;              // bytes that are not written yet; for direct_ all of them
};

}
