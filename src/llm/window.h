// window: how much of a conversation a server that runs models itself reads, asked from the server.
// Each has its own place for that. Pure but for the questions, which the caller asks.
#pragma once

#include "base/function_ref.h"
#include "base/json.h"

#include <optional>

namespace ik::providers {

// An answer of HTTP 200 that is JSON, or nothing. body: POST where there is one, else GET.
using Question = FunctionRef<std::optional<Json>(const std::string& path, const Json* body)>;

// {"type":"window"} and, where something is known, "server", "context_tokens", "assumed" and "cuts" (ikigai-hacking.7).
// base: the path of the dialect's own address, "/v1".
Json window_line(std::string_view model, std::string_view base, Question);

}
