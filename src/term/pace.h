// Pace: when the next frame is due: at once after a pause, else a sixtieth of a second after the one before it.
// Where nothing is different no frame is due, and nobody wakes. Frames that are costly come less often, so that they
// take an eighth of the time at most.
#pragma once

#include "base/poll.h"

#include <optional>

namespace ik::term {

class Pace {
public:
    static constexpr auto interval = std::chrono::microseconds(16'667);

    void want(Clock::time_point now)   // something is different
    {
        if (!due_) due_ = std::max(now, last_ + rest_);
    }

    // For Poll::until.
    std::optional<Clock::time_point> due() const { return due_; }

    // Whether to make a frame now; then it counts as made.
    bool take(Clock::time_point now)
    {
        if (!due_ || now < *due_)
            return false;
        due_.reset();
        last_ = now;
        return true;
    }

    // What the frame took.
    void took(Clock::duration cost) { rest_ = std::max<Clock::duration>(interval, 8 * cost); }

private:
    std::optional<Clock::time_point> due_;
    Clock::time_point last_{};
    Clock::duration rest_ = interval;
};

}
