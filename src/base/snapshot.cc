#include "base/snapshot.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/owner.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <unistd.h>

namespace ik {
namespace {

// File systems note times in steps: two changes within one of them look the same. The longest is FAT's.
constexpr std::int64_t step_ns = 2'000'000'000;

std::int64_t now_ns()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

Error refused(std::string why) { return {code::permission_denied, std::move(why)}; }
Error unreadable(const std::string& path, int why = errno) { return {code::read_failed, "cannot read " + path + ": " + std::strerror(why)}; }

// With its length in front, so that no two lists are written the same.
std::string delimited(std::string_view text) { return std::to_string(text.size()) + ":" + std::string(text); }

std::string octal(mode_t mode)
{
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode));
    return text.data();
}

bool usable_kind(const struct stat& info) { return S_ISDIR(info.st_mode) || S_ISREG(info.st_mode); }

}

Result<Snapshot> Snapshot::of(const std::string& folder)
{
    std::unique_ptr<char, void (*)(void*)> real(realpath(folder.c_str(), nullptr), std::free);
    if (!real)
        return unreadable(folder);
    if (auto why = not_ours(folder))
        return refused(*why);
    Snapshot out;
    out.listing_ = "at " + delimited(real.get()) + "\n";
    if (auto added = out.add(folder, "", 0); !added)
        return added.error();
    out.digest_ = sha256(out.listing_);
    return out;
}

bool Snapshot::seems_unchanged() const
{
    return settled_ && std::ranges::all_of(seen_, [](auto& seen) {
        struct stat info {};
        return (seen.link ? lstat(seen.path.c_str(), &info) : stat(seen.path.c_str(), &info)) == 0 && stamp_of(info) == seen.stamp;
    });
}

void Snapshot::see(const std::string& path, bool link, const struct stat& info)
{
    auto stamp = stamp_of(info);
    settled_ = settled_ && stamp.changed_ns < now_ns() - step_ns;
    seen_.push_back({path, link, stamp});
}

Status Snapshot::add(const std::string& path, const std::string& below, int depth)
{
    if (entries_.size() >= max_entries)
        return refused("more than " + std::to_string(max_entries) + " files are in it");
    if (depth > max_depth)
        return refused(path + " is more than " + std::to_string(max_depth) + " folders deep");
    struct stat info {};
    if (lstat(path.c_str(), &info) < 0)
        return unreadable(path);
    if (auto why = usable_kind(info) || S_ISLNK(info.st_mode) ? not_ours(path, info) : std::nullopt)
        return refused(*why);
    if (S_ISLNK(info.st_mode)) {
        std::array<char, PATH_MAX> to;
        auto size = readlink(path.c_str(), to.data(), to.size());
        if (size < 0)
            return unreadable(path);
        see(path, true, info);
        entries_.push_back({.path = below, .kind = 'l', .target = {to.data(), static_cast<std::size_t>(size)}});
        listing_ += "l " + delimited(below) + " " + delimited(entries_.back().target) + "\n";
        if (stat(path.c_str(), &info) < 0)
            return errno == ENOENT ? Status(refused(path + " leads to nothing")) : unreadable(path);
        if (auto why = usable_kind(info) ? not_ours(path) : std::nullopt)
            return refused(*why);
    }
    if (!usable_kind(info))
        return refused(path + " is neither a file nor a folder");
    return S_ISDIR(info.st_mode) ? add_folder(path, below, info, depth) : add_file(path, below, info);
}

Status Snapshot::add_folder(const std::string& path, const std::string& below, const struct stat& info, int depth)
{
    see(path, false, info);
    entries_.push_back({.path = below, .kind = 'd', .mode = info.st_mode & 07777});
    listing_ += "d " + octal(entries_.back().mode) + " " + delimited(below) + "\n";
    auto names = names_in(path, max_entries);
    if (!names)
        return names.error();
    for (auto& name : *names)
        if (auto added = add(path + "/" + name, below.empty() ? name : below + "/" + name, depth + 1); !added)
            return added;
    return Done{};
}

Status Snapshot::add_file(const std::string& path, const std::string& below, const struct stat& info)
{
    auto fd = open_file(path);
    if (!fd)
        return unreadable(path);
    auto too_much = [] { return refused("more than " + std::to_string(max_bytes >> 20) + " MB are in it"); };
    if (static_cast<std::uint64_t>(info.st_size) > max_bytes - bytes_)
        return too_much();
    std::string content;
    std::array<char, 65536> buffer;
    for (;;) {
        auto n = read_some(fd->get(), buffer.data(), buffer.size());
        if (n < 0)
            return unreadable(path);
        if (n == 0)
            break;
        content.append(buffer.data(), static_cast<std::size_t>(n));
        if (content.size() > max_bytes - bytes_)
            return too_much();
    }
    if (stamp_of(*fd) != stamp_of(info))
        return refused(path + " changes while it is read");
    bytes_ += content.size();
    see(path, false, info);
    entries_.push_back({.path = below, .kind = 'f', .mode = info.st_mode & 07777, .digest = sha256(content)});
    auto& entry = entries_.back();
    listing_ += "f " + octal(entry.mode) + " " + delimited(below) + " " + std::to_string(content.size()) + " " + entry.digest + "\n";
    return Done{};
}

}
