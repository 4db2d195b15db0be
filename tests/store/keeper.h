// `ikigai store` as a child, for the tests of what it keeps.
#pragma once

#include "base/child.h"
#include "store/event.h"
#include "support/world.h"

namespace ik::test {

class Keeper {
public:
    explicit Keeper(const std::string& file, bool outlives_us = false);

    void say(const std::string& lines) { child.say(lines); }
    std::vector<Json> ask(const std::string& line, const std::string& last_type);   // until an answer of that type, or an error
    bool heard(std::string_view type, std::int64_t seq);                            // waits for it
    void step(std::chrono::milliseconds = std::chrono::milliseconds(20));           // one turn
    int finish();                                                                   // its input ends; its status

    Child child;
    std::vector<Json> answers;   // all of them so far
};

// {"type":"event"} of that session, with its newline.
std::string event_line(const std::string& session, std::int64_t seq, const std::string& kind, const std::string& content, const std::string& more = "");

// All that `load` gives.
std::vector<StoredEvent> loaded(const std::string& file, const std::string& session);
Json first(const std::vector<Json>& answers, std::string_view type);

}
