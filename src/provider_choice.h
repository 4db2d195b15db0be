// provider_choice: which service answers, at what address, with which key. The key is read here and
// goes to `ikigai llm` through its pipe, nowhere else.
#pragma once

#include "base/json.h"

#include <span>

namespace ik {

// What to do where nothing is set up.
inline constexpr std::string_view provider_settings = "set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY (or OPENAI_BASE_URL for a local server)";

struct ProviderChoice {
    std::string provider, model, base_url;
    std::string key, key_source;   // where the key came from: a variable's name

    std::string setup_line() const;   // the first line for `ikigai llm`
};

// Empty words are found out: the provider from the model's name, else from the key that is set.
// Error: USAGE with what to set, AUTH_MISSING.
Result<ProviderChoice> choose_provider(std::string_view provider, std::string_view model, std::string_view base_url);

}
