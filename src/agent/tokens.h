// tokens: how much of a model's window something takes, as far as that can be told without the
// model's own way of counting. An estimate, for the time between two figures of the service.
#pragma once

#include "base/json.h"

#include <span>

namespace ik {

// Of a text, a message or a list of tools, with the little that a service adds around each: a quarter of the
// bytes of ASCII, a third of the others.
std::int64_t estimated_tokens(const Json& value);
std::int64_t estimated_tokens(std::span<const Json> messages);
inline std::int64_t estimated_tokens(const Json::Array& messages) { return estimated_tokens(std::span<const Json>(messages)); }

}
