// Approval: what becomes of each tool call: it runs, it is refused, or it waits for a person's word. Passive; shows
// nothing, starts nothing, and waits for nobody where no person is there.
#pragma once

#include "agent/registry.h"
#include "rules.h"
#include "sandbox.h"

#include <deque>

namespace ik {

class Approval {
public:
    struct Options {
        Policy policy = {};
        const Sandbox* sandbox = nullptr;   // borrowed; none: nothing confines a tool
        bool unconfined = false;            // the user wants no sandbox: nothing is outside of it
        bool person = false;                // somebody is there to be asked
    };

    // What a person is asked. `outside`: to run it, or run it again, without the sandbox.
    struct Question {
        ToolCall call;
        std::string reason;                   // one sentence
        std::string always = {};              // the rule that "always" writes; empty: that answer is not offered
        bool outside = false;
        std::optional<Json> refused = {};     // the envelope of the call that the sandbox has refused
        bool ours = false;                    // the tool is our own executable
    };

    enum class Answer { once, session, always, no };

    // What is to be done with a call, and why, in the words of the record.
    struct Next {
        enum class Kind { run, run_outside, answered, waits };
        Kind kind = Kind::waits;
        ToolCall call = {};
        Json envelope = {};          // of one that is answered without having run
        std::string decision = {}, by = {};   // for the record: allow, ask or deny; a sentence, or who said so
    };

    explicit Approval(Options options) : options_(std::move(options)) {}

    Next consider(const ToolCall&, const Tool*);

    // A call that has ended, and that the sandbox may have refused: the question is offered where a person is there.
    bool offer_outside(const ToolCall&, const Json& envelope);

    // The one that is to be shown; none: nothing waits.
    const Question* question() const { return waiting_.empty() ? nullptr : &waiting_.front(); }

    // To the question that is shown. word: for the model, with no. What can go on now, in order; a rule that is new may settle
    // those behind it too. warning: why the rule could not be written.
    std::vector<Next> answer(Answer, std::string_view word, std::string& warning);

    // Nobody will answer any more.
    std::vector<Next> cancel();

    bool denied_without_person() const { return denied_; }   // some call was, since the start
    const Policy& policy() const { return options_.policy; }
    void set_mode(Approve mode) { options_.policy.approve = std::max(mode, options_.policy.loosest); }

private:
    Verdict judged(const ToolCall&, bool ours) const;

    Options options_;
    std::deque<Question> waiting_;
    bool denied_ = false;
};

}
