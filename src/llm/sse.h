// Sse: bytes of a text/event-stream, cut anywhere, to its events. Knows no provider.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
#pragma once

#include "base/result.h"

#include <optional>

namespace ik::sse {

struct Event {
    std::string name;   // of its `event:` line; empty when it had none
    std::string data;   // its `data:` lines, joined with \n; always UTF-8
    friend bool operator==(const Event&, const Event&) = default;
};

inline constexpr std::size_t max_event = 16 << 20;

class Reader {
public:
    // More bytes. Error: API_ERROR when an event grows beyond max_event; nothing more is read then.
    Status feed(std::string_view bytes);

    // The next whole event; none when more bytes are needed. Events without data are passed over.
    std::optional<Event> next();

    // The stream has ended: an event that lacks only its blank line counts.
    void end();

private:
    std::optional<std::string_view> line();
    void take(std::string_view line);

    std::string buffer_;
    std::size_t at_ = 0;        // of the next line in buffer_
    std::size_t seen_ = 0;      // no line end before this
    bool started_ = false, ended_ = false;
    bool after_cr_ = false;     // a \n here belongs to the \r before it
    Event event_;
    bool has_data_ = false;
};

}
