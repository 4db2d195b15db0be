// Archive: the sessions in one database file: events are appended, sessions listed, loaded, searched and
// removed. Several processes may have one open. Says STORE_CORRUPT where the file is damaged and leaves
// it at that: what is to be done then is vault's.
#pragma once

#include "base/function_ref.h"
#include "store/db.h"
#include "store/event.h"

#include <optional>
#include <span>
#include <sys/types.h>
#include <vector>

namespace ik {

class Archive {
public:
    enum class Use { read, write };

    // For writing the folder (0700) and the file (0600) are made where they are missing.
    // Error: FILE_NOT_FOUND without a file to read, STORE_NEWER, and those of Db.
    static Result<Archive> open(const std::string& path, Use);

    // All of them, in one transaction. An event that is there already, the same in all, is passed over.
    // When the seq of one has been taken by another event its index is returned, and none is written.
    Result<std::optional<std::size_t>> append(std::span<const StoredEvent>);
    Status sync() { return db_.sync(); }

    // The newest first; by what was written last and not by its time, where a clock that was set back may change nothing.
    // folder: only those that were last in it; empty: all. limit 0: all.
    enum class By { time, writing };
    Result<std::vector<SessionRow>> list(std::string_view folder, std::int64_t limit, By by = By::time);

    // The session whose id begins so. Error: NOT_FOUND, NOT_UNIQUE with the ids.
    Result<SessionRow> find(std::string_view prefix);

    // The conversation from its beginning: for a branch what it shares with its parents first. take returns false to stop.
    Status load(const SessionRow&, FunctionRef<bool(StoredEvent)> take);

    // Words, all of which must be there; "words in quotes" as a phrase, a star at the end for any end. The newest
    // first, once a session.
    Result<std::vector<Hit>> search(std::string_view words, std::int64_t limit);

    // Its branches keep what they shared with it.
    Status remove(const std::string& id);

    // What has been removed is gone from the files too, and the log is empty: in time for an end, slow in the middle.
    Status tidy();
    void put_log_away();   // where nobody else is in the middle of something
    bool has_short_log() const;

    // For a rescue: the events from that number on that can be read, in the order of their writing; those that
    // cannot are stepped over. The number after the last.
    static Result<std::int64_t> salvage(const std::string& path, Db& damaged, std::int64_t from, FunctionRef<Status(StoredEvent)> take);

    // Whether the path names another file now, or none.
    bool moved() const;
    void patience(int ms) { db_.patience(ms); }

private:
    Archive(Db db, std::string path) : db_(std::move(db)), path_(std::move(path)) {}
    Status prepare();
    Status append(const StoredEvent&, bool& taken);
    Status note_session(const StoredEvent&);
    Result<bool> is_same(const StoredEvent&);
    Status keep_for_branches(const SessionRow&);

    Db db_;
    std::string path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::optional<Statement> insert_, index_, note_;   // those of every event
};

// Whether processes can share memory about a file in this kind of file system (statfs's f_type); SQLite's
// write-ahead log needs that.
bool shares_memory(long file_system);

}
