// Child: one child process with its three pipes, its limits and its deadline. It is passive:
// the caller polls, then lets it advance. Used for tools, for discovery and for the model alike.
#pragma once

#include "base/poll.h"
#include "base/process.h"

#include <cstdint>

namespace ik {

// Bytes that arrive: in memory while they are few, in a file without a name once they are many.
class Spool {
public:
    explicit Spool(std::size_t in_memory = SIZE_MAX) : in_memory_(in_memory) {}

    void append(std::string_view bytes);
    std::size_t size() const { return size_; }

    // The bytes from offset on, at most size of them.
    std::string read(std::size_t offset, std::size_t size) const;
    std::string all() const { return read(0, size_); }

    std::string memory;   // all of it, unless it is in the file

private:
    std::size_t in_memory_, size_ = 0;
    Fd file_;
};

class Child {
public:
    static constexpr auto grace = std::chrono::seconds(2);   // between SIGTERM and SIGKILL

    struct Options {
        std::vector<std::string> argv;
        std::vector<std::string> env = environment();
        std::string input = {};                      // written to its stdin, which is closed after
        bool keep_stdin = false;                     // leave stdin open: more comes with say()
        bool no_stdin = false;                       // /dev/null
        std::optional<milliseconds> limit = {};      // then it is stopped
        std::size_t max_out = SIZE_MAX;              // more bytes than that on stdout: it is stopped
        std::size_t out_in_memory = SIZE_MAX;        // more than that goes to a file
        std::size_t max_err = 1 << 20;               // what comes after is dropped
    };
    static Result<Child> start(Options);

    void add_to(Poll&) const;
    void advance(const Poll&);      // moves whatever bytes can move, keeps the deadline
    void say(std::string_view bytes) { input_ += bytes; }
    void hang_up() { keep_stdin_ = false; }   // its stdin ends after what has been said
    void stop();                    // SIGTERM, then after the grace SIGKILL; ends as usual

    pid_t id() const { return process_.id(); }
    bool timed_out() const { return timed_out_; }
    bool too_much() const { return too_much_; }
    Clock::duration age() const { return (exit ? ended_ : Clock::now()) - started_; }

    Spool out;                      // callers may take from the front of out.memory
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
    std::size_t max_out_ = 0, max_err_ = 0;
    Clock::time_point started_, ended_;
    std::optional<Clock::time_point> deadline_;   // of the next step: SIGTERM at the limit, SIGKILL after the grace
    bool stopping_ = false, timed_out_ = false, too_much_ = false;
};

}
