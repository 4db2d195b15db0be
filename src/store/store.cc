#include "store/store.h"

#include "base/date.h"
#include "base/poll.h"
#include "base/text.h"
#include "store/vault.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_line = 64 << 20;
constexpr std::size_t max_batch = 4 << 20;      // bytes that are read before they are stored
constexpr std::size_t max_kept = 64 << 20;      // bytes of events that cannot be written now
constexpr auto sync_after = 1s;
constexpr auto try_again_after = 5s;

class Store {
public:
    explicit Store(std::string path) : vault_(std::move(path)) {}

    void on_line(std::string_view line);
    void finish_batch();                         // what has come is stored and answered
    void end();
    void too_long() { fail({code::invalid_arg, "a line is longer than 64 MB"}); }
    std::optional<Clock::time_point> deadline() const { return sync_at_; }
    void sync_in_time() { if (sync_at_ && Clock::now() >= *sync_at_) sync(); }

private:
    struct Waiting { StoredEvent event; std::string session; std::int64_t seq; std::size_t size; };   // session and seq as they came
    struct Branch { std::string id; std::int64_t shift; };

    void keep(const Json& line, std::size_t size);
    bool write_waiting();
    void branch_at(std::size_t index);
    void answer_stored();
    void sync();
    void request(std::string_view type, const Json& line);
    void list(const Json& line);
    void latest(const Json& line);
    void load(const Json& line);
    void search(const Json& line);
    void remove(const Json& line);
    void say(const Json& line) { out_ += line.dump() + "\n"; }
    void fail(const Error&, const Waiting* of = nullptr);
    void flush();

    Vault vault_;
    std::vector<Waiting> waiting_;               // events that are not in the database yet
    std::size_t waiting_size_ = 0;
    std::map<std::string, Branch> branches_;     // sessions that another process has gone on with
    std::optional<Clock::time_point> sync_at_, try_again_at_;
    bool told_ = false;                          // why it cannot be written: said once
    bool refused_ = false;                       // for good
    std::string out_;
    bool heard_ = true;                          // somebody reads what we say
};

std::int64_t limit_of(const Json& line)
{
    auto* limit = line.find("limit");
    auto* number = limit ? limit->as<std::int64_t>() : nullptr;
    return number ? *number : 0;
}

// Nothing has been kept yet: that is no error for who asks.
bool none_yet(const Error& error) { return error.code == code::file_not_found; }

void Store::flush()
{
    if (heard_ && !out_.empty() && !write_all(1, out_))
        heard_ = false;   // the chat is gone: what it said is stored all the same
    out_.clear();
}

void Store::fail(const Error& error, const Waiting* of)
{
    auto line = object({{"type", "error"}, {"error", error.message}, {"error_code", error.code}});
    if (of) {
        line.set("session", of->session);
        line.set("seq", of->seq);
    }
    say(line);
}

void Store::on_line(std::string_view text)
{
    if (trim(text).empty())
        return;
    auto line = parse_json(text);
    if (!line)
        return fail(line.error());
    auto type = line->text("type");
    if (type == "event")
        return keep(*line, text.size());
    finish_batch();
    if (type == "turn_end") {
        try_again_at_.reset();
        finish_batch();
        sync();
        say(object({{"type", "synced"}}));
    } else
        request(type, *line);
    flush();
}

void Store::keep(const Json& line, std::size_t size)
{
    auto event = event_of(line);
    if (!event)
        return fail(event.error());
    if (refused_)
        return;
    if (event->time.empty())
        event->time = utc_time();
    Waiting waiting{std::move(*event), "", 0, size};
    waiting.session = waiting.event.session;
    waiting.seq = waiting.event.seq;
    if (auto branch = branches_.find(waiting.session); branch != branches_.end()) {
        waiting.event.session = branch->second.id;
        waiting.event.seq += branch->second.shift;
    }
    waiting_size_ += size;
    waiting_.push_back(std::move(waiting));
}

