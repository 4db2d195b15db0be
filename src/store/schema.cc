#include "store/schema.h"

#include <iterator>

namespace ik {
namespace {

// One migration a version, applied in order; what has been released is never edited.
//
// An event carries its session's id and folder itself: the sessions table can be made anew from the events.
// Numbers are never used twice, so "everything after N" can be asked while others write.
// The words keep no text of their own; `texts` says what text an event is found by: its content,
// else what a tool printed, else its data with the escaped line ends gone, so that words stay whole.
constexpr const char* migrations[] = {
    R"sql(
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, title TEXT NOT NULL, folder TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL,
        provider TEXT NOT NULL, model TEXT NOT NULL, tokens INTEGER NOT NULL, events INTEGER NOT NULL,
        parent TEXT NOT NULL, parent_seq INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX sessions_by_time ON sessions (updated);
    CREATE INDEX sessions_by_folder ON sessions (folder, updated);
    CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, time TEXT NOT NULL,
        provider TEXT NOT NULL, model TEXT NOT NULL, folder TEXT NOT NULL, content TEXT NOT NULL, data TEXT NOT NULL);
    CREATE UNIQUE INDEX events_by_session ON events (session, seq);
    CREATE VIEW texts AS SELECT number, CASE WHEN content <> '' OR data = '' THEN content ELSE coalesce(
        json_extract(data, '$.envelope.result.output'), json_extract(data, '$.envelope.error'), json_extract(data, '$.envelope.result.content'),
        replace(replace(data, '\n', ' '), '\t', ' ')) END AS content FROM events;
    CREATE VIRTUAL TABLE words USING fts5 (content, content = 'texts', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2");
    )sql",
};

}

std::int64_t schema_version() { return static_cast<std::int64_t>(std::size(migrations)); }

Error newer(const std::string& path, std::int64_t version)
{
    return {code::store_newer, path + " was written by a newer ikigai (its schema is " + std::to_string(version) + ", this one knows "
                                   + std::to_string(schema_version()) + ") and is left as it is"};
}

Status bring_up_to_date(Db& db, const std::string& path)
{
    auto version = db.number("PRAGMA user_version");
    if (!version)
        return version.error();
    if (*version == schema_version())
        return Done{};
    if (*version > schema_version())
        return newer(path, *version);

    auto transaction = Transaction::begin(db);
    if (!transaction)
        return transaction.error();
    version = db.number("PRAGMA user_version");   // another process may have been faster
    if (!version)
        return version.error();
    if (*version == 0) {
        auto tables = db.number("SELECT count(*) FROM sqlite_schema");
        if (!tables)
            return tables.error();
        if (*tables)
            return Error{code::invalid_arg, path + " is the database of another program and is left as it is"};
    }
    for (auto next = *version; next < schema_version(); ++next)
        if (auto done = db.run(migrations[next]); !done)
            return done.error();
    if (auto done = db.run(("PRAGMA user_version = " + std::to_string(schema_version())).c_str()); !done)
        return done.error();
    return transaction->commit();
}

}
