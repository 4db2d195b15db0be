// Calls: the tool calls of a conversation, from the model's wish to the answer: judged, asked about, run, put on record.
// Passive: the caller polls, then lets it advance. Shows nothing.
#pragma once

#include "agent/loop_guard.h"
#include "approval.h"
#include "audit.h"
#include "host.h"

#include <functional>

namespace ik {

class Calls {
public:
    struct Options {
        std::string session;              // its id
        std::string outputs;              // folder for what is too long
        ToolRules rules = {};             // limits and grants
        std::function<std::optional<std::string>(const Tool&)> objection = {};
        Policy policy = {};
        bool unconfined = false;          // the user wants no sandbox
        bool person = false;              // somebody is there to be asked
        Audit::To audit = Audit::To::nowhere;
        std::vector<std::string> secrets = {};   // that no log may hold
    };

    // registry, sandbox: borrowed.
    Calls(Options, const Registry& registry, Sandbox& sandbox);

    void begin() { audit_.start(); }
    void end(int status) { audit_.end(status); }
    void begin_turn() { guard_.begin_turn(); }

    void run(const ToolCall&);
    void run_by_person(const ToolCall&);   // of their own: nobody is asked, and no sandbox is around it
    void cancel();         // every call is still answered
    bool busy() const { return host_.busy() || approval_.question() || !answered_.empty(); }
    bool running() const { return host_.running() > 0; }

    void add_to(Poll&) const;
    void advance(const Poll& poll) { host_.advance(poll); }
    std::vector<Finished> take_finished();
    std::vector<Host::Ended> take_ended() { return host_.take_ended(); }
    std::optional<std::string> take_trouble();   // a sentence for the user

    // What a person is to be asked now; none: nothing. Then the answer, with a word for the model after no.
    const Approval::Question* question() const { return approval_.question(); }
    void answer(Approval::Answer, std::string_view word = {});

    Host& host() { return host_; }
    const Host& host() const { return host_; }
    Approval& approval() { return approval_; }

private:
    void go_on(const Approval::Next&);

    const Registry& registry_;
    Sandbox& sandbox_;
    Host host_;
    Approval approval_;
    LoopGuard guard_;
    Audit audit_;
    std::vector<Finished> answered_;   // without having run, or after the sandbox had refused them
    std::string trouble_;
};

}
