#include "trust.h"

#include "base/json.h"
#include "base/owner.h"
#include "base/places.h"
#include "base/replacement.h"
#include "base/text.h"
#include "world.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr auto lock_patience = 10s;
constexpr std::size_t largest_list = 1 << 20;   // what is read back

bool is_there(const std::string& path)
{
    struct stat info {};
    return lstat(path.c_str(), &info) == 0;
}

bool same_file(const std::string& a, const std::string& b)
{
    struct stat x {}, y {};
    return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

std::string real_path(const std::string& path)
{
    std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    return real ? real.get() : "";
}

std::string list_path()
{
    auto folder = config_folder();
    return folder.empty() ? "" : folder + "/trusted.json";
}

// New files are for us alone while it lives.
class Private {
public:
    Private() : before_(umask(077)) {}
    Private(const Private&) = delete;
    ~Private() { umask(before_); }

private:
    mode_t before_;
};

Error failed(const std::string& path, const std::string& why) { return {code::write_failed, path + ": " + why}; }

// Others wait, at most for lock_patience; the file stays, since removing it would let two in.
Result<Fd> locked(const std::string& path)
{
    Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd)
        return failed(path, std::strerror(errno));
    auto end = std::chrono::steady_clock::now() + lock_patience;
    while (flock(fd.get(), LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return failed(path, std::strerror(errno));
        if (std::chrono::steady_clock::now() > end)
            return failed(path, "another process has held the lock for " + std::to_string(lock_patience.count()) + " s");
        std::this_thread::sleep_for(5ms);
    }
    return fd;
}

Result<TrustedFolders> parsed(const std::string& path, std::string_view text)
{
    auto broken = [&](const std::string& why) { return Error{code::parse_error, path + why}; };
    auto written = parse_written(text);
    if (!written)
        return broken(":" + written.error().message);
    auto* projects = written->value.find("projects");
    auto* members = projects ? projects->as<Json::Object>() : nullptr;
    if (!members)
        return broken(": there is no object \"projects\" in it");
    TrustedFolders out;
    for (auto& [folder, about] : *members) {
        if (about.text("sha256").empty())
            return broken(": " + Json(folder).dump() + " has no \"sha256\"");
        out[folder] = {std::string(about.text("sha256")), std::string(about.text("since"))};
    }
    return out;
}

std::string as_text(const TrustedFolders& folders)
{
    std::string out = "{\"projects\":{";
    for (auto& [folder, about] : folders)
        out += (out.ends_with('{') ? "\n" : ",\n") + Json(folder).dump() + ":"
             + object({{"sha256", about.digest}, {"since", about.since}}).dump();
    return out + "\n}}\n";
}

Status write_list(const std::string& path, const TrustedFolders& folders)
{
    auto text = as_text(folders);
    if (text.size() > largest_list)
        return failed(path, "too many folders are trusted; ikigai trust --remove takes one away");
    auto fresh = Replacement::begin(path);
    if (!fresh)
        return fresh.error();
    if (auto ok = fresh->append(text); !ok)
        return ok;
    return fresh->commit();
}

// Reads the list, lets change() have it, and writes it; alone among all processes.
template <class Change>
Status change_list(Change change)
{
    auto path = list_path();
    if (path.empty())
        return Error{code::write_failed, "there is no home to remember it in"};
    Private alone;
    std::error_code cannot;
    std::filesystem::create_directories(folder_name(path), cannot);
    if (cannot)
        return failed(folder_name(path), cannot.message());
    if (auto why = not_ours(folder_name(path)))
        return failed(path, *why);
    auto lock = locked(folder_name(path) + "/.trusted.lock");
    if (!lock)
        return lock.error();
    auto folders = trusted_folders();
    if (!folders)
        return folders.error();
    return change(*folders) ? write_list(path, *folders) : Done{};
}

// As a key of the list; a name that is no UTF-8 is not kept as it is, but the digest knows it.
std::string key_of(const std::string& folder) { return clean_utf8(folder); }

}

Result<TrustedFolders> trusted_folders()
{
    auto path = list_path();
    auto text = path.empty() ? Result<std::string>(Error{code::file_not_found, ""}) : read_own_file(path, Own::unwritable);
    if (text)
        return parsed(path, *text);
    if (text.error().code == code::file_not_found)
        return TrustedFolders{};
    return Error{text.error().code, path + ": " + text.error().message};
}

Status trust_folder(const std::string& folder, const std::string& digest)
{
    return change_list([&](TrustedFolders& folders) {
        folders[key_of(folder)] = {digest, here().date};
        return true;
    });
}

Result<bool> forget_folder(const std::string& folder)
{
    bool was_there = false;
    auto changed = change_list([&](TrustedFolders& folders) { return was_there = folders.erase(key_of(folder)) > 0; });
    return changed ? Result(was_there) : changed.error();
}

ProjectTrust ProjectTrust::here(bool for_this_run)
{
    ProjectTrust out;
    bool tools = is_there(project_tools()), settings = is_there(project_settings());
    auto home = home_folder();
    if ((!tools && !settings) || (!home.empty() && same_file(project_folder(), home + "/.ikigai")))
        return out;
    out.parts_ = std::string(tools ? "The tools in " + project_tools() : "") + (tools && settings ? " and the" : settings ? "The" : "")
               + (settings ? " settings in " + project_settings() : "");
    out.folder_ = real_path(".");
    auto snapshot = Snapshot::of(project_folder());
    if (!snapshot) {
        out.standing_ = Standing::refused;
        out.why_ = snapshot.error().message;
        return out;
    }
    out.snapshot_ = std::move(*snapshot);
    if (for_this_run) {
        out.standing_ = Standing::trusted;
        return out;
    }
    auto folders = trusted_folders();
    if (!folders)
        out.why_ = folders.error().message;
    auto known = folders ? folders->find(key_of(out.folder_)) : TrustedFolders::iterator{};
    if (!folders || known == folders->end())
        out.standing_ = Standing::unknown;
    else
        out.standing_ = known->second.digest == out.snapshot_->digest() ? Standing::trusted : Standing::changed;
    return out;
}

Status ProjectTrust::remember() const { return trust_folder(folder_, snapshot_->digest()); }

bool ProjectTrust::withdraw_if_changed()
{
    if (!trusted() || !objection())
        return false;
    standing_ = Standing::changed;
    return true;
}

std::string ProjectTrust::line() const
{
    switch (standing_) {
    case Standing::absent:
    case Standing::trusted: return "";
    case Standing::refused: return parts_ + " are not used, whoever trusts them: " + why_;
    case Standing::changed: return parts_ + " are not used without --trust: they have changed since they were trusted (see ikigai trust)";
    case Standing::unknown: break;
    }
    return parts_ + " are not used without --trust" + (why_.empty() ? " (see ikigai trust)" : ": " + why_);
}

std::optional<std::string> ProjectTrust::objection()
{
    if (!trusted() || !snapshot_)
        return "its folder is not trusted";
    if (snapshot_->seems_unchanged())
        return {};
    auto now = Snapshot::of(project_folder());
    if (!now)
        return now.error().message;
    if (now->digest() != snapshot_->digest())
        return "its folder changed since it was trusted";
    snapshot_ = std::move(*now);
    return {};
}

}
