// Json: a JSON value with value semantics. Objects keep their order.
// RapidJSON's only door: nothing else in ikigai sees it.
#pragma once

#include "base/result.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ik {

class Json {
public:
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;
    using Value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

    Json(std::nullptr_t = nullptr) {}
    Json(bool value) : value_(value) {}
    Json(std::integral auto value) : value_(static_cast<std::int64_t>(value)) {}
    Json(double value) : value_(value) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(std::string_view value) : value_(std::string(value)) {}
    Json(std::string value) : value_(std::move(value)) {}
    Json(Array value) : value_(std::move(value)) {}
    Json(Object value) : value_(std::move(value)) {}

    template <class T> const T* as() const { return std::get_if<T>(&value_); }
    template <class T> T* as() { return std::get_if<T>(&value_); }
    const Value& value() const { return value_; }
    bool null() const { return as<std::nullptr_t>(); }

    // The member called name; null when this is no object or has no such member.
    const Json* find(std::string_view name) const;
    Json* find(std::string_view name);

    // The string member called name; empty when there is none.
    std::string_view text(std::string_view name) const;

    // Replaces the member called name, or appends it. This must be an object.
    void set(std::string_view name, Json value);

    // One line. Bytes that are not UTF-8 become U+FFFD.
    std::string dump() const;

    friend bool operator==(const Json&, const Json&) = default;

private:
    Value value_;
};

inline Json object(std::initializer_list<Json::Member> members) { return Json::Object(members); }

// Nesting deeper than this is refused: a value is walked recursively.
inline constexpr int max_json_depth = 256;

// One JSON value and nothing behind it but white space (and NUL padding is an error).
// Error: INVALID_ARG, "Invalid JSON: why".
Result<Json> parse_json(std::string_view text);
Result<Json> parse_json_in_place(std::string text);   // without a copy of a text that may be long

// JSON as people write it: with // and /* */ comments, and a comma behind the last of a list.
struct Written {
    Json value;
    std::map<std::string, int, std::less<>> lines;   // of each member, named with dots: "providers.work.model"
};

// Error: INVALID_ARG; the message is "LINE: why".
Result<Written> parse_written(std::string_view text);

// Whether the spool holds one JSON value, without building it.
class Spool;
Status check_json(const Spool&);

// Whether value fits schema (JSON Schema draft 4, without `pattern`, `format` and `$ref`).
// The Error's message has no tool name in front: "missing required parameter: command",
// "parameter limit must be an integer".
Status validate(const Json& schema, const Json& value);

// Appends bytes as the inside of a JSON string, quotes not included. Bytes that are not
// UTF-8 become U+FFFD.
void append_escaped(std::string& out, std::string_view bytes);

// The number of bytes at the start that the inside of a JSON string has as they are: up to a quote, a backslash
// or a control character. Whether they are UTF-8 is not looked at.
std::size_t verbatim_prefix(std::string_view bytes);

// The same, copied. What is behind it in `to` is overwritten, too: room for all the bytes and some more is wanted.
inline constexpr std::size_t verbatim_slack = 16;
std::size_t copy_verbatim(char* to, std::string_view bytes);

std::string json_library_version();

}
