// ModelProcess: the child `ikigai llm`, which asks a model and says what comes of it, a line each. It is started when it is first
// needed and again after it was dropped. Knows nothing of conversations.
#pragma once

#include "base/child.h"
#include "base/json.h"

namespace ik {

class ModelProcess {
public:
    struct Options {
        std::string self;           // the program
        std::string setup;          // its first line, with the key in it
        milliseconds silence;       // it speaks at least this often while it is asked
    };
    explicit ModelProcess(Options options) : options_(std::move(options)) {}

    Status start();                                    // ahead of its time; the questions start it too
    Status ask(const Json& request);
    Status ask_window(std::string_view model);   // its answer comes before that of the next request, within a second or not at all
    Status ask_models();                               // which there are
    void drop() { child_.reset(); }                    // it holds nothing that is worth waiting for

    void add_to(Poll&, bool awaited) const;            // awaited: an answer, so that it may not be silent
    void advance(const Poll&);
    std::vector<std::string> take_lines();             // whole ones, that it said since

    // Why no answer will come; of one that is awaited.
    std::optional<std::string> failure() const;
    bool runs() const { return child_ && !child_->exit; }
    std::optional<pid_t> process() const { return runs() ? std::optional(child_->id()) : std::nullopt; }
    Clock::time_point heard() const { return heard_; }   // when it last said or was asked something

private:
    Status say(const Json& line);

    Options options_;
    std::optional<Child> child_;
    Clock::time_point heard_{};
};

}
