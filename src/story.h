// story: what is kept of a conversation: events as they are stored, and the messages that they stand for.
// A conversation goes on from its events alone, with any provider. Knows no database and no process.
//
// What the kinds hold: user: content. assistant: content is its text; where it has other parts too, data.parts has
// all, and a call among them is only {"call":{"id"}}: the tool_call events behind it have the rest.
// tool_call: data is the call. tool_result: data {"id","envelope"}. usage: data, tokens.
// fork: data {"parent","seq"}, the first event of a branch. rewind: data {"to"}: the events behind that seq
// do not count any more. compaction: content is the summary; what comes before data.keep, a seq, does not count
// any more (without it: what comes before the compaction); data.summary is its message, data.longest_envelope as in Compacted. mark, command, system, config_required: content.
// interrupted: content is the error, if there was one. Only the first four and compaction are said to a model.
#pragma once

#include "agent/session.h"
#include "store/event.h"

#include <span>

namespace ik {

// The messages of the events, in their order, and the seq of the event that each user's and assistant's comes from
// (others: 0). A call without a result was interrupted, and is answered so.
struct Story {
    Json::Array messages;
    std::vector<std::int64_t> seqs;
};
Story story_of(std::span<const StoredEvent>);
inline Json::Array messages_of(std::span<const StoredEvent> events) { return story_of(events).messages; }

// Writes down a conversation as it goes on.
class Scribe {
public:
    // what: session, provider, model and folder of every event. next: the seq of the next.
    explicit Scribe(StoredEvent what, std::int64_t next = 1) : what_(std::move(what)), next_(next) {}

    // What is to be stored of an event that the session has just taken. A reply is one event, once it is whole,
    // has failed or is interrupted.
    std::vector<StoredEvent> after(const Event&, const Session&);

    // An event that is none of the session's: mark, command, fork, …
    StoredEvent note(std::string kind, std::string content, Json data = {});

    // The session has been given these messages: they are not to be written down again.
    void skip(std::vector<std::int64_t> seqs) { seqs_ = std::move(seqs); }

    // The session has become shorter; before anything else is written down of it.
    StoredEvent compacted(const Compacted&);

    std::int64_t next() const { return next_; }
    const StoredEvent& what() const { return what_; }

private:
    StoredEvent what_;
    std::int64_t next_;
    std::vector<std::int64_t> seqs_;   // of the messages of the session that are written down
};

}
