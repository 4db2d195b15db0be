// Archive: what is asked of it.
#include "store/archive.h"

#include "base/text.h"

#include <chrono>
#include <set>

namespace ik {
namespace {

constexpr std::size_t max_ancestors = 1000;
constexpr std::int64_t max_hits_read = 20'000;   // of one search: words that are everywhere end it early

constexpr std::string_view columns = "id, title, folder, created, updated, provider, model, tokens, events, parent, parent_seq";

SessionRow row_at(const Statement& s)
{
    auto text = [&](int column) { return std::string(s.text(column)); };
    return {text(0), text(1), text(2), text(3), text(4), text(5), text(6), s.number(7), s.number(8), text(9), s.number(10)};
}

constexpr std::string_view event_columns = "number, session, seq, kind, time, provider, model, folder, content, data";

StoredEvent event_at(const Statement& s)
{
    auto text = [&](int column) { return std::string(s.text(column)); };
    auto data = s.text(9).empty() ? Result<Json>(Json()) : parse_json(s.text(9));
    return {text(1), s.number(2), text(3), text(8), data ? std::move(*data) : Json(), text(4), text(5), text(6), text(7)};
}

std::string sql(std::initializer_list<std::string_view> parts)
{
    std::string out;
    for (auto part : parts) out += part;
    return out;
}

// The words as FTS5 takes them: each quoted, so that none of them is an operator.
// A star after fewer than three letters would gather half of all words.
std::string query_of(std::string_view words)
{
    std::string out, phrase;
    bool quoted = false;
    auto end_phrase = [&] {
        bool any_end = !quoted && phrase.size() > 3 && phrase.ends_with('*');
        if (any_end) phrase.pop_back();
        if (!trim(phrase).empty()) out += (out.empty() ? "\"" : " \"") + phrase + (any_end ? "\"*" : "\"");
        phrase.clear();
    };
    for (char c : words) {
        bool blank = c == ' ' || c == '\t' || c == '\n';
        if (c == '"') {
            end_phrase();
            quoted = !quoted;
        } else if (blank && !quoted)
            end_phrase();
        else if (c != '\0')
            phrase += c;
    }
    end_phrase();
    return out;
}

}

Result<std::vector<SessionRow>> Archive::list(std::string_view folder, std::int64_t limit, By by)
{
    auto rows = db_.prepare(sql({"SELECT ", columns, " FROM sessions", folder.empty() ? " WHERE ?1 = ''" : " WHERE folder = ?1",
                                 by == By::time ? " ORDER BY updated" : " ORDER BY (SELECT number FROM events WHERE session = sessions.id ORDER BY seq DESC LIMIT 1)",
                                 " DESC, id LIMIT ?2"}));
    if (!rows)
        return rows.error();
    rows->bind(1, folder).bind(2, limit > 0 ? limit : -1);
    std::vector<SessionRow> out;
    for (;;) {
        auto row = rows->step();
        if (!row)
            return row.error();
        if (!*row)
            return out;
        out.push_back(row_at(*rows));
    }
}

Result<SessionRow> Archive::find(std::string_view prefix)
{
    if (prefix.empty())
        return Error{code::not_found, "a session is named by the beginning of its id"};
    auto rows = db_.prepare(sql({"SELECT ", columns, " FROM sessions WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 6"}));
    if (!rows)
        return rows.error();
    rows->bind(1, prefix);
    std::vector<SessionRow> found;
    for (;;) {
        auto row = rows->step();
        if (!row)
            return row.error();
        if (!*row)
            break;
        found.push_back(row_at(*rows));
        if (found.back().id == prefix)
            return found.back();
    }
    if (found.empty())
        return Error{code::not_found, "no session's id begins with " + std::string(prefix)};
    if (found.size() == 1)
        return found[0];
    std::string ids;
    for (std::size_t i = 0; i < found.size() && i < 5; ++i)
        ids += (i ? ", " : "") + found[i].id;
    return Error{code::not_unique, "several sessions' ids begin with " + std::string(prefix) + ": " + ids + (found.size() > 5 ? ", …" : "")};
}

Status Archive::load(const SessionRow& session, FunctionRef<bool(StoredEvent)> take)
{
    // From the branch up to the first of its line; `until` is what each of them gives.
    struct Part { std::string id; std::int64_t until; };
    std::vector<Part> line{{session.id, INT64_MAX}};
    std::set<std::string> seen{session.id};
    auto next = session;
    while (!next.parent.empty() && line.size() < max_ancestors && seen.insert(next.parent).second) {
        line.push_back({next.parent, std::min(next.parent_seq, line.back().until)});
        auto parent = db_.prepare(sql({"SELECT ", columns, " FROM sessions WHERE id = ?1"}));
        if (!parent)
            return parent.error();
        auto row = parent->bind(1, next.parent).step();
        if (!row)
            return row.error();
        if (!*row)
            break;
        next = row_at(*parent);
    }
    auto events = db_.prepare(sql({"SELECT ", event_columns, " FROM events WHERE session = ?1 AND seq <= ?2 ORDER BY seq"}));
    if (!events)
        return events.error();
    for (auto part = line.rbegin(); part != line.rend(); ++part) {
        events->bind(1, part->id).bind(2, part->until);
        for (;;) {
            auto row = events->step();
            if (!row)
                return row.error();
            if (!*row)
                break;
            if (!take(event_at(*events)))
                return Done{};
        }
        events->reset();
    }
    return Done{};
}

Result<std::vector<Hit>> Archive::search(std::string_view words, std::int64_t limit)
{
    auto query = query_of(words);
    if (query.empty())
        return Error{code::invalid_arg, "there is nothing to search for"};
    auto hits = db_.prepare("SELECT words.rowid, (SELECT session FROM events WHERE number = words.rowid) FROM words WHERE words MATCH ?1 ORDER BY words.rowid DESC LIMIT ?2");
    auto detail = db_.prepare("SELECT e.seq, e.kind, e.time, coalesce(s.title, ''), snippet(words, 0, '', '', '…', 16) FROM words "
                              "JOIN events e ON e.number = words.rowid LEFT JOIN sessions s ON s.id = e.session WHERE words MATCH ?1 AND words.rowid = ?2");
    for (auto* made : {&hits, &detail})
        if (!*made)
            return made->error();
    hits->bind(1, query).bind(2, max_hits_read);
    std::vector<Hit> out;
    std::set<std::string, std::less<>> seen;
    while (limit <= 0 || static_cast<std::int64_t>(out.size()) < limit) {
        auto row = hits->step();
        if (!row)
            return row.error();
        if (!*row)
            break;
        if (!seen.emplace(hits->text(1)).second)
            continue;
        detail->bind(1, query).bind(2, hits->number(0));
        auto found = detail->step();
        if (!found)
            return found.error();
        if (*found)
            out.push_back({std::string(hits->text(1)), detail->number(0), std::string(detail->text(1)), std::string(detail->text(2)), std::string(detail->text(3)), std::string(detail->text(4))});
        detail->reset();
    }
    return out;
}

// What a branch shares with its parent becomes its own, and it the branch of its grandparent.
Status Archive::keep_for_branches(const SessionRow& session)
{
    auto branches = db_.prepare("SELECT id, parent_seq FROM sessions WHERE parent = ?1");
    auto copy = db_.prepare("INSERT OR IGNORE INTO events (session, seq, kind, time, provider, model, folder, content, data) "
                            "SELECT ?2, seq, kind, time, provider, model, folder, content, data FROM events WHERE session = ?1 AND seq <= ?3 ORDER BY seq");
    auto index = db_.prepare("INSERT INTO words (rowid, content) SELECT number, content FROM texts WHERE number > ?1");
    auto adopt = db_.prepare("UPDATE sessions SET parent = ?2, parent_seq = min(parent_seq, ?3), events = (SELECT count(*) FROM events WHERE session = ?1) WHERE id = ?1");
    for (auto* made : {&branches, &copy, &index, &adopt})
        if (!*made)
            return made->error();
    std::vector<std::pair<std::string, std::int64_t>> found;
    branches->bind(1, session.id);
    for (;;) {
        auto row = branches->step();
        if (!row)
            return row.error();
        if (!*row)
            break;
        found.emplace_back(branches->text(0), branches->number(1));
    }
    for (auto& [id, seq] : found) {
        auto before = db_.number("SELECT coalesce(max(number), 0) FROM events");
        if (!before)
            return before.error();
        if (auto done = copy->bind(1, session.id).bind(2, id).bind(3, seq).run(); !done)
            return done.error();
        if (auto done = index->bind(1, *before).run(); !done)
            return done.error();
        if (auto done = adopt->bind(1, id).bind(2, session.parent).bind(3, session.parent.empty() ? 0 : session.parent_seq).run(); !done)
            return done.error();
    }
    return Done{};
}

Status Archive::remove(const std::string& id)
{
    auto transaction = Transaction::begin(db_);
    if (!transaction)
        return transaction.error();
    auto session = find(id);
    if (!session)
        return session.error();
    if (auto kept = keep_for_branches(*session); !kept)
        return kept.error();
    for (auto* statement : {"INSERT INTO words (words, rowid, content) SELECT 'delete', number, content FROM texts WHERE number IN (SELECT number FROM events WHERE session = ?1)",
                            "DELETE FROM events WHERE session = ?1", "DELETE FROM sessions WHERE id = ?1"}) {
        auto remove = db_.prepare(statement);
        if (!remove)
            return remove.error();
        if (auto done = remove->bind(1, session->id).run(); !done)
            return done.error();
    }
    return transaction->commit();
}

Result<std::int64_t> Archive::salvage(const std::string& path, Db& damaged, std::int64_t from, FunctionRef<Status(StoredEvent)> take)
{
    if (auto set = damaged.run("PRAGMA writable_schema=ON"); !set)   // a file that is shorter than it says is opened all the same
        return set.error();
    auto last = damaged.number("SELECT max(number) FROM events");
    if (!last || *last == 0)
        last = damaged.number("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
    auto until = last && *last > 0 ? *last : from + 100'000;
    auto rows = damaged.prepare(sql({"SELECT ", event_columns, " FROM events WHERE number >= ?1 ORDER BY number"}));
    if (!rows)
        return Error{code::store_corrupt, path + " has no table that can be read"};
    auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (from <= until) {
        rows->bind(1, from);
        for (;;) {
            auto row = rows->step();
            if (!row) {
                ++from;   // this one cannot be read
                break;
            }
            if (!*row)
                return from;
            auto event = event_at(*rows);
            from = rows->number(0) + 1;
            if (valid_id(event.session) && event.seq > 0)
                if (auto taken = take(std::move(event)); !taken)
                    return taken.error();
        }
        if (std::chrono::steady_clock::now() > give_up)
            break;
    }
    return from;
}

}
