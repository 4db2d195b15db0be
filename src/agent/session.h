// Session: the conversation as a state machine. Events come in, effects go out;
// nothing here knows about file descriptors, processes or terminals.
// Messages have the neutral form that `ikigai llm` takes (ikigai-hacking.7).
#pragma once

#include "agent/compaction.h"

#include <map>

namespace ik {

struct ToolCall {
    std::string id, name;
    Json arguments;
    friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct Usage {
    std::int64_t input = 0, output = 0, cached = 0;   // tokens
    friend bool operator==(const Usage&, const Usage&) = default;
};

// What happened.
struct UserSaid { std::string text; };
struct ModelSaid { std::string text; };
struct ModelThought { std::string text; };
struct ModelKept { Json part; };   // opaque: goes back to the same provider as it is
struct ModelCalled { ToolCall call; };
struct ModelUsed { Usage usage; };
struct ModelRetried { std::int64_t attempt, delay_ms; std::string error; bool discard; };
struct ModelDone { std::string reason; };
struct ModelFailed { std::string error, error_code; };
struct ToolDone { std::string id; Json envelope; };
struct Interrupted {};
struct Noted { std::string text; };   // for the model to know; it is told when it is asked next
struct CompactionWanted { std::string keep; };   // between turns: what to keep in particular
using Event = std::variant<UserSaid, ModelSaid, ModelThought, ModelKept, ModelCalled, ModelUsed, ModelRetried,
                           ModelDone, ModelFailed, ToolDone, Interrupted, Noted, CompactionWanted>;

// What is to be done.
struct Ask { Json request; friend bool operator==(const Ask&, const Ask&) = default; };
struct Run { ToolCall call; friend bool operator==(const Run&, const Run&) = default; };
struct Cancel { friend bool operator==(const Cancel&, const Cancel&) = default; };   // stop the model, stop the tools; each tool still reports
struct End {   // of the turn: the user's message is answered, or will not be
    std::string reason;   // end_turn, max_tokens, refusal, max_turns, interrupted, error
    std::string error, error_code;
    friend bool operator==(const End&, const End&) = default;
};
struct SayCompacting { std::int64_t tokens; friend bool operator==(const SayCompacting&, const SayCompacting&) = default; };   // about, before it
using Effect = std::variant<Ask, Run, Cancel, End, SayCompacting, Compacted>;   // Compacted: to be said and kept
using Effects = std::vector<Effect>;

class Session {
public:
    struct Options {
        std::string provider, model, system, thinking;
        std::int64_t max_tokens = 0;    // 0: the provider's own
        std::int64_t max_turns = 50;    // model requests a message
        std::int64_t window = 0;        // tokens; 0: not known
        bool compact = true;            // by itself, when the window is nearly full or was too small
    };
    explicit Session(Options options) : options_(std::move(options)) {}

    Effects on(const Event& event);

    void offer(Json tools) { tools_ = std::move(tools); }   // [{name, description, parameters}]
    bool busy() const { return asking_ || !waiting_.empty(); }
    bool asking() const { return asking_; }   // the model is to speak
    const Json::Array& messages() const { return messages_; }
    const Options& options() const { return options_; }
    void use_model(std::string model, std::int64_t window) { options_.model = std::move(model), options_.window = window; }   // from the next request on
    void use_thinking(std::string level) { options_.thinking = std::move(level); }
    void use_system(std::string text) { options_.system = std::move(text); }
    // A conversation that was kept, or another one; between turns.
    void resume(Json::Array messages) { messages_ = std::move(messages), known_ = 0, known_at_ = 0; }
    void learn_window(std::int64_t tokens) { options_.window = tokens; }
    bool compacting() const { return compaction_.has_value(); }   // what the model says is a summary
    std::int64_t tokens() const;   // of the next request, about: the service's last figure and an estimate of the rest

    // Of the turn that ran last.
    const std::string& answer() const { return answer_; }   // the text of the last reply
    std::int64_t turns() const { return turns_; }
    std::int64_t calls() const { return calls_; }
    const Usage& usage() const { return usage_; }

private:
    Effects handle(const UserSaid&);
    Effects handle(const ModelSaid&);
    Effects handle(const ModelThought&);
    Effects handle(const ModelKept&);
    Effects handle(const ModelCalled&);
    Effects handle(const ModelUsed&);
    Effects handle(const ModelRetried&);
    Effects handle(const ModelDone&);
    Effects handle(const ModelFailed&);
    Effects handle(const ToolDone&);
    Effects handle(const Interrupted&);
    Effects handle(const Noted&);
    Effects handle(const CompactionWanted&);

    Effects ask();
    void tell_notes();
    Effects send(Effects before);
    Ask request() const;
    bool nearly_full() const;
    std::int64_t room(std::int64_t window) const;
    Effects compact(std::int64_t window, std::string keep, bool then_ask);
    std::optional<Effects> hear_summary(const Event&);
    Effects ask_summary(Effects before);
    Effects end_compaction(Effects before);
    void keep_reply(bool with_calls);
    void append_text(const char* member, const std::string& text);

    Options options_;
    Json tools_ = Json::Array{};
    Json::Array messages_;
    Json::Array parts_;                     // of the reply that is streamed
    std::vector<ToolCall> called_;          // in it
    std::vector<ToolCall> waiting_;         // calls that run, in the order of their answers
    std::map<std::string, Json> envelopes_; // of those that have ended
    std::vector<std::string> notes_;        // not yet told
    std::string answer_;
    Usage usage_;
    std::int64_t turns_ = 0, calls_ = 0;
    bool asking_ = false, interrupted_ = false;
    std::optional<Compaction> compaction_;  // runs
    bool ask_after_ = false;                // it: the turn goes on
    bool overflowed_ = false;               // the last request did not fit
    Usage last_used_;                       // of the reply that is streamed
    std::int64_t known_ = 0;                // tokens of the first known_at_ messages and all around them, as the service said
    std::size_t known_at_ = 0;
};

}
