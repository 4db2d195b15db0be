#include "provider_choice.h"

#include "base/places.h"
#include "base/text.h"
#include "llm/provider.h"

#include <algorithm>

namespace ik {
namespace {

struct Family { std::string_view start, provider; };
constexpr Family families[] = {
    {"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"chatgpt-", "openai"},
    {"claude-", "anthropic"}, {"gemini-", "google"},
};

struct Default { std::string_view provider, model; };
constexpr Default default_models[] = {
    {"anthropic", "claude-sonnet-4-6"}, {"google", "gemini-2.5-flash"},      {"offline", "offline"},
    {"openai-chat", "gpt-5-mini"},      {"openai-responses", "gpt-5-mini"},
};

// Where no model is named, the first of these that has a key or an address.
constexpr std::string_view preferred[] = {"openai", "anthropic", "google"};

std::string by_model(std::string_view model)
{
    for (auto& family : families)
        if (model.starts_with(family.start))
            return std::string(family.provider);
    return "";
}

bool set_up(const providers::Provider& row)
{
    auto set = [](std::string_view name) { return !name.empty() && !variable(std::string(name).c_str()).empty(); };
    return set(row.base_url_variable) || std::ranges::any_of(row.key_variables, set);
}

std::string by_environment()
{
    auto found = std::ranges::find_if(preferred, [](auto name) { return set_up(*providers::find(name)); });
    return found == std::end(preferred) ? "" : std::string(*found);
}

}

std::string ProviderChoice::setup_line() const
{
    return object({{"type", "setup"}, {"provider", provider}, {"base_url", base_url}, {"key", key}, {"key_source", key_source}}).dump() + "\n";
}

Result<ProviderChoice> choose_provider(std::string_view provider, std::string_view model, std::string_view base_url)
{
    std::string name(provider);
    if (name.empty()) name = by_model(model);
    if (name.empty()) name = base_url.empty() ? by_environment() : "openai";
    if (name.empty())
        return Error{code::usage, "No provider: " + std::string(provider_settings) + ", or use --provider offline"};

    auto address = base_url.empty() ? variable("OPENAI_BASE_URL") : std::string(base_url);   // it decides for openai only
    auto* row = providers::find(name, address);
    if (!row) {
        auto names = providers::names();
        return Error{code::usage, "Unknown provider: " + name + "." + did_you_mean(name, names)};
    }
    ProviderChoice choice{std::string(row->name), std::string(model), std::string(base_url), "", ""};
    if (choice.base_url.empty() && !row->base_url_variable.empty())
        choice.base_url = variable(std::string(row->base_url_variable).c_str());
    bool elsewhere = !choice.base_url.empty() && choice.base_url != row->base_url;
    for (auto name_of_key : row->key_variables)
        if (auto key = variable(std::string(name_of_key).c_str()); !key.empty() && choice.key.empty()) {
            choice.key = key;
            choice.key_source = name_of_key;
        }
    if (choice.model.empty() && !elsewhere)
        if (auto it = std::ranges::find(default_models, row->name, &Default::provider); it != std::end(default_models))
            choice.model = it->model;
    if (choice.model.empty())
        return Error{code::usage, "No model: name one with --model or IKIGAI_MODEL for " + (elsewhere ? choice.base_url : choice.provider)};
    return choice;
}

}
