// Keeper: the conversation's side of `ikigai store`: what happens is written down as it happens; what was kept is asked for.
// Memory has all of the conversation, whatever becomes of the disk. Passive: the caller polls, then lets it advance.
#pragma once

#include "base/child.h"
#include "story.h"

#include <deque>

namespace ik {

class Keeper {
public:
    struct Options {
        std::string self;          // our executable
        bool off = false;          // nothing is kept
        StoredEvent what = {};     // session, provider, model and folder of every event
    };
    explicit Keeper(Options);

    bool keeps() const { return !options_.off; }
    const std::string& id() const { return scribe_.what().session; }
    const std::vector<StoredEvent>& events() const { return events_; }   // of this conversation, those before a branch too

    void after(const Event&, const Effects&, const Session&);   // right after session.on(event)
    void note(std::string kind, std::string content, Json data = {});
    void turn_end();

    void begin(std::string id);                                             // nothing has been said yet
    void branch(std::string kind, std::string id, std::int64_t seq);        // fork or rewind: what was up to seq, and then something else
    void resume(const SessionRow&, std::vector<StoredEvent>);
    Json::Array messages();                                                 // of events(), for the session

    // Questions; one at a time. Nothing is created by them.
    void ask_list(std::string_view folder, int limit);
    void ask_load(std::string_view id);            // the beginning of one
    void ask_latest(std::string_view folder);      // then its events
    bool asking() const { return asking_; }
    struct Answer {
        std::vector<SessionRow> sessions = {};
        std::optional<SessionRow> loaded = {};
        std::vector<StoredEvent> events = {};      // of the loaded
        std::string error = {};                    // a sentence
    };
    std::optional<Answer> take_answer() { return std::exchange(answer_, {}); }

    void add_to(Poll&) const;
    void advance(const Poll&);
    std::optional<std::string> take_notice();
    std::optional<pid_t> process() const;

    // At the end of the conversation: waits until all is acknowledged, 2 s at most, and lets go of the store, which ends by
    // itself. What could not be kept is written to a file where save is wished; a sentence about it.
    std::optional<std::string> end(bool save);

private:
    void put(StoredEvent);
    bool start();
    void send(const Json& line);
    void send_again();
    void hear(std::string_view line);
    void ask(const Json& question);
    void lose(const std::string& why);
    void tell(std::string_view why);

    Options options_;
    Scribe scribe_;
    std::vector<StoredEvent> events_;
    std::deque<StoredEvent> waiting_;      // not acknowledged
    std::optional<Child> store_;
    int starts_ = 0;
    bool asking_ = false, then_load_ = false, given_up_ = false, ending_ = false;
    bool told_ = false;                    // the person, that something is not kept
    Answer gathered_;
    std::optional<Answer> answer_;
    std::deque<std::string> notices_;
};

}
