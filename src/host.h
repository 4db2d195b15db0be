// Host: runs tool calls as children, all at once, and turns each end into an envelope. Passive: the
// caller polls, then lets it advance. Knows no model and no terminal.
#pragma once

#include "agent/registry.h"
#include "agent/wire.h"
#include "sandbox.h"
#include "spill.h"

namespace ik {

class Host {
public:
    struct Options {
        std::string session;                // its id
        std::string outputs;                // folder for what is too long; made when needed
        milliseconds limit = std::chrono::seconds(30);   // of a call
        Sandbox* sandbox = nullptr;         // borrowed; none: tools may do what we may
    };

    struct Finished {
        ToolCall call;
        Json envelope;          // as the model sees it: capped
        Notices notices;        // for the user
        std::string words;      // its other stderr
        milliseconds duration{};
    };

    explicit Host(Options options) : options_(std::move(options)) {}

    // Starts the tool with the call's arguments. A call that cannot start is finished at once.
    void run(const Tool* tool, ToolCall call);
    void cancel();   // stops every running call; each is still reported
    bool busy() const { return !running_.empty() || !finished_.empty(); }
    std::size_t running() const { return running_.size(); }

    void add_to(Poll&) const;
    void advance(const Poll&);
    std::vector<Finished> take_finished() { return std::exchange(finished_, {}); }

private:
    struct Running {
        ToolCall call;
        Child child;
        Outbox outbox;
        std::string output;   // the file that the tool may write to while it runs
        bool cancelled = false;
    };

    void refuse(ToolCall call, Json envelope);
    void finish(Running&);
    Result<const Confinement*> rules(const Tool&) const;
    std::string hint(const Json& envelope) const;

    Options options_;
    std::vector<Running> running_;
    std::vector<Finished> finished_;
};

// The arguments without nulls that the schema does not require. Error: INVALID_PARAMS, "Tool 'x': why".
Result<Json> fitting_arguments(const Tool&, const Json& arguments);

}
