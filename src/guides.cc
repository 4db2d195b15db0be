#include "guides.h"

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"

#include <filesystem>
#include <unistd.h>

namespace ik {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most = 32 << 10;   // bytes, of all together
constexpr int most_folders = 100;        // above the current one

// Whose files count.
struct Owners {
    uid_t here = 0;   // of the current folder

    bool trusted(const struct stat& info) const { return info.st_uid == geteuid() || info.st_uid == 0 || info.st_uid == here; }
};

std::string size_text(std::size_t bytes)
{
    if (bytes < 1000)
        return std::to_string(bytes) + " B";
    auto tenths = (bytes * 10 + 512) / 1024;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " KB";
}

bool is_inside(const std::string& path, const std::string& folder)
{
    return folder == "/" || (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

// Where an open file is, whatever its name.
std::string place_of(const Fd& fd, const std::string& path)
{
    std::error_code failed;
    auto place = fs::read_symlink("/proc/self/fd/" + std::to_string(fd.get()), failed);
    if (failed) place = fs::canonical(path, failed);
    return failed ? "" : place.string();
}

class Reading {
public:
    explicit Reading(Owners owners) : owners_(owners) {}

    // root: the folder that the file must be in, links followed; empty where it may be anywhere.
    void take(const std::string& path, const std::string& root)
    {
        auto text = read(path, root);
        if (!text && text.error().code != code::file_not_found)
            guides_.left_out.push_back(path + " is left out: " + text.error().message);
        else if (text && !trim(*text).empty())
            guides_.notes.push_back({path, std::move(*text)});
    }
    Guides done() && { return std::move(guides_); }

private:
    Result<std::string> read(const std::string& path, const std::string& root)
    {
        auto fd = open_file(path);
        if (!fd)
            return fd.error();
        struct stat info {};
        if (fstat(fd->get(), &info) != 0)
            return file_error(Doing::reading, path);
        if (auto which = stamp_of(*fd); seen_before(which))
            return Error{code::file_not_found, ""};   // here already, by another name
        if (!owners_.trusted(info))
            return Error{code::permission_denied, "it belongs to another user"};
        if (!root.empty() && !is_inside(place_of(*fd, path), root))
            return Error{code::permission_denied, "it is a link that leads out of " + root};
        return bounded(*fd, path);
    }

    bool seen_before(const Stamp& which)
    {
        for (auto& other : seen_)
            if (other.device == which.device && other.inode == which.inode) return true;
        seen_.push_back(which);
        return false;
    }

    Result<std::string> bounded(const Fd& fd, const std::string& path)
    {
        auto bytes = read_up_to(fd, path, left_ + 1);
        if (!bytes) return bytes.error();
        auto text = clean_utf8(*bytes);
        if (std::max(bytes->size(), text.size()) > left_)
            return Error{code::invalid_arg, "AGENTS.md files of more than 32 KB in all are too much"};
        left_ -= text.size();
        return text;
    }

    Owners owners_;
    Guides guides_;
    std::vector<Stamp> seen_;
    std::size_t left_ = most;
};

// The folder with .git: how many folders above the current one it is, and its path. Nothing where there is none.
struct Root { int up; std::string path; };
std::optional<Root> repository(const std::string& here, const Owners& owners)
{
    fs::path folder(here);
    for (int up = 0; up < most_folders; ++up, folder = folder.parent_path()) {
        struct stat info {};
        if (lstat((folder / ".git").c_str(), &info) == 0 && owners.trusted(info))
            return Root{up, folder.string()};
        if (folder == folder.parent_path())
            break;
    }
    return {};
}

std::string shown(const std::string& path)
{
    auto home = home_folder();
    return !home.empty() && home != "/" && path.starts_with(home + "/") ? "~" + path.substr(home.size()) : path;
}

}

std::string Guides::line() const
{
    std::string out;
    for (auto& note : notes)
        out += (out.empty() ? "" : ", ") + shown(note.path) + " " + size_text(note.text.size());
    return out;
}

Guides read_guides()
{
    std::error_code failed;
    auto here = fs::current_path(failed).string();
    struct stat info {};
    Owners owners{stat(".", &info) == 0 ? info.st_uid : geteuid()};
    Reading reading(owners);
    if (auto folder = config_folder(); !folder.empty())
        reading.take(folder + "/AGENTS.md", "");
    if (failed)
        return std::move(reading).done();   // a folder that has been removed
    auto root = repository(here, owners).value_or(Root{0, here});
    std::string above;
    for (int up = 0; up <= root.up; ++up, above += "../")
        reading.take(above + "AGENTS.md", root.path);
    return std::move(reading).done();
}

}
