#include "store/archive.h"

#include "base/file.h"
#include "base/text.h"
#include "store/schema.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::int64_t small = 1024;   // pages: a database up to this size is checked when it is opened
constexpr off_t short_log = 512 << 10;   // bytes that are read again in no time when the database is opened

Status make_folder(const std::string& path)
{
    if (make_folders(path))
        return Done{};
    int why = errno;
    return Error{file_error(Doing::creating, path, why).code, path + " cannot be made: " + std::strerror(why)};
}

// Nobody else may read what was said. The files beside it get the mode of this one.
Status make_file(const std::string& path)
{
    if (auto made = make_folder(folder_name(path)); !made)
        return made.error();
    Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file)
        return file_error(Doing::opening, path);
    struct stat info {};
    if (fstat(file.get(), &info) == 0 && (info.st_mode & 077))
        fchmod(file.get(), 0600);
    return Done{};
}

// What the first bytes say, before SQLite touches anything.
Status look_at_header(const std::string& path)
{
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return file_error(Doing::opening, path);
    unsigned char head[100]{};
    auto size = pread(file.get(), head, sizeof head, 0);
    if (size < 0)
        return file_error(Doing::reading, path);
    if (size == 0)
        return Done{};   // new
    if (size < 100 || std::memcmp(head, "SQLite format 3", 16) != 0)
        return Error{code::store_corrupt, path + " is no database, or a damaged one"};
    auto version = std::int64_t{head[60]} << 24 | head[61] << 16 | head[62] << 8 | head[63];
    if (version > schema_version())
        return newer(path, version);
    return Done{};
}