// False when it cannot be done now.
bool Store::write_waiting()
{
    for (;;) {
        std::vector<StoredEvent> events;
        for (auto& waiting : waiting_)
            events.push_back(waiting.event);
        auto taken = vault_.use(Archive::Use::write, [&](Archive& archive) { return archive.append(events); });
        for (auto& notice : vault_.take_notices())
            say(object({{"type", "notice"}, {"text", notice}}));
        if (!taken) {
            bool told = std::exchange(told_, true);
            try_again_at_ = Clock::now() + try_again_after;
            refused_ = taken.error().code == code::store_newer || taken.error().code == code::invalid_arg || waiting_size_ > max_kept;
            if (!told)
                fail(taken.error(), &waiting_.front());
            if (refused_)
                waiting_.clear(), waiting_size_ = 0;
            return false;
        }
        if (!*taken)
            return true;
        branch_at(**taken);
    }
}

// Another process has gone on with this session from the same place: from here on ours is a branch of it.
void Store::branch_at(std::size_t index)
{
    auto first = waiting_[index];
    auto parent = first.event.session;
    std::int64_t seq = first.event.seq;
    auto hash = std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    char id[32];
    std::snprintf(id, sizeof id, "%04x%08x", static_cast<unsigned>(getpid()) & 0xFFFFu, static_cast<unsigned>(std::hash<std::string>()(hash + parent)));
    StoredEvent fork{id, seq, "fork", "", object({{"parent", parent}, {"seq", seq - 1}}), first.event.time, first.event.provider, first.event.model, first.event.folder};
    auto& branch = branches_[first.session];
    branch = {id, seq + 1 - first.seq};
    for (auto i = index; i < waiting_.size(); ++i)
        if (waiting_[i].event.session == parent) {
            waiting_[i].event.session = id;
            waiting_[i].event.seq = waiting_[i].seq + branch.shift;
        }
    waiting_.insert(waiting_.begin() + static_cast<std::ptrdiff_t>(index), Waiting{std::move(fork), "", 0, 0});
    say(object({{"type", "branched"}, {"session", first.session}, {"to", id}, {"seq", first.seq}, {"now", seq + 1}}));
}

void Store::answer_stored()
{
    for (auto& waiting : waiting_)
        if (!waiting.session.empty())
            say(object({{"type", "stored"}, {"session", waiting.session}, {"seq", waiting.seq}}));
    waiting_.clear();
    waiting_size_ = 0;
    try_again_at_.reset();
    told_ = false;
    if (!sync_at_)
        sync_at_ = Clock::now() + sync_after;
}

void Store::finish_batch()
{
    bool later = try_again_at_ && Clock::now() < *try_again_at_ && waiting_size_ <= max_kept;
    if (!waiting_.empty() && !later && write_waiting())
        answer_stored();
    flush();
}

void Store::sync()
{
    if (!std::exchange(sync_at_, {}))
        return;
    if (auto done = vault_.sync(); !done)
        fail(done.error());
    flush();
}

void Store::end()
{
    vault_.patience(1500);   // whoever ends us gives us two seconds
    try_again_at_.reset();
    finish_batch();
    sync();
}

void Store::request(std::string_view type, const Json& line)
{
    constexpr std::pair<std::string_view, void (Store::*)(const Json&)> requests[] = {
        {"list", &Store::list}, {"latest", &Store::latest}, {"load", &Store::load}, {"search", &Store::search}, {"remove", &Store::remove},
    };
    for (auto& [name, perform] : requests)
        if (name == type)
            return (this->*perform)(line);
    fail({code::invalid_arg, "there is no request " + std::string(type)});
}

void Store::list(const Json& line)
{
    auto rows = vault_.use(Archive::Use::read, [&](Archive& archive) { return archive.list(line.text("folder"), limit_of(line)); });
    if (!rows && !none_yet(rows.error()))
        return fail(rows.error());
    Json::Array out;
    if (rows)
        for (auto& row : *rows) out.push_back(json_of(row));
    say(object({{"type", "sessions"}, {"sessions", std::move(out)}}));
}

void Store::latest(const Json& line)
{
    auto rows = vault_.use(Archive::Use::read, [&](Archive& archive) { return archive.list(line.text("folder"), 1, Archive::By::writing); });
    if (!rows && !none_yet(rows.error()))
        return fail(rows.error());
    say(object({{"type", "latest"}, {"session", rows && !rows->empty() ? json_of(rows->front()) : Json()}}));
}

