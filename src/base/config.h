// Config: files of settings as people write them. Knows how to read one and how to complain about it;
// what there is to set comes from above, as a table.
#pragma once

#include "base/json.h"

#include <optional>
#include <span>

namespace ik {

enum class Kind { text, integer, number, boolean, texts, object, size };

struct ConfigKey {
    std::string_view name;
    Kind kind;
    std::string_view words = {};   // "none|low|high": the texts that it may be
    double least = 0;              // of a number
};

struct ConfigValue {
    std::string name;
    Json value;
    std::string origin;   // "FILE:LINE"
};

struct ConfigFile {
    std::string path;
    bool there = false;                   // and used
    std::vector<ConfigValue> values;      // that fit the table
    std::vector<std::string> warnings;    // "FILE:LINE: why"; what they speak of is ignored
    std::map<std::string, int, std::less<>> lines = {};   // of every member

    // "FILE:LINE" of a member, named with dots.
    std::string place(std::string_view member) const;
};

// A size in bytes: 1000000, "64K", "512M", "2G"; powers of 1024.
std::optional<std::uint64_t> size_in(const Json& value);

// A missing file is an empty one; an unreadable or broken one too, with a warning.
ConfigFile read_config(const std::string& path, std::span<const ConfigKey> keys);

// Why value is not what key takes: "must be an integer". Nothing when it fits.
std::optional<std::string> misfit(const ConfigKey& key, const Json& value);

// The text of a variable or an option as the value that key takes. Error: INVALID_ARG, "must be an integer".
Result<Json> value_of(const ConfigKey& key, std::string_view text);

// `unknown key "modle" (did you mean "model"?)`
std::string unknown_key(std::string_view name, std::span<const ConfigKey> keys);

}
