// provider_choice: which service answers, at what address, with which key. The key is found here and
// goes to `ikigai llm` through its pipe, nowhere else.
#pragma once

#include "base/credentials.h"

#include <span>

namespace ik {

// What to do where nothing is set up.
inline constexpr std::string_view provider_settings = "set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY (or OPENAI_BASE_URL for a local server)";

// What is asked for. Empty words are found out: the provider from the model's name, else from the key that is
// set, else the one that is declared.
struct ProviderWish {
    std::string provider = {}, model = {}, base_url = {};
    Json declared = Json::Object();   // providers, as the configuration has them
    Credentials credentials = {};
};

struct ProviderChoice {
    std::string name;              // as the user says it
    std::string provider;          // the dialect that it speaks
    std::string model, base_url;   // no base_url: the provider's own
    std::string key, key_source;   // where the key came from: a variable, a file, a command
    Json headers = Json::Object();
    bool strict = false;           // its schemas are made strict
    std::int64_t stream_idle_ms = 120'000;

    Json setup() const;            // the first line for `ikigai llm`
};

// The provider's name, as far as it follows from the wish; empty where nothing says which.
std::string chosen_name(const ProviderWish&);

// Error: USAGE with what to set; AUTH_MISSING where a declared key is not there.
Result<ProviderChoice> choose_provider(const ProviderWish&);

// Every variable that a key is read from.
std::vector<std::string> key_variables(const Json& declared);

// The address of a choice: its own, or the provider's.
std::string address_of(const ProviderChoice&);

}
