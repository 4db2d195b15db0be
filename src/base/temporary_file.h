// Temporary files: in the folder of what they are to become, with a name of ours or with none.
#pragma once

#include "base/fd.h"

#include <string>
#include <sys/types.h>
#include <utility>

namespace ik {

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

// Hidden, not to be guessed, and to be recognised where a kill has left one behind: "FOLDER/.ikigai-KIND-…".
std::string temporary_path(const std::string& folder, const char* kind);

// Open for reading and writing; the mode less the umask. Error: of creating it.
Result<TemporaryFile> named_file(const std::string& folder, const char* kind, mode_t mode);
Result<TemporaryFile> new_file(const std::string& folder, mode_t mode);   // without a name, where the file system can

std::string path_of(const Fd&);   // in /proc, of what has no name

}
