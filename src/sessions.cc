#include "sessions.h"

#include "base/date.h"
#include "base/file.h"
#include "base/places.h"
#include "base/replacement.h"
#include "base/text.h"
#include "mouth.h"
#include "say.h"
#include "store/vault.h"
#include "transcript.h"
#include "world.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fcntl.h>
#include <functional>
#include <map>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t max_import = std::size_t{1} << 30;   // bytes of a file

using Words = SessionsWords;

using ik::fail;

// A name or a wish that cannot be is the caller's mistake.
int fail(const Error& error)
{
    bool mistaken = error.code == code::not_found || error.code == code::not_unique || error.code == code::invalid_arg;
    return fail(error.message, mistaken ? 2 : 1);
}

// The vault; what was set aside is said.
class Opened {
public:
    Opened() : vault_(sessions_file()) {}
    ~Opened()
    {
        for (auto& notice : vault_.take_notices())
            warn(notice);
    }
    Vault& operator*() { return vault_; }
    Vault* operator->() { return &vault_; }

private:
    Vault vault_;
};

Error none() { return {code::not_found, "no session has been kept yet"}; }

// A file that is not there yet holds no session.
Error in_words(const Error& error) { return error.code == code::file_not_found ? none() : error; }

std::string local_time(const std::string& utc)
{
    std::tm time{};
    if (std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour, &time.tm_min) != 5)
        return std::string(16, ' ');
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    auto seconds = timegm(&time);
    char text[32] = "";
    localtime_r(&seconds, &time);
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &time);
    return text;
}

std::string short_number(std::int64_t n)
{
    if (n < 1000)
        return std::to_string(n);
    auto unit = n < 1'000'000 ? 1000 : 1'000'000;
    return std::to_string(n / unit) + "." + std::to_string(n % unit / (unit / 10)) + (unit == 1000 ? "k" : "M");
}

std::string short_folder(const std::string& folder)
{
    auto home = home_folder();
    bool inside = !home.empty() && folder.starts_with(home) && (folder.size() == home.size() || folder[home.size()] == '/');
    return inside ? "~" + folder.substr(home.size()) : folder;
}

std::string padded(const std::string& text, std::size_t width, bool right = false)
{
    std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
    return right ? blanks + text : text + blanks;
}

int list(const Words& words)
{
    Opened vault;
    auto folder = words.all ? std::string() : here().folder;
    auto rows = vault->use(Archive::Use::read, [&](Archive& archive) { return archive.list(folder, words.limit); });
    if (!rows && rows.error().code != code::file_not_found)
        return fail(rows.error());
    if (!rows)
        rows = std::vector<SessionRow>();
    if (words.json) {
        Json::Array out;
        for (auto& row : *rows) out.push_back(json_of(row));
        return print(Json(std::move(out)).dump() + "\n");
    }
    if (rows->empty())
        write_all(2, words.all ? "No session has been kept yet.\n" : "No session in this folder; --all lists those of all folders.\n");
    std::size_t width = 0;
    for (auto& row : *rows) width = std::max(width, short_folder(row.folder).size());
    std::string out;
    for (auto& row : *rows)
        out += padded(row.id, 12) + "  " + local_time(row.updated) + "  " + padded(short_number(row.tokens), 6, true) + "  "
             + (words.all ? padded(harmless(short_folder(row.folder)), width) + "  " : "") + harmless(row.title) + "\n";
    return print(out);
}

struct Loaded { SessionRow row; std::vector<StoredEvent> events; };

Result<Loaded> load(Vault& vault, const std::string& id)
{
    auto loaded = vault.use(Archive::Use::read, [&](Archive& archive) -> Result<Loaded> {
        auto row = archive.find(id);
        if (!row)
            return row.error();
        Loaded out{*row, {}};
        auto done = archive.load(*row, [&](StoredEvent event) { return out.events.push_back(std::move(event)), true; });
        if (!done)
            return done.error();
        return out;
    });
    if (!loaded)
        return in_words(loaded.error());
    return loaded;
}

int show(const Words& words)
{
    Opened vault;
    auto loaded = load(*vault, words.ids[0]);
    if (!loaded)
        return fail(loaded.error());
    Mouth mouth(Format::person, isatty(1) && variable("NO_COLOR").empty() && variable("TERM") != "dumb");
    retell(mouth, loaded->events);
    return mouth.lost() ? fail("cannot write to standard output", 1) : 0;
}

int search(const Words& words)
{
    Opened vault;
    std::string query;
    for (auto& word : words.ids) query += (query.empty() ? "" : " ") + word;
    auto hits = vault->use(Archive::Use::read, [&](Archive& archive) { return archive.search(query, words.limit); });
    if (!hits && hits.error().code != code::file_not_found)
        return fail(hits.error());
    if (!hits)
        hits = std::vector<Hit>();
    if (words.json) {
        Json::Array out;
        for (auto& hit : *hits) out.push_back(json_of(hit));
        return print(Json(std::move(out)).dump() + "\n");
    }
    std::string out;
    for (auto& hit : *hits)
        out += padded(hit.session, 12) + "  " + local_time(hit.time) + "  " + harmless(replace(replace(hit.snippet, '\n', ' '), '\t', ' ')) + "\n";
    int status = print(out);
    return status ? status : hits->empty() ? 1 : 0;
}

int export_session(const Words& words)
{
    Opened vault;
    auto loaded = load(*vault, words.ids[0]);
    if (!loaded)
        return fail(loaded.error());
    auto text = words.format == "jsonl" ? as_lines(loaded->events)
              : words.format == "html"  ? as_html(loaded->row, loaded->events)
                                        : as_markdown(loaded->row, loaded->events);
    if (words.file.empty() || words.file == "-")
        return print(text);
    auto file = Replacement::begin(words.file);
    if (!file)
        return fail(file.error().message, 1);
    auto written = file->append(text);
    if (written) written = file->commit();
    return written ? 0 : fail(written.error().message, 1);
}