// The log is quicker than a journal, and readers and writers do not wait for each other.
Status choose_journal(Db& db, const std::string& path)
{
    struct statfs system {};
    bool log = statfs(path.c_str(), &system) != 0 || shares_memory(static_cast<long>(system.f_type));
    auto mode = db.text("PRAGMA journal_mode");
    if (mode && *mode != (log ? "wal" : "delete"))
        mode = db.text(log ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE");
    if (!mode)
        return mode.error();
    // With the log it is sync() that brings commits to the disk.
    return db.run(*mode == "wal" ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL");
}

Status check_small(Db& db, const std::string& path)
{
    auto pages = db.number("PRAGMA page_count");
    if (!pages)
        return pages.error();
    if (*pages > small)
        return Done{};
    auto verdict = db.text("PRAGMA quick_check(1)");
    if (!verdict)
        return verdict.error();
    if (*verdict != "ok")
        return Error{code::store_corrupt, path + " is damaged"};
    return Done{};
}

// The first words of a message, on one line.
std::string title_of(std::string_view text)
{
    std::string out, line = replace(replace(utf8_prefix(text, 400), '\n', ' '), '\t', ' ');
    for (auto word : split(line, ' ')) {
        if (word.empty())
            continue;
        if (out.size() + word.size() > 72)
            return out.empty() ? std::string(utf8_prefix(word, 72)) + "…" : out + " …";
        (out += out.empty() ? "" : " ") += word;
    }
    return out;
}

std::int64_t member(const Json& data, std::string_view name)
{
    auto* value = data.find(name);
    auto* number = value ? value->as<std::int64_t>() : nullptr;
    return number ? *number : 0;
}

}

bool shares_memory(long file_system)
{
    constexpr unsigned long over_a_network[] = {
        0x6969 /* nfs */, 0x517B /* smb */, 0xFF534D42 /* cifs */, 0xFE534D42 /* smb2 */, 0x5346414F /* afs */, 0x6B414653 /* kafs */,
        0x01021997 /* 9p */, 0x00C36400 /* ceph */, 0x65735546 /* fuse */, 0x0BD00BD0 /* lustre */, 0x47504653 /* gpfs */, 0x73757245 /* coda */,
        0x564C /* ncp */, 0x7461636F /* ocfs2 */, 0x01161970 /* gfs2 */, 0x786F4256 /* vboxsf */, 0xBACBACBC /* vmhgfs */, 0x19830326 /* fhgfs */,
    };
    return std::ranges::find(over_a_network, static_cast<unsigned long>(file_system) & 0xFFFFFFFF) == std::end(over_a_network);
}

Result<Archive> Archive::open(const std::string& path, Use use)
{
    if (use == Use::write)
        if (auto made = make_file(path); !made)
            return made.error();
    if (auto fit = look_at_header(path); !fit)
        return fit.error();
    auto db = Db::open(path, use == Use::write ? Db::Mode::write : Db::Mode::read);
    if (!db)
        return db.error();
    if (use == Use::write) {
        for (auto step : {choose_journal, bring_up_to_date, check_small})
            if (auto done = step(*db, path); !done)
                return done.error();
    } else if (auto version = db->number("PRAGMA user_version"); !version) {
        // A log in a folder where nothing can be written: its index cannot be made.
        if (version.error().code == code::store_corrupt)
            return version.error();
        db = Db::open(path, Db::Mode::frozen);
        if (!db)
            return db.error();
    } else if (*version == 0)
        return Error{code::file_not_found, "There is no session in " + path};
    Archive out(std::move(*db), path);
    struct stat info {};
    if (stat(path.c_str(), &info) == 0) {
        out.device_ = info.st_dev;
        out.inode_ = info.st_ino;
    }
    return out;
}

bool Archive::moved() const
{
    struct stat info {};
    return stat(path_.c_str(), &info) < 0 || info.st_dev != device_ || info.st_ino != inode_;
}

Status Archive::prepare()
{
    if (note_)
        return Done{};
    auto insert = db_.prepare("INSERT INTO events (session, seq, kind, time, provider, model, folder, content, data) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (session, seq) DO NOTHING");
    auto index = db_.prepare("INSERT INTO words (rowid, content) SELECT number, content FROM texts WHERE number = ?1");
    auto note = db_.prepare(
        "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, 1, ?8, ?9) ON CONFLICT (id) DO UPDATE SET "
        "title = CASE title WHEN '' THEN excluded.title ELSE title END, folder = CASE excluded.folder WHEN '' THEN folder ELSE excluded.folder END, "
        "provider = CASE excluded.provider WHEN '' THEN provider ELSE excluded.provider END, "
        "model = CASE excluded.model WHEN '' THEN model ELSE excluded.model END, "
        "updated = max(updated, excluded.updated), tokens = tokens + excluded.tokens, events = events + 1");
    for (auto* made : {&insert, &index, &note})
        if (!*made)
            return made->error();
    insert_ = std::move(*insert);
    index_ = std::move(*index);
    note_ = std::move(*note);
    return Done{};
}

Result<std::optional<std::size_t>> Archive::append(std::span<const StoredEvent> events)
{
    if (auto ready = prepare(); !ready)
        return ready.error();
    auto transaction = Transaction::begin(db_);
    if (!transaction)
        return transaction.error();
    for (std::size_t i = 0; i < events.size(); ++i) {
        bool taken = false;
        if (auto done = append(events[i], taken); !done)
            return done.error();
        if (taken)
            return std::optional(i);
    }
    if (auto done = transaction->commit(); !done)
        return done.error();
    return std::optional<std::size_t>();
}

Status Archive::append(const StoredEvent& e, bool& taken)
{
    auto data = e.data.null() ? std::string() : e.data.dump();
    insert_->bind(1, e.session).bind(2, e.seq).bind(3, e.kind).bind(4, e.time).bind(5, e.provider).bind(6, e.model).bind(7, e.folder).bind(8, e.content).bind(9, data);
    if (auto done = insert_->run(); !done)
        return done.error();
    if (db_.changes() == 0) {
        auto same = is_same(e);
        if (!same)
            return same.error();
        taken = !*same;
        return Done{};
    }
    if (auto done = index_->bind(1, db_.last_number()).run(); !done)
        return done.error();
    return note_session(e);
}

Status Archive::note_session(const StoredEvent& e)
{
    bool branches = e.kind == "fork" || e.kind == "rewind";
    auto title = e.kind == "user" ? title_of(e.content) : std::string();
    std::string parent(branches ? e.data.text("parent") : "");
    if (!parent.empty()) {   // a branch is called what its parent is called
        auto named = db_.prepare("SELECT title FROM sessions WHERE id = ?1");
        if (!named)
            return named.error();
        if (auto row = named->bind(1, parent).step(); row && *row)
            title = named->text(0);
    }
    auto tokens = e.kind == "usage" ? member(e.data, "input_tokens") + member(e.data, "output_tokens") : 0;
    note_->bind(1, e.session).bind(2, title).bind(3, e.folder).bind(4, e.time).bind(5, e.provider).bind(6, e.model);
    return note_->bind(7, tokens).bind(8, parent).bind(9, parent.empty() ? 0 : member(e.data, "seq")).run();
}

Status Archive::tidy()
{
    if (auto done = db_.run("INSERT INTO words (words) VALUES ('optimize')"); !done)
        return done.error();
    return db_.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

bool Archive::has_short_log() const
{
    struct stat log {};
    return stat((path_ + "-wal").c_str(), &log) == 0 && log.st_size < short_log;
}

void Archive::put_log_away()
{
    db_.patience(0);
    static_cast<void>(db_.run("PRAGMA wal_checkpoint(TRUNCATE)"));   // what is in the log is as safe there
}

Result<bool> Archive::is_same(const StoredEvent& e)
{
    auto there = db_.prepare("SELECT kind, time, content, data FROM events WHERE session = ?1 AND seq = ?2");
    if (!there)
        return there.error();
    auto row = there->bind(1, e.session).bind(2, e.seq).step();
    if (!row)
        return row.error();
    return *row && there->text(0) == e.kind && there->text(1) == e.time && there->text(2) == e.content && there->text(3) == (e.data.null() ? "" : e.data.dump());
}

}
