#include "store/vault.h"

#include "base/date.h"
#include "base/file.h"
#include "store/pages.h"

#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr auto lock_patience = 30s;        // a rescue of another process
constexpr std::size_t batch = 500;         // events a transaction

// The lock goes with the descriptor. Where a folder cannot be locked (some network file systems) there is none.
Fd locked(const std::string& folder)
{
    Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    auto give_up = std::chrono::steady_clock::now() + lock_patience;
    while (fd && flock(fd.get(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(5ms);
    return fd;
}

std::string name_aside(const std::string& path)
{
    auto name = path + ".corrupt-" + local_date();
    auto free = name;
    for (int n = 2; access(free.c_str(), F_OK) == 0; ++n)
        free = name + "-" + std::to_string(n);
    return free;
}

void remove_database(const std::string& path)
{
    for (auto* part : {"", "-wal", "-shm", "-journal"})
        unlink((path + part).c_str());
}

// Which file a path names; nothing for none.
std::optional<std::pair<dev_t, ino_t>> identity(const std::string& path)
{
    struct stat info {};
    if (stat(path.c_str(), &info) < 0)
        return {};
    return std::pair(info.st_dev, info.st_ino);
}

Status copy(const std::string& path, Db& damaged, Archive& fresh, std::int64_t& next)
{
    std::vector<StoredEvent> waiting;
    auto flush = [&] { return append_all(fresh, std::exchange(waiting, {})); };
    auto after = Archive::salvage(path, damaged, next, [&](StoredEvent event) -> Status {
        waiting.push_back(std::move(event));
        return waiting.size() >= batch ? flush() : Status(Done{});
    });
    if (!after)
        return after.error().code == code::store_corrupt ? Status(Done{}) : Status(after.error());
    next = *after;
    return flush();
}

// What the way to is lost, page by page. What has been copied already is passed over.
Status copy_pages(const std::string& path, Archive& fresh)
{
    std::vector<StoredEvent> waiting;
    auto scanned = scan_pages(path, [&](StoredEvent event) -> Status {
        waiting.push_back(std::move(event));
        return waiting.size() >= batch ? append_all(fresh, std::exchange(waiting, {})) : Status(Done{});
    });
    return scanned ? append_all(fresh, waiting) : scanned;
}

}

Status append_all(Archive& archive, std::span<const StoredEvent> events)
{
    while (!events.empty()) {
        auto taken = archive.append(events);
        if (!taken)
            return taken.error();
        if (!*taken)
            return Done{};
        if (auto before = archive.append(events.first(**taken)); !before)
            return before.error();
        events = events.subspan(**taken + 1);
    }
    return Done{};
}

Vault::~Vault()
{
    if (archive_ && wrote_ && !archive_->has_short_log())
        archive_->put_log_away();   // which waits for the disk twice
}

void Vault::patience(int ms)
{
    patience_ = ms;
    if (archive_)
        archive_->patience(ms);
}

Status Vault::open(Archive::Use use)
{
    bool writes = use == Archive::Use::write;
    if (archive_ && (writes_ || !writes) && !archive_->moved())
        return Done{};
    archive_.reset();
    auto lock = locked(folder_name(path_));
    auto opened = Archive::open(path_, use);
    if (!opened)
        return opened.error();
    archive_ = std::move(*opened);
    archive_->patience(patience_);
    writes_ = writes;
    return Done{};
}

bool Vault::mended(const Error& error, int attempt, Error& why)
{
    why = error;
    if (error.code != code::store_corrupt || attempt > 3)
        return false;
    if (attempt == 0) {   // a disk that could not be read for once looks like damage: it is looked at again first
        archive_.reset();
        return true;
    }
    auto done = rescue();
    if (!done)
        why.message += "; it could not be set aside: " + done.error().message;
    return bool(done);
}

Status Vault::rescue()
{
    auto broken = identity(path_);
    bool ours = !archive_ || !archive_->moved();
    archive_.reset();
    auto lock = locked(folder_name(path_));
    if (!ours || !broken || identity(path_) != broken)
        return Done{};   // somebody else has been faster

    // Built beside the damaged one, from the damaged one in its place: if this process ends meanwhile, nothing has happened.
    auto made = path_ + ".new";
    remove_database(made);
    std::int64_t next = 1;   // event to be copied
    std::int64_t sessions = 0, events = 0;
    auto aside = name_aside(path_);
    {
        auto damaged = Db::open(path_, Db::Mode::write);
        auto fresh = Archive::open(made, Archive::Use::write);
        if (!fresh)
            return fresh.error();
        if (auto done = damaged ? copy(path_, *damaged, *fresh, next) : Status(Done{}); !done) {
            remove_database(made);
            return done.error();
        }
        if (rename(path_.c_str(), aside.c_str()) < 0) {
            auto error = file_error(Doing::writing, path_);
            remove_database(made);
            return error;
        }
        for (auto* part : {"-wal", "-shm"})
            rename((path_ + part).c_str(), (aside + part).c_str());
        // What others wrote until it had another name.
        if (damaged)
            static_cast<void>(copy(path_, *damaged, *fresh, next));
        static_cast<void>(copy_pages(aside, *fresh));
        if (auto rows = fresh->list("", 0))
            for (auto& row : *rows) {
                ++sessions;
                events += row.events;
            }
        static_cast<void>(fresh->sync());
        fresh->put_log_away();
    }
    if (rename(made.c_str(), path_.c_str()) < 0)
        return file_error(Doing::writing, path_);
    for (auto* part : {"-wal", "-shm"})
        unlink((made + part).c_str());
    if (lock)
        fsync(lock.get());
    notices_.push_back(path_ + " was damaged and is now " + aside + "; " + std::to_string(events) + " events of "
                       + std::to_string(sessions) + " sessions could be saved");
    return Done{};
}

}
