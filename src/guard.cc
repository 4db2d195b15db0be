#include "guard.h"

#include "world.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr const char* names[] = {".git/config", ".git/hooks", ".ikigai"};
constexpr std::size_t most_bytes = 8 << 20, most_entries = 2000;
constexpr int most_depth = 16;

std::string link_target(int folder, const char* name)
{
    char target[4096];
    auto size = readlinkat(folder, name, target, sizeof target);
    return {target, size > 0 ? static_cast<std::size_t>(size) : 0};
}

// The first bytes of it; nothing where it cannot be read.
std::optional<std::string> content_of(const Fd& file, std::size_t most)
{
    std::string out(std::min<std::size_t>(most, 1 << 16), '\0');
    std::size_t size = 0;
    for (;;) {
        auto n = read_some(file.get(), out.data() + size, out.size() - size);
        if (n < 0)
            return {};
        if (n == 0)
            break;
        size += static_cast<std::size_t>(n);
        if (size == out.size() && size < most)
            out.resize(std::min(most, 2 * size));
    }
    out.resize(size);
    return out;
}

}

bool Guard::covers(std::string_view path)
{
    return std::ranges::any_of(names, [&](std::string_view name) { return path == name || (path.starts_with(name) && path[name.size()] == '/'); });
}

// The content of a file, unless it is what it was before.
void Guard::read(Entry& entry, const Fd& file, const Entry* before, std::size_t room)
{
    if (file) entry.stamp = stamp_of(file);
    bool same = file && before && before->read && before->stamp == entry.stamp;
    auto content = same ? before->content : file ? content_of(file, room) : std::nullopt;
    entry.read = content && content->size() < room;
    if (entry.read) entry.content = std::move(*content);
}

// No link is followed here: nothing outside is ever read as a part of the workspace.
void Guard::look_at(int folder, const char* name, const std::string& path, const Piece* before, Piece& piece) const
{
    struct stat info {};
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (piece.tree.size() >= most_entries || std::ranges::count(path, '/') > most_depth) {
        piece.whole = false;
        return;
    }
    Entry entry{.mode = info.st_mode, .stamp = stamp_of(info)};
    Fd inner;
    std::vector<std::string> inner_names;
    if (S_ISLNK(info.st_mode))
        entry.content = link_target(folder, name);
    else if (S_ISREG(info.st_mode)) {
        Fd file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        auto known = before ? before->tree.find(path) : piece.tree.end();
        read(entry, file, before && known != before->tree.end() ? &known->second : nullptr, most_bytes - piece.size);
    } else if (S_ISDIR(info.st_mode)) {
        inner = Fd(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        auto found = names_in(inner, path, most_entries);
        entry.read = bool(found);
        if (found) inner_names = std::move(*found);
    }
    piece.size += entry.content.size();
    piece.whole = piece.whole && entry.read;
    piece.tree.emplace(path, std::move(entry));
    for (auto& each : inner_names)
        look_at(inner.get(), each.c_str(), path.empty() ? each : path + "/" + each, before, piece);
}

Guard::Pieces Guard::look() const
{
    Pieces out;
    Fd top(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Fd git(openat(top.get(), ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    for (std::string name : names) {
        bool of_git = name.starts_with(".git/");
        if (of_git && !git)
            continue;   // what a tool makes anew is its own
        auto before = before_.find(name);
        auto& piece = out[name];
        look_at(of_git ? git.get() : top.get(), base_name(name).c_str(), "", before == before_.end() ? nullptr : &before->second, piece);
    }
    return out;
}

void Guard::remember() { before_ = look(); }

bool Guard::restore(const std::string& name, const std::string& aside, const Piece& piece)
{
    struct stat info {};
    if (lstat(name.c_str(), &info) == 0 && rename(name.c_str(), aside.c_str()) < 0)
        return false;
    for (auto& [path, entry] : piece.tree) {
        auto full = path.empty() ? name : name + "/" + path;
        if (S_ISDIR(entry.mode)) {
            if (mkdir(full.c_str(), 0700) < 0) return false;
        } else if (S_ISLNK(entry.mode)) {
            if (symlink(entry.content.c_str(), full.c_str()) < 0) return false;
        } else if (S_ISREG(entry.mode)) {
            Fd file(open(full.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
            if (!file || !write_all(file.get(), entry.content) || fchmod(file.get(), entry.mode & 07777) < 0) return false;
        }
    }
    for (auto& [path, entry] : piece.tree)   // last: a folder may be one that nobody may write
        if (S_ISDIR(entry.mode) && chmod((path.empty() ? name : name + "/" + path).c_str(), entry.mode & 07777) < 0) return false;
    return true;
}

std::vector<std::string> Guard::put_back(FunctionRef<const Confinement*()> confinement)
{
    std::vector<std::string> said;
    auto now = look();
    for (auto& [name, piece] : before_) {
        auto found = now.find(name);
        if (found != now.end() && found->second == piece)
            continue;
        if (found == now.end() || !piece.whole) {   // .git itself is gone or a link; or it could not be remembered whole
            said.push_back(name + " is not what it was, and is to be looked at before git or ikigai is used here");
            continue;
        }
        auto aside = name + ".refused-" + new_id();
        auto* rules = confinement();
        pid_t id = rules ? fork() : -1;
        if (id == 0)
            _exit(chdir(folder_.c_str()) == 0 && confine(*rules) == 0 && restore(name, aside, piece) ? 0 : 1);
        int status = 1;
        while (id > 0 && waitpid(id, &status, 0) < 0 && errno == EINTR)
            ;
        if (id > 0 && status == 0)
            said.push_back(name + " was put back as it was before the call" + (found->second.tree.empty() ? "" : "; the changed one is " + aside));
        else
            said.push_back(name + " was changed and could not be put back");
    }
    before_ = said.empty() ? std::move(now) : look();
    return said;
}

}
