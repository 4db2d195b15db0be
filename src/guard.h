// Guard: what in a workspace decides what runs outside of the sandbox: .git/config, .git/hooks and .ikigai. Landlock can
// only allow, and what it allows for a folder it allows for all beneath: a workspace in which files can be made
// cannot have a part where they cannot. So these are remembered before a call and put back after it.
#pragma once

#include "base/confine.h"
#include "base/file.h"
#include "base/function_ref.h"

#include <map>
#include <optional>
#include <vector>

namespace ik {

class Guard {
public:
    explicit Guard(std::string folder) : folder_(std::move(folder)) {}

    static bool covers(std::string_view beneath);   // a path inside of the workspace

    void remember();

    // Puts back what has changed since; what was found instead stays beside it, under another name. Done by a process that
    // is confined as the tools are, so that a link that one of them has left leads it nowhere; where it cannot be confined
    // (null), nothing is put back. A sentence for each. confinement: asked only where something has changed.
    std::vector<std::string> put_back(FunctionRef<const Confinement*()> confinement);

private:
    struct Entry {
        mode_t mode = 0;
        std::string content = {};   // of a file, or where a link leads
        Stamp stamp = {};
        bool read = true;            // otherwise only the stamp tells that it has changed

        bool operator==(const Entry& other) const { return mode == other.mode && read == other.read && content == other.content && (read || stamp == other.stamp); }
    };
    struct Piece {
        std::map<std::string, Entry> tree;   // by path from the piece on; "" is the piece itself; empty: it is not there
        std::size_t size = 0;
        bool whole = true;                   // small enough to be remembered, and all of it could be read

        bool operator==(const Piece& other) const { return whole == other.whole && tree == other.tree; }
    };
    using Pieces = std::map<std::string, Piece>;

    Pieces look() const;
    static void read(Entry&, const Fd& file, const Entry* before, std::size_t room);
    void look_at(int folder, const char* name, const std::string& path, const Piece* before, Piece& piece) const;
    static bool restore(const std::string& name, const std::string& aside, const Piece& piece);

    std::string folder_;
    Pieces before_;
};

}
