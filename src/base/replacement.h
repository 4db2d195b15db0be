// Replacement: what is in a file is either the old or the new, whole. Knows nothing of what is in it.
#pragma once

#include "base/file.h"
#include "base/temporary_file.h"

#include <optional>

namespace ik {

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
