#include "llm/provider.h"

#include "llm/offline.h"

#include <algorithm>

namespace ik::providers {
namespace {

constexpr std::string_view anthropic_keys[] = {"ANTHROPIC_API_KEY"};
constexpr std::string_view google_keys[] = {"GEMINI_API_KEY", "GOOGLE_API_KEY"};
constexpr std::string_view openai_keys[] = {"OPENAI_API_KEY"};
constexpr std::span<const std::string_view> no_keys;

template <class Dialect>
Decoder decoder_of() { return Dialect(); }

constexpr Provider table[] = {
#define PROVIDER(name, base_url, variable, keys, request, decoder, models, answer) {name, base_url, variable, keys, request, decoder, models, answer},
#include "llm/providers.def"
#undef PROVIDER
};

// Everybody but OpenAI itself speaks its older dialect, and some the newer one too.
std::string_view openai_at(std::string_view base_url)
{
    auto url = parse_url(base_url);
    return base_url.empty() || (url && url->host == "api.openai.com") ? "openai-responses" : "openai-chat";
}

}

std::span<const Provider> all() { return table; }

const Provider* find(std::string_view name, std::string_view base_url)
{
    if (name == "openai")
        name = openai_at(base_url);
    auto* row = std::ranges::find(table, name, &Provider::name);
    return row == std::end(table) ? nullptr : row;
}

std::vector<std::string> names()
{
    std::vector<std::string> out{"openai"};
    for (auto& row : table) out.emplace_back(row.name);
    return out;
}

}