// The sessions in the lines of an export.
Result<std::vector<StoredEvent>> read_lines(const std::string& path)
{
    Fd opened;
    if (path != "-") {
        auto file = open_file(path);
        if (!file)
            return file.error();
        opened = std::move(*file);
    }
    std::string text;
    std::vector<char> buffer(1 << 16);
    for (;;) {
        auto n = read_some(opened ? opened.get() : 0, buffer.data(), buffer.size());
        if (n < 0)
            return file_error(Doing::reading, path);
        if (n == 0)
            break;
        text.append(buffer.data(), static_cast<std::size_t>(n));
        if (text.size() > max_import)
            return Error{code::invalid_arg, path + " is longer than 1 GB"};
    }
    std::vector<StoredEvent> out;
    std::size_t line_number = 0;
    for (auto line : split(text, '\n')) {
        ++line_number;
        if (trim(line).empty())
            continue;
        auto json = parse_json(line);
        auto event = json ? event_of(*json) : Result<StoredEvent>(json.error());
        if (!event)
            return Error{code::invalid_arg, path + ", line " + std::to_string(line_number) + ": " + event.error().message};
        if (event->time.empty())
            event->time = utc_time();
        out.push_back(std::move(*event));
    }
    if (out.empty())
        return Error{code::invalid_arg, path + " has no events"};
    return out;
}

// One session: the last of the file. Of a branch the events that it shares with its parents come first, with their own sessions' ids.
int import_session(const Words& words)
{
    auto events = read_lines(words.ids[0]);
    if (!events)
        return fail(events.error());
    auto wanted = events->back().session;
    Opened vault;
    auto done = vault->use(Archive::Use::write, [&](Archive& archive) -> Result<std::string> {
        auto there = archive.find(wanted);
        bool taken = (there && there->id == wanted) || (!there && there.error().code == code::not_unique);
        auto id = taken ? new_id() : wanted;
        for (auto& event : *events) event.session = id;
        // One that begins with a fork is a branch without what it branched from.
        auto written = archive.append(*events);
        if (!written)
            return written.error();
        if (*written)
            return Error{code::invalid_arg, words.ids[0] + " has two events with the seq " + std::to_string((*events)[**written].seq)};
        if (auto synced = archive.sync(); !synced)
            return synced.error();
        return id;
    });
    if (!done)
        return fail(done.error());
    return print(*done + "\n");
}

bool agreed(const std::vector<SessionRow>& rows)
{
    for (auto& row : rows)
        write_all(2, row.id + "  " + local_time(row.updated) + "  " + harmless(row.title) + "\n");
    write_all(2, "Remove " + std::string(rows.size() == 1 ? "this session" : "these " + std::to_string(rows.size()) + " sessions") + "? [y/N] ");
    char answer[64] = "";
    return read_some(0, answer, sizeof answer) > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

int remove(const Words& words)
{
    Opened vault;
    auto rows = vault->use(Archive::Use::write, [&](Archive& archive) -> Result<std::vector<SessionRow>> {
        std::vector<SessionRow> out;
        for (auto& id : words.ids) {
            auto row = archive.find(id);
            if (!row)
                return row.error();
            if (std::ranges::find(out, row->id, &SessionRow::id) == out.end()) out.push_back(*row);
        }
        return out;
    });
    if (!rows)
        return fail(rows.error());
    if (isatty(0) && !words.yes && !agreed(*rows))
        return 1;
    auto done = vault->use(Archive::Use::write, [&](Archive& archive) -> Status {
        for (auto& row : *rows)
            if (auto removed = archive.remove(row.id); !removed && removed.error().code != code::not_found)
                return removed.error();
        return archive.tidy();
    });
    if (!done)
        return fail(done.error());
    for (auto& row : *rows) {
        std::error_code ignored;
        std::filesystem::remove_all(outputs_folder(row.id), ignored);
    }
    return 0;
}

struct Action {
    std::string_view name;
    int (*perform)(const Words&);
    std::size_t least, most;       // words behind it
    const char* needs;
    std::string_view takes;        // what such a word is, for completion
};

constexpr Action actions[] = {
    {"list", list, 0, 0, "nothing", ""},
    {"show", show, 1, 1, "the id of a session", "ID"},
    {"search", search, 1, SIZE_MAX, "words to search for", ""},
    {"export", export_session, 1, 1, "the id of a session", "ID"},
    {"import", import_session, 1, 1, "a file of an export as jsonl", "FILE"},
    {"rm", remove, 1, SIZE_MAX, "ids of sessions", "ID"},
};

}

std::vector<std::string> session_actions()
{
    std::vector<std::string> out;
    for (auto& action : actions) out.emplace_back(action.name);
    return out;
}

std::string_view session_action_takes(std::string_view name)
{
    auto found = std::ranges::find(actions, name, &Action::name);
    return found == std::end(actions) ? "" : found->takes;
}

int sessions(const Words& words)
{
    if (sessions_file().empty())
        return fail("there is no home folder that sessions could be in", 2);
    std::vector<std::string> names;
    for (auto& action : actions) {
        names.emplace_back(action.name);
        if (action.name != words.action)
            continue;
        if (words.ids.size() < action.least || words.ids.size() > action.most)
            return fail("sessions " + words.action + " takes " + action.needs, 2);
        return action.perform(words);
    }
    return fail("sessions has no action " + words.action + "." + did_you_mean(words.action, names) + " See ikigai sessions --help.", 2);
}

}
