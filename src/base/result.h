// Result<T>: a value or the Error that explains why there is none.
// Same spelling as std::expected where they meet, so C++23 is a one-line swap.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace ik {

struct Error {
    std::string_view code;   // one of ik::code, sent on the wire as "error_code"
    std::string message;     // one sentence for a person or a model
    std::string hint = {};   // what would help the caller, when something is known; sent as "hint"

    friend bool operator==(const Error&, const Error&) = default;
};

// The codes of ikigai-tools(7).
namespace code {
// what a tool reports
inline constexpr std::string_view invalid_arg = "INVALID_ARG";
inline constexpr std::string_view file_not_found = "FILE_NOT_FOUND";
inline constexpr std::string_view permission_denied = "PERMISSION_DENIED";
inline constexpr std::string_view open_failed = "OPEN_FAILED";
inline constexpr std::string_view read_failed = "READ_FAILED";
inline constexpr std::string_view write_failed = "WRITE_FAILED";
inline constexpr std::string_view no_space = "NO_SPACE";
inline constexpr std::string_view not_found = "NOT_FOUND";
inline constexpr std::string_view not_unique = "NOT_UNIQUE";
inline constexpr std::string_view invalid_pattern = "INVALID_PATTERN";
inline constexpr std::string_view out_of_memory = "OUT_OF_MEMORY";
inline constexpr std::string_view read_error = "READ_ERROR";
inline constexpr std::string_view invalid_url = "INVALID_URL";
inline constexpr std::string_view http_error = "HTTP_ERROR";
inline constexpr std::string_view parse_error = "PARSE_ERROR";
inline constexpr std::string_view unsupported_type = "UNSUPPORTED_TYPE";
inline constexpr std::string_view blocked_address = "BLOCKED_ADDRESS";
// what the host reports of a tool
inline constexpr std::string_view tool_timeout = "TOOL_TIMEOUT";
inline constexpr std::string_view tool_crashed = "TOOL_CRASHED";
inline constexpr std::string_view tool_not_found = "TOOL_NOT_FOUND";
inline constexpr std::string_view tool_denied = "TOOL_DENIED";
inline constexpr std::string_view tool_cancelled = "TOOL_CANCELLED";
inline constexpr std::string_view tool_repeated = "TOOL_REPEATED";
inline constexpr std::string_view tool_output_limit = "TOOL_OUTPUT_LIMIT";
inline constexpr std::string_view tool_memory_limit = "TOOL_MEMORY_LIMIT";
inline constexpr std::string_view tool_process_limit = "TOOL_PROCESS_LIMIT";
inline constexpr std::string_view invalid_output = "INVALID_OUTPUT";
inline constexpr std::string_view invalid_params = "INVALID_PARAMS";
// what the model's side reports
inline constexpr std::string_view usage = "USAGE";
inline constexpr std::string_view auth_missing = "AUTH_MISSING";
inline constexpr std::string_view auth_invalid = "AUTH_INVALID";
inline constexpr std::string_view rate_limit = "RATE_LIMIT";
inline constexpr std::string_view network_error = "NETWORK_ERROR";
inline constexpr std::string_view api_error = "API_ERROR";
inline constexpr std::string_view context_overflow = "CONTEXT_OVERFLOW";
inline constexpr std::string_view timeout = "TIMEOUT";
inline constexpr std::string_view max_turns = "MAX_TURNS";
inline constexpr std::string_view llm_failed = "LLM_FAILED";
// what the store reports
inline constexpr std::string_view store_corrupt = "STORE_CORRUPT";
inline constexpr std::string_view store_newer = "STORE_NEWER";
inline constexpr std::string_view store_busy = "STORE_BUSY";
// what the system refused
inline constexpr std::string_view spawn_failed = "SPAWN_FAILED";
}

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : either_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : either_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return either_.index() == 0; }

    T& operator*() & { return std::get<0>(either_); }
    const T& operator*() const& { return std::get<0>(either_); }
    T&& operator*() && { return std::get<0>(std::move(either_)); }
    T* operator->() { return &std::get<0>(either_); }
    const T* operator->() const { return &std::get<0>(either_); }

    const Error& error() const { return std::get<1>(either_); }

private:
    std::variant<T, Error> either_;
};

struct Done {};
using Status = Result<Done>;

}
