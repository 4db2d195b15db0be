// Answer: the one JSON object that an applet prints, written while it grows, so that a
// file of any size passes through in little memory.
#pragma once

#include "base/json.h"

namespace ik {

class Answer {
public:
    // To a descriptor; without one everything is collected for take().
    explicit Answer(int fd = -1) : fd_(fd) {}

    // {"error":…,"error_code":…} as members, with a hint where there is one. What was open
    // is closed first: the object stays whole.
    void fail(const Error&);

    void member(std::string_view name, const Json& value);

    void open_text(std::string_view name);   // a string member that grows with text()
    void text(std::string_view bytes);       // cut anywhere, also inside a character
    void close_text();

    void end();                              // closes the object; writes out what is left
    std::string take() { return std::move(buffer_); }

    bool begun() const { return begun_; }
    bool lost() const { return lost_; }      // the reader has gone, or its disk is full

private:
    void name(std::string_view);
    void flush_when(std::size_t size);

    int fd_;
    std::string buffer_, partial_;           // partial_: the begun character at the end of the open text
    bool begun_ = false, text_open_ = false, lost_ = false;
};

}
