// Files: paths, folders, reading. The one place where errno of a file becomes an Error. Knows nothing of what is in a file.
#pragma once

#include "base/fd.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ik {

enum class Doing { opening, reading, creating, writing };

// FILE_NOT_FOUND, PERMISSION_DENIED, OPEN_FAILED, READ_FAILED, NO_SPACE or WRITE_FAILED, with the path.
Error file_error(Doing, const std::string& path, int number = errno);
bool is_full(int number);   // no space, or no more of a quota

// For open(2): never wait for, or take on, what is at the other end.
inline constexpr int careful = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

std::string base_name(const std::string& path);     // "c" of "a/b/c"
std::string folder_name(const std::string& path);   // "a/b" of "a/b/c", "." of "c"
std::string follow_links(std::string path);         // behind symbolic links in its last part; the last may point to nothing

bool is_folder(const std::string& path);            // or a link to one

// The folder and those above it, of mode 0700 where they are not there; false with errno set when that cannot be.
bool make_folders(const std::string& path);

// The names in a folder, sorted, without . and ..; not many more than `most`. Error: FILE_NOT_FOUND where there is no folder,
// READ_FAILED also where it cannot be read to its end, "cannot read PATH: why".
Result<std::vector<std::string>> names_in(const std::string& folder, std::size_t most = SIZE_MAX);
Result<std::vector<std::string>> names_in(const Fd& folder, const std::string& path, std::size_t most = SIZE_MAX);   // of one that has just been opened; path: for errors

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

}
