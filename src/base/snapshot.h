// Snapshot: all that is in a folder at one moment, and a digest of it; later, whether it is still so. Takes only
// what nobody else can change. Knows nothing of what the files are for.
#pragma once

#include "base/file.h"

#include <vector>

namespace ik {

class Snapshot {
public:
    // More than that is refused.
    static constexpr std::size_t max_entries = 1000;
    static constexpr std::size_t max_bytes = 64u << 20;   // of all files together
    static constexpr int max_depth = 16;

    struct Entry {
        std::string path;        // below the folder: "tools/check"
        char kind;               // f file, d folder, l link; a link is followed by what it leads to, under its own path
        mode_t mode = 0;         // the twelve bits
        std::string digest{};    // SHA-256 of a file's content
        std::string target{};    // of a link, as it is written
    };

    // Links are followed, those to folders too. Error: READ_FAILED or PERMISSION_DENIED, with the path and why:
    // too much of it, neither file nor folder, unreadable, or in the hands of others.
    static Result<Snapshot> of(const std::string& folder);

    // SHA-256 over where the folder really is, and every entry's path, kind, mode, target, size and content.
    const std::string& digest() const { return digest_; }
    const std::vector<Entry>& entries() const { return entries_; }   // each folder before what is in it, by name in byte order

    // Whether nothing has changed, by the looks of it: same files, sizes and times. False also where that
    // cannot be told: a file that changed in the last moment before the snapshot may change again unseen.
    bool seems_unchanged() const;

private:
    struct Seen {
        std::string path;
        bool link;
        Stamp stamp;
    };

    Status add(const std::string& path, const std::string& below, int depth);
    Status add_folder(const std::string& path, const std::string& below, const struct stat&, int depth);
    Status add_file(const std::string& path, const std::string& below, const struct stat&);
    void see(const std::string& path, bool link, const struct stat&);

    std::string listing_;   // what is digested
    std::string digest_;
    std::vector<Entry> entries_;
    std::vector<Seen> seen_;
    std::size_t bytes_ = 0;
    bool settled_ = true;   // nothing changed just before
};

}
