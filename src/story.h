// story: what is kept of a conversation: events as they are stored, and the messages that they stand for.
// A conversation goes on from its events alone, with any provider. Knows no database and no process.
//
// What the kinds hold: user: content. assistant: content is its text; where it has other parts too, data.parts has
// all, and a call among them is only {"call":{"id"}}: the tool_call events behind it have the rest.
// tool_call: data is the call. tool_result: data {"id","envelope"}. usage: data, tokens.
// fork: data {"parent","seq"}, the first event of a branch. rewind: data {"to"}: the events behind that seq
// do not count any more. compaction: content is the summary; what comes before data.keep, a seq, does not count
// any more (without it: what comes before the compaction). mark, command, system, config_required: content.
// interrupted: content is the error, if there was one. Only the first four and compaction are said to a model.
#pragma once

#include "agent/session.h"
#include "store/event.h"

#include <span>

namespace ik {

// The messages of the events, in their order. A call without a result was interrupted, and is answered so.
Json::Array messages_of(std::span<const StoredEvent>);

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

    // The session has other messages now: these are not to be written down again.
    void skip(const Session& session) { told_ = session.messages().size(); }

    std::int64_t next() const { return next_; }

private:
    StoredEvent what_;
    std::int64_t next_;
    std::size_t told_ = 0;   // messages of the session that are written down
};

}