void Store::load(const Json& line)
{
    std::string lines;
    std::int64_t events = 0;
    auto found = vault_.use(Archive::Use::read, [&](Archive& archive) -> Result<SessionRow> {
        auto session = archive.find(line.text("session"));
        if (!session)
            return session.error();
        lines.clear();
        events = 0;
        auto loaded = archive.load(*session, [&](const StoredEvent& event) {
            (lines += line_of(event)) += '\n';
            ++events;
            return true;
        });
        if (!loaded)
            return loaded.error();
        return session;
    });
    if (!found)
        return fail(none_yet(found.error()) ? Error{code::not_found, "no session has been kept yet"} : found.error());
    out_ += lines;
    say(object({{"type", "loaded"}, {"session", json_of(*found)}, {"events", events}}));
}

void Store::search(const Json& line)
{
    auto hits = vault_.use(Archive::Use::read, [&](Archive& archive) { return archive.search(line.text("query"), limit_of(line)); });
    if (!hits && !none_yet(hits.error()))
        return fail(hits.error());
    Json::Array out;
    if (hits)
        for (auto& hit : *hits) out.push_back(json_of(hit));
    say(object({{"type", "found"}, {"hits", std::move(out)}}));
}

void Store::remove(const Json& line)
{
    auto removed = vault_.use(Archive::Use::write, [&](Archive& archive) -> Result<SessionRow> {
        auto session = archive.find(line.text("session"));
        if (!session)
            return session.error();
        if (auto done = archive.remove(session->id); !done)
            return done.error();
        return session;
    });
    if (!removed)
        return fail(removed.error());
    say(object({{"type", "removed"}, {"session", removed->id}}));
}

int serve(Store& store)
{
    std::string pending;
    std::vector<char> buffer(1 << 16);
    bool skipping = false;   // the rest of a line that is too long
    for (;;) {
        std::size_t taken = 0;
        bool more = true;
        while (more && taken < max_batch) {
            auto n = read_some(0, buffer.data(), buffer.size());
            if (n <= 0) {
                if (!pending.empty() && !skipping)
                    store.on_line(pending);   // a last line without its end counts, if it is whole
                store.end();
                return n < 0 ? 1 : 0;
            }
            taken += static_cast<std::size_t>(n);
            auto searched = pending.size();
            pending.append(buffer.data(), static_cast<std::size_t>(n));
            std::size_t start = 0;
            for (std::size_t end; (end = pending.find('\n', std::max(searched, start))) != pending.npos; start = end + 1)
                if (!std::exchange(skipping, false))
                    store.on_line(std::string_view(pending).substr(start, end - start));
            pending.erase(0, start);
            if (pending.size() > max_line) {
                pending.clear();
                if (!std::exchange(skipping, true))
                    store.too_long();
            }
            pollfd in{0, POLLIN, 0};
            more = ::poll(&in, 1, 0) > 0;
        }
        store.finish_batch();
        for (bool readable = more; !readable;) {
            Poll poll;
            poll.read(0);
            if (auto deadline = store.deadline()) poll.until(*deadline);
            poll.wait();
            readable = poll.ready(0);
            if (!readable) store.sync_in_time();
        }
        store.sync_in_time();
    }
}

}

int store(int argc, char** argv, const std::string& otherwise)
{
    std::string path = otherwise;
    if (argc == 3 && !std::strcmp(argv[1], "--file"))
        path = argv[2];
    else if (argc > 1) {
        bool help = !std::strcmp(argv[1], "--help");
        std::fputs("usage: ikigai store [--file PATH]\n"
                   "Events and requests a line on standard input, answers on standard output: see ikigai-hacking(7).\n",
                   help ? stdout : stderr);
        return help ? 0 : 2;
    }
    if (path.empty()) {
        std::fputs("ikigai: there is no home folder to keep sessions in; name a file with --file\n", stderr);
        return 2;
    }
    // It ends when its input does, and not before: what was said is to be kept, however the chat ends.
    for (int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP})
        std::signal(number, SIG_IGN);
    Store store(std::move(path));
    return serve(store);
}

}
