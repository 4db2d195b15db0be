// What is known of models: how much they read and write, how they are told to think, what a million
// tokens costs. One table, matched by how a name begins; nothing here is asked of a service.
#pragma once

#include "base/json.h"

#include <optional>

namespace ik::providers {

enum class Thinking {
    none,              // it does not, and asking for it is an error
    effort,            // OpenAI: a word
    budget,            // Anthropic to 4.5, Gemini 2.5: a number of tokens
    adaptive,          // Anthropic 4.6: as much as it likes, within an effort
    adaptive_hidden,   // Anthropic since: the same, and its words are sent only on request
    level,             // Gemini 3: a word
};

struct Model {
    std::string_view start;             // of its name
    std::int64_t context, output;       // tokens; 0: not known
    Thinking thinking;
    double in, out, cached;             // US dollars a million tokens; 0: not known
};

// The row that fits the name best; "owner/name" counts as "name". Never fails: the last resort is a
// row with nothing known, or with the thinking that the newest models of the maker have.
const Model& model_named(std::string_view name);

struct Price { double in, out, cached; };   // US dollars a million tokens

// What the model costs: as configured, {"START": {"input", "output", "cached"}}, the longest start that fits, else
// as the table says. Nothing where it is not known. Without a price of their own cached tokens cost as others do.
std::optional<Price> price_of(std::string_view name, const Json& configured);

}
