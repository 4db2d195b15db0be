// Terminal: a program on a terminal of its own, with a test at the keys.
#pragma once

#include "base/poll.h"
#include "base/process.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace ik::test {

class Terminal {
public:
    Terminal(const std::vector<std::string>& argv, const std::vector<std::string>& env, const std::string& typed_ahead = "")
        : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC))
    {
        REQUIRE(master_);
        REQUIRE(grantpt(master_.get()) == 0);
        REQUIRE(unlockpt(master_.get()) == 0);
        Fd slave(open(ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
        REQUIRE(slave);
        type(typed_ahead);
        auto program = Process::start({.argv = argv, .env = env, .in = slave.get(), .out = slave.get(), .err = slave.get()});
        REQUIRE(program);
        program_ = std::move(*program);
    }

    void type(const std::string& text) { REQUIRE(write_all(master_.get(), text)); }

    // Everything shown so far, once claim() is true of it; or when the terminal is closed, or after 20 s.
    const std::string& shown_when(const std::function<bool()>& claim)
    {
        auto end = Clock::now() + std::chrono::seconds(20);
        while (!claim() && Clock::now() < end) {
            Poll poll;
            poll.read(master_);
            poll.until(end);
            poll.wait();
            if (!poll.ready(master_)) continue;
            char bytes[4096];
            auto n = read(master_.get(), bytes, sizeof bytes);
            if (n <= 0) break;
            for (char c : std::string_view(bytes, static_cast<std::size_t>(n)))
                if (c != '\r') shown_ += c;
        }
        return shown_;
    }
    const std::string& shown() const { return shown_; }

    void shows(const std::string& text)
    {
        shown_when([&] { return shown_.find(text) != std::string::npos; });
        INFO(shown_);
        CHECK(shown_.find(text) != std::string::npos);
    }

    void signal(int number) { kill(program_.id(), number); }   // it has no controlling terminal: Ctrl+C is only a byte to it

    int status()
    {
        Exit exit;
        REQUIRE(eventually([&] { return program_.reap(exit); }));
        return exit.status();
    }

private:
    Fd master_;
    Process program_;
    std::string shown_;
};

}
