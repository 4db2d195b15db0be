// Db: one connection to an SQLite database. SQLite's only door: nothing else in ikigai sees it.
// Knows no table.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>

struct sqlite3;
struct sqlite3_stmt;

namespace ik {

// A prepared statement. Text that it gives is borrowed until the next step or reset.
class Statement {
public:
    Statement& bind(int parameter, std::string_view text);   // parameters count from 1
    Statement& bind(int parameter, std::int64_t number);
    Statement& bind_null(int parameter);

    Result<bool> step();   // true: there is a row
    Status run();          // to its end, whatever rows it gives; then reset
    void reset();

    std::string_view text(int column) const;                 // columns count from 0
    std::int64_t number(int column) const;

private:
    friend class Db;
    struct Finalize { void operator()(sqlite3_stmt*) const; };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    const std::string* path_ = nullptr;
};

// Errors: STORE_CORRUPT, STORE_BUSY, NO_SPACE, PERMISSION_DENIED, OPEN_FAILED, READ_FAILED, WRITE_FAILED; each sentence has the path.
class Db {
public:
    enum class Mode { read, write, frozen };   // frozen: read where not even a lock can be taken, nobody writes meanwhile

    // Does not make the file: sqlite would, with the wrong mode.
    static Result<Db> open(const std::string& path, Mode);

    Result<Statement> prepare(std::string_view sql);
    Status run(const char* sql);                             // one statement or several, without parameters
    Result<std::int64_t> number(std::string_view sql);       // the first column of the first row; 0 without a row
    Result<std::string> text(std::string_view sql);

    std::int64_t changes() const;                            // rows of the last INSERT, UPDATE, DELETE
    std::int64_t last_number() const;                        // rowid of the last INSERT

    // What has been committed is on the disk, not only in the kernel's memory.
    Status sync();

    // How long to wait for other processes.
    void patience(int ms);

private:
    template <class T> Result<T> first(std::string_view sql, T (*read)(Statement&));

    struct Close { void operator()(sqlite3*) const; };
    std::unique_ptr<sqlite3, Close> db_;
    std::unique_ptr<std::string> path_;   // borrowed by the statements
};

// All or nothing: what was done since is undone unless commit() is called.
class Transaction {
public:
    static Result<Transaction> begin(Db&);   // waits for other writers
    Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    ~Transaction();
    Status commit();

private:
    explicit Transaction(Db& db) : db_(&db) {}
    Db* db_;
};

std::string database_library_version();

}
