// Provider: one dialect of the model services: how the neutral ask becomes its request, and how
// its stream becomes neutral lines. Pure: no socket, no clock. contracts: ikigai-llm lines.
//
// A new dialect is one file with its decoder class and its request function, the class's name in
// Decoder, and one row in providers.def.
#pragma once

#include "llm/anthropic.h"
#include "llm/google.h"
#include "llm/openai_chat.h"
#include "llm/openai_responses.h"

#include <span>
#include <variant>

namespace ik::providers {

using Decoder = std::variant<Anthropic, Google, OpenAiChat, OpenAiResponses>;

struct Provider {
    std::string_view name;
    std::string_view base_url;                          // the service's own address
    std::string_view base_url_variable;
    std::span<const std::string_view> key_variables;    // the first that is set counts
    HttpRequest (*request)(const Json& ask, const Endpoint&);       // path, headers and body
    Decoder (*decoder)();
    std::string_view models_path;                       // the list of its models: {"data":[{"id"}]} or {"models":[{"name"}]}
    std::vector<Json> (*answer)(const Json& ask);       // instead of a provider without a service: it says all lines itself
};

std::span<const Provider> all();

// `openai` means the dialect that is spoken at base_url (empty: its own address). Null when there is no such provider.
const Provider* find(std::string_view name, std::string_view base_url = {});
std::vector<std::string> names();

}
