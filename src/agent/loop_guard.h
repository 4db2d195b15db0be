// LoopGuard: notices a model that makes the same call again and again and gets the same result. Pure;
// keeps hashes, no outputs.
#pragma once

#include "agent/session.h"

#include <map>

namespace ik {

class LoopGuard {
public:
    static constexpr int told_at = 3;     // the same call and result in a turn: the model is told from then on
    static constexpr int stopped_at = 5;  // and nothing new between them: the turn stops

    // What the model is answered: the envelope, with a `hint` where it is to be told, or TOOL_REPEATED
    // instead of it where the turn is to stop.
    Json judged(const ToolCall&, Json envelope);

    void begin_turn();

private:
    struct Seen {
        int times = 0;          // in the turn
        int in_a_row = 0;       // since a call of the turn had a result that was new
        std::int64_t news = 0;  // how many of those there had been
    };
    std::map<std::string, Seen> seen_;   // by hash of call and result
    std::int64_t news_ = 0;
};

}
