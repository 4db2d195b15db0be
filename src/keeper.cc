#include "keeper.h"

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "environment.h"
#include "transcript.h"

#include <algorithm>
#include <fcntl.h>

namespace ik {
namespace {

constexpr int most_starts = 5;
constexpr auto patience = std::chrono::seconds(2);

Status write_new(const std::string& path, std::string_view text)
{
    Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    return file && write_all(file.get(), text) ? Status(Done{}) : file_error(Doing::creating, path);
}

std::string events_of(std::size_t count) { return std::to_string(count) + (count == 1 ? " event" : " events"); }

}

Keeper::Keeper(Options options) : options_(std::move(options)), scribe_(options_.what) {}

// The store makes its file at the first event; a process for nothing but a question is fine too.
bool Keeper::start()
{
    if (store_)
        return true;
    if (given_up_ || ++starts_ > most_starts)
        return false;
    auto child = Child::start({.argv = {options_.self, "store"}, .env = without_secrets(environment()), .keep_stdin = true, .outlives_us = true});
    if (!child) {
        lose(child.error().message);
        return false;
    }
    store_ = std::move(*child);
    return true;
}

void Keeper::send(const Json& line)
{
    if (start()) store_->say(line.dump() + "\n");
}

void Keeper::tell(std::string_view why)
{
    told_ = true;
    notices_.push_back("⚠ The conversation is not kept: " + std::string(why) + ". It goes on in memory.");
}

void Keeper::lose(const std::string& why)
{
    if (!std::exchange(given_up_, true))
        tell(why);
}

void Keeper::put(StoredEvent event)
{
    if (!options_.off) {
        if (start()) store_->say(line_of(event) + "\n");
        waiting_.push_back(event);
    }
    events_.push_back(std::move(event));
}

void Keeper::after(const Event& event, const Effects& effects, const Session& session)
{
    for (auto& effect : effects)
        if (auto* done = std::get_if<Compacted>(&effect)) put(scribe_.compacted(*done));
    for (auto& each : scribe_.after(event, session)) put(std::move(each));
}

void Keeper::note(std::string kind, std::string content, Json data) { put(scribe_.note(std::move(kind), std::move(content), std::move(data))); }

void Keeper::turn_end()
{
    if (store_ && !options_.off) send(object({{"type", "turn_end"}}));
}

void Keeper::begin(std::string id)
{
    options_.what.session = std::move(id);
    scribe_ = Scribe(options_.what);
    events_.clear();
}

void Keeper::branch(std::string kind, std::string id, std::int64_t seq)
{
    auto parent = this->id();
    std::erase_if(events_, [&](auto& event) { return event.seq > seq; });
    options_.what.session = std::move(id);
    scribe_ = Scribe(options_.what, seq + 1);
    note(std::move(kind), "", object({{"parent", parent}, {"seq", seq}}));
}

void Keeper::resume(const SessionRow& row, std::vector<StoredEvent> events)
{
    options_.what.session = row.id;
    scribe_ = Scribe(options_.what, events.empty() ? 1 : events.back().seq + 1);
    events_ = std::move(events);
}

Json::Array Keeper::messages()
{
    auto story = story_of(events_);
    scribe_.skip(std::move(story.seqs));
    return std::move(story.messages);
}

void Keeper::ask(const Json& question)
{
    gathered_ = {};
    asking_ = start();
    if (asking_) store_->say(question.dump() + "\n");
    else answer_ = Answer{.error = "what was kept cannot be read: no store can be started"};
}

void Keeper::ask_list(std::string_view folder, int limit)
{
    auto question = object({{"type", "list"}, {"limit", limit}});
    if (!folder.empty()) question.set("folder", folder);
    ask(question);
}

void Keeper::ask_load(std::string_view id) { ask(object({{"type", "load"}, {"session", id}})); }

void Keeper::ask_latest(std::string_view folder)
{
    ask(object({{"type", "latest"}, {"folder", folder}}));
    then_load_ = asking_;
}

void Keeper::hear(std::string_view line)
{
    auto said = parse_json(line);
    auto type = said ? said->text("type") : "";
    auto answered = [&] { asking_ = then_load_ = false, answer_ = std::exchange(gathered_, {}); };
    auto number = [&](const char* name) {
        auto* member = said->find(name);
        return member && member->as<std::int64_t>() ? *member->as<std::int64_t>() : 0;
    };
    if (type == "stored") {
        std::erase_if(waiting_, [&](auto& event) { return event.session == said->text("session") && event.seq == number("seq"); });
    } else if (type == "notice")
        notices_.push_back("⚠ " + std::string(said->text("text")));
    else if (type == "branched" && said->text("session") == id())
        notices_.push_back("⚠ Another process goes on with this conversation: this one is now " + std::string(said->text("to")));
    else if (type == "event") {
        if (auto event = event_of(*said)) gathered_.events.push_back(std::move(*event));
    } else if (type == "loaded") {
        gathered_.loaded = row_of(*said->find("session"));
        answered();
    } else if (type == "latest" && asking_) {
        auto* row = said->find("session");
        if (row && !row->null() && std::exchange(then_load_, false)) ask_load(row->text("id"));
        else answered();
    } else if (type == "sessions") {
        if (auto* rows = said->find("sessions") ? said->find("sessions")->as<Json::Array>() : nullptr)
            for (auto& row : *rows) gathered_.sessions.push_back(row_of(row));
        answered();
    } else if (type == "error" && number("seq") == 0 && asking_) {
        gathered_.error = said->text("error");
        answered();
    } else if (type == "error" && !said->text("error").empty())
        tell(said->text("error"));
}

void Keeper::add_to(Poll& poll) const
{
    if (store_) store_->add_to(poll);
}

void Keeper::advance(const Poll& poll)
{
    if (!store_)
        return;
    store_->advance(poll);
    auto& bytes = store_->out;
    if (auto end = bytes.rfind('\n'); end != bytes.npos) {
        auto lines = bytes.substr(0, end);
        bytes.erase(0, end + 1);
        for (auto line : split(lines, '\n')) hear(line);
    }
    if (!store_->exit)
        return;
    auto why = std::string(trim(store_->err));
    bool at_our_word = ending_ && store_->exit->status() == 0 && (waiting_.empty() || told_);   // else it has not heard all
    store_.reset();
    if (std::exchange(asking_, false)) answer_ = Answer{.error = why.empty() ? "the store has ended" : why};
    if (!at_our_word) send_again();
}

// The store has died: another is told what this one has not acknowledged.
void Keeper::send_again()
{
    if (waiting_.empty())
        return;
    if (!start())
        return lose("its store ends again and again");
    for (auto& event : waiting_) store_->say(line_of(event) + "\n");
    if (ending_) store_->hang_up();
}

std::optional<std::string> Keeper::take_notice()
{
    if (notices_.empty())
        return {};
    auto out = std::move(notices_.front());
    notices_.pop_front();
    return out;
}

std::optional<pid_t> Keeper::process() const { return store_ ? std::optional(store_->id()) : std::nullopt; }

std::optional<std::string> Keeper::end(bool save)
{
    auto until = Clock::now() + patience;
    ending_ = true;
    if (store_) store_->hang_up();   // it keeps what it can of all that was said, and ends
    while (store_ && Clock::now() < until) {
        Poll poll;
        add_to(poll);
        poll.until(until);
        poll.wait();
        advance(poll);
    }
    if (waiting_.empty() || (!save && told_))
        return {};
    auto lost = "⚠ " + events_of(waiting_.size()) + " of the conversation could not be kept";
    if (!save)
        return lost;
    auto path = temporary_folder() + "/ikigai-" + id() + ".jsonl";
    auto written = write_new(path, as_lines(events_));
    return lost + (written ? ": all of it is in " + path + " (ikigai sessions import)" : " (" + written.error().message + ")");
}

}
