#include "store/db.h"

#include <cerrno>
#include <cstring>
#include <sqlite3.h>

namespace ik {
namespace {

struct Meaning {
    int result;
    std::string_view code;
    const char* words;
};

constexpr Meaning meanings[] = {
    {SQLITE_CORRUPT, code::store_corrupt, "is damaged"},
    {SQLITE_NOTADB, code::store_corrupt, "is no database, or a damaged one"},
    {SQLITE_BUSY, code::store_busy, "is being used by another process for too long"},
    {SQLITE_LOCKED, code::store_busy, "is being used by another process for too long"},
    {SQLITE_FULL, code::no_space, "cannot be written: the disk is full"},
    {SQLITE_READONLY, code::permission_denied, "cannot be written: permission denied"},
    {SQLITE_PERM, code::permission_denied, "cannot be opened: permission denied"},
    {SQLITE_CANTOPEN, code::open_failed, "cannot be opened"},
    {SQLITE_IOERR, code::write_failed, "cannot be read or written"},
    {SQLITE_NOMEM, code::out_of_memory, "needs more memory than there is"},
};

Error error_of(sqlite3* db, const std::string& path, int result)
{
    int number = db ? sqlite3_system_errno(db) : 0;
    if ((result & 0xFF) == SQLITE_IOERR && (number == ENOSPC || number == EDQUOT))
        result = SQLITE_FULL;
    if ((result & 0xFF) == SQLITE_CANTOPEN && (number == EACCES || number == EPERM || number == EROFS))
        result = SQLITE_READONLY;
    for (auto& meaning : meanings)
        if (meaning.result == (result & 0xFF)) {
            bool of_system = number && (meaning.result == SQLITE_CANTOPEN || meaning.result == SQLITE_IOERR);
            return {meaning.code, path + " " + meaning.words + (of_system ? std::string(": ") + std::strerror(number) : "")};
        }
    return {code::read_failed, path + ": " + (db ? sqlite3_errmsg(db) : sqlite3_errstr(result))};
}

// The path as a URI, so that what is in it cannot be taken for options.
std::string uri(const std::string& path, Db::Mode mode)
{
    std::string out = "file:";
    for (char c : path) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-' || c == '_';
        if (plain) {
            out += c;
            continue;
        }
        out += '%';
        for (auto digit : {static_cast<unsigned char>(c) >> 4, static_cast<unsigned char>(c) & 15})
            out += "0123456789abcdef"[digit];
    }
    return out + (mode == Db::Mode::frozen ? "?immutable=1" : "");
}

}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Db::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Statement& Statement::bind(int parameter, std::string_view text)
{
    sqlite3_bind_text64(statement_.get(), parameter, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int parameter, std::int64_t number)
{
    sqlite3_bind_int64(statement_.get(), parameter, number);
    return *this;
}

Statement& Statement::bind_null(int parameter)
{
    sqlite3_bind_null(statement_.get(), parameter);
    return *this;
}

Result<bool> Statement::step()
{
    int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        return result == SQLITE_ROW;
    auto error = error_of(sqlite3_db_handle(statement_.get()), *path_, result);
    sqlite3_reset(statement_.get());
    return error;
}

Status Statement::run()
{
    for (;;) {
        auto row = step();
        if (!row)
            return row.error();
        if (!*row)
            break;
    }
    reset();
    return Done{};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::string_view Statement::text(int column) const
{
    auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))) : std::string_view();
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

Result<Db> Db::open(const std::string& path, Mode mode)
{
    Db out;
    sqlite3* db = nullptr;
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | (mode == Mode::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    int result = sqlite3_open_v2(uri(path, mode).c_str(), &db, flags, nullptr);
    out.db_.reset(db);
    out.path_ = std::make_unique<std::string>(path);
    if (result != SQLITE_OK)
        return error_of(db, path, result);
    sqlite3_extended_result_codes(db, 1);
    // At the end of a connection SQLite would remove the log by its name, which may be that of another database by then
    // (see vault.h).
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    out.patience(10'000);
    if (auto set = out.run("PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON"); !set)
        return set.error();
    return out;
}

void Db::patience(int ms) { sqlite3_busy_timeout(db_.get(), ms); }

Result<Statement> Db::prepare(std::string_view sql)
{
    Statement out;
    sqlite3_stmt* statement = nullptr;
    int result = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (result != SQLITE_OK)
        return error_of(db_.get(), *path_, result);
    out.statement_.reset(statement);
    out.path_ = path_.get();
    return out;
}

Status Db::run(const char* sql)
{
    int result = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
    if (result != SQLITE_OK)
        return error_of(db_.get(), *path_, result);
    return Done{};
}

// The first row as read takes it; without a row, an empty value.
template <class T>
Result<T> Db::first(std::string_view sql, T (*read)(Statement&))
{
    auto statement = prepare(sql);
    if (!statement)
        return statement.error();
    auto row = statement->step();
    if (!row)
        return row.error();
    return *row ? read(*statement) : T{};
}

Result<std::int64_t> Db::number(std::string_view sql)
{
    return first<std::int64_t>(sql, [](Statement& row) { return row.number(0); });
}

Result<std::string> Db::text(std::string_view sql)
{
    return first<std::string>(sql, [](Statement& row) { return std::string(row.text(0)); });
}

std::int64_t Db::changes() const { return sqlite3_changes64(db_.get()); }
std::int64_t Db::last_number() const { return sqlite3_last_insert_rowid(db_.get()); }

// The write-ahead log is all that has to reach the disk. Without one each commit has been there already.
Status Db::sync()
{
    sqlite3_file* log = nullptr;
    int result = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (result != SQLITE_OK || !log || !log->pMethods)
        return Done{};
    result = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    if (result != SQLITE_OK)
        return error_of(db_.get(), *path_, result);
    return Done{};
}

Result<Transaction> Transaction::begin(Db& db)
{
    if (auto begun = db.run("BEGIN IMMEDIATE"); !begun)
        return begun.error();
    return Transaction(db);
}

Status Transaction::commit()
{
    if (auto done = db_->run("COMMIT"); !done)
        return done.error();   // and undone, when this goes
    db_ = nullptr;
    return Done{};
}

Transaction::~Transaction()
{
    if (db_)
        static_cast<void>(db_->run("ROLLBACK"));   // fails where an error has undone it already
}

std::string database_library_version() { return std::string("SQLite ") + sqlite3_libversion(); }

}
