// Printed: what a tool prints on its stdout, in little memory whatever its size. While it arrives it is taken for JSON
// with long strings; when it has ended it can be read as an answer, or kept as it was.
#pragma once

#include "agent/wire.h"
#include "shorten.h"

namespace ik {

class Printed {
public:
    explicit Printed(Outbox outbox) : outbox_(std::move(outbox)) {}

    void append(std::string_view bytes);
    std::size_t size() const { return size_; }
    bool is_long() const { return shortener_.has_value(); }
    std::string end(std::size_t most) const;   // its last bytes, at most 32 KB of them where it is long
    int failure() const { return shortener_ ? shortener_->text().failure : 0; }   // errno of a write that lost bytes: a full disk

    // All of it as JSON, once. Long strings are whole in the outbox and stand in the answer with their two ends.
    Output read();

    // All of it in the member's file of the outbox, as it was printed: the long strings have no files of their own
    // any more. The path. Error: WRITE_FAILED.
    Result<std::string> keep(std::string_view member);
    void discard();   // the files of the long strings

    const Outbox& outbox() const { return outbox_; }

private:
    Outbox outbox_;
    std::size_t size_ = 0;
    std::string memory_;     // all of it, while it is short
    Ends ends_;              // and what there is of it when it is long
    std::optional<Shortener> shortener_;
};

}
