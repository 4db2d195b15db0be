// redact: text without the secrets that can be seen in it, for logs. Rather too much goes than too little;
// what looks like nothing in particular stays.
#pragma once

#include "base/json.h"

namespace ik {

inline constexpr std::string_view redaction = "[redacted]";

// Tokens by their starts, Authorization headers, values of names that look secret (password=, API_KEY:, --token),
// passwords in URLs and of -u NAME:PASSWORD, PEM blocks, and the known secrets wherever they stand.
std::string redacted(std::string_view text, const std::vector<std::string>& known);

// Every string in it, and the members whose names look secret, whole.
Json redacted_json(const Json& value, const std::vector<std::string>& known);

// The values of our own variables that look secret, and one more, where they are long enough not to be found by chance.
std::vector<std::string> own_secrets(const std::string& more = {});

}
