// shorten: a tool's output as JSON, in little memory whatever its size.
#pragma once

#include "agent/wire.h"
#include "outbox.h"

namespace ik {

// More bytes than this, as written in the JSON, make a string long.
inline constexpr std::size_t long_string = 64 << 10;

// A tool's stdout as JSON. Long strings are kept whole in the outbox and stand in the answer
// with their two ends.
Output read_output(const Spool& out, const Outbox&);

}
