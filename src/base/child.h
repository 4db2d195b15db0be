// Child: one child process with its three pipes, its limits and its deadline. It is passive:
// the caller polls, then lets it advance. Used for tools, for discovery and for the model alike.
#pragma once

#include "base/poll.h"
#include "base/standby.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ik {

class Child {
public:
    struct Options {
        std::vector<std::string> argv;
        std::vector<std::string> env = environment();
        std::string input = {};                      // written to its stdin, which is closed after
        bool keep_stdin = false;                     // leave stdin open: more comes with say()
        bool no_stdin = false;                       // nothing()
        bool outlives_us = false;                    // see Program
        const Confinement* confinement = nullptr;    // borrowed for the start
        Standby* standby = nullptr;                  // borrowed, and used up: one that is confined so already
        std::optional<milliseconds> limit = {};      // then it is stopped
        milliseconds grace = std::chrono::seconds(2);   // between SIGTERM and SIGKILL
        std::size_t max_out = SIZE_MAX;              // more bytes than that on stdout: it is stopped
        std::size_t max_err = 1 << 20;               // what comes after is dropped
    };
    static Result<Child> start(Options);

    void add_to(Poll&) const;
    // Moves whatever bytes can move, keeps the deadline. take: gets what comes from its stdout, instead of out.
    using Take = std::function<void(std::string_view)>;
    void advance(const Poll&, const Take& take = {});
    void say(std::string_view bytes) { input_ += bytes; }
    void hang_up() { keep_stdin_ = false; feed(); }   // its stdin ends after what has been said
    void stop();                    // SIGTERM, then after the grace SIGKILL; ends as usual

    void lift_limit();              // it may run as long as it likes

    pid_t id() const { return process_.id(); }
    bool timed_out() const { return timed_out_; }
    bool too_much() const { return too_much_; }
    Clock::duration age() const { return (exit ? ended_ : Clock::now()) - started_; }

    std::string out;                // callers may take from it
    std::string err;
    std::optional<Exit> exit;       // set once it is gone and its pipes are drained

private:
    Child() = default;
    void feed();

    Process process_;
    Fd in_, out_, err_;
    std::string input_;
    std::size_t fed_ = 0;   // bytes of input_ that are written
    bool keep_stdin_ = false;
    std::unique_ptr<char[]> large_;   // what a loud one says is read into it
    std::size_t printed_ = 0, max_out_ = 0, max_err_ = 0;   // bytes
    milliseconds grace_{};
    Clock::time_point started_, ended_;
    std::optional<Clock::time_point> deadline_;   // of the next step: SIGTERM at the limit, SIGKILL after the grace
    bool stopping_ = false, timed_out_ = false, too_much_ = false;
};

// Until it has ended; nothing else goes on meanwhile.
void wait_for(Child&);

}
