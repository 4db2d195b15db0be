#include "provider_choice.h"

#include "base/child.h"
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

constexpr auto key_command_limit = std::chrono::seconds(10);

// Where no model is named, the first of these that has a key or an address.
constexpr std::string_view preferred[] = {"openai", "anthropic", "google"};

std::string by_model(std::string_view model)
{
    for (auto& family : families)
        if (model.starts_with(family.start))
            return std::string(family.provider);
    return "";
}

struct Key { std::string text, source; };

Key key_of_variable(std::string_view name)
{
    auto text = name.empty() ? "" : variable(std::string(name).c_str());
    return text.empty() ? Key{} : Key{text, std::string(name)};
}

// The name that the dialects of one service have in the file of keys.
std::string_view service_of(const providers::Provider& row) { return row.name.starts_with("openai") ? "openai" : row.name; }

Key key_of_row(const providers::Provider& row, const Credentials& credentials)
{
    for (auto name : row.key_variables)
        if (auto key = key_of_variable(name); !key.text.empty())
            return key;
    for (auto name : row.key_variables)
        if (auto text = credentials.at({name}); !text.empty())
            return {text, credentials.path};
    auto text = credentials.at({service_of(row), "api_key"});
    return text.empty() ? Key{} : Key{text, credentials.path};
}

std::string by_key(const Credentials& credentials)
{
    auto found = std::ranges::find_if(preferred, [&](auto name) {
        auto& row = *providers::find(name);
        return !variable(std::string(row.base_url_variable).c_str()).empty() || !key_of_row(row, credentials).text.empty();
    });
    return found == std::end(preferred) ? "" : std::string(*found);
}

std::string only_one(const Json& declared)
{
    auto& all = *declared.as<Json::Object>();
    return all.size() == 1 ? all.front().first : "";
}

// The first line that the command prints. It may need its user's whole environment, but gets no terminal.
Result<std::string> key_of_command(const std::string& command, const std::string& provider)
{
    auto who = "The key_command of the provider " + provider;
    auto child = Child::start({.argv = {"/bin/sh", "-c", command}, .no_stdin = true, .limit = key_command_limit, .max_out = 65536});
    if (!child)
        return Error{code::auth_missing, who + " cannot be started: " + child.error().message};
    wait_for(*child);
    auto text = clean_utf8(child->err);
    auto said = trim(text);
    auto words = said.empty() ? "" : ": " + std::string(utf8_prefix(said.substr(0, said.find('\n')), 200));
    if (child->timed_out())
        return Error{code::auth_missing, who + " took longer than 10 s" + words};
    if (child->exit->status() != 0)
        return Error{code::auth_missing, who + " failed (exit " + std::to_string(child->exit->status()) + ")" + words};
    auto out = child->out;
    auto key = std::string(trim(std::string_view(out).substr(0, out.find('\n'))));
    if (key.empty())
        return Error{code::auth_missing, who + " printed no key" + words};
    return key;
}

Result<Key> key_of_declared(const std::string& name, const Json& declared, const Credentials& credentials)
{
    auto named = declared.text("key_variable"), command = declared.text("key_command");
    if (auto key = key_of_variable(named); !key.text.empty())
        return key;
    if (auto text = credentials.at({"providers", name, "api_key"}); !text.empty())
        return Key{text, credentials.path};
    if (!command.empty()) {
        auto text = key_of_command(std::string(command), name);
        return text ? Result(Key{*text, "the key_command of " + name}) : text.error();
    }
    if (!named.empty())
        return Error{code::auth_missing, "No key for " + name + ": set " + std::string(named)};
    return Key{};
}

// What the address decides: a model that is only known to be there, and whose key may go there.
bool own_address(const providers::Provider& row, std::string_view base_url) { return base_url.empty() || base_url == row.base_url; }

std::string default_model(const providers::Provider& row)
{
    auto it = std::ranges::find(default_models, row.name, &Default::provider);
    return it == std::end(default_models) ? "" : std::string(it->model);
}

std::string first_of(std::string_view a, std::string_view b) { return std::string(a.empty() ? b : a); }

}

Json ProviderChoice::setup() const
{
    auto line = object({{"type", "setup"}, {"provider", provider}, {"base_url", base_url}, {"key", key}, {"key_source", key_source},
                        {"stream_idle_timeout_ms", stream_idle_ms}});
    if (!headers.as<Json::Object>()->empty()) line.set("headers", headers);
    if (strict) line.set("strict", true);
    return line;
}

std::string chosen_name(const ProviderWish& wish)
{
    if (!wish.provider.empty()) return wish.provider;
    if (auto name = by_model(wish.model); !name.empty()) return name;
    if (!wish.base_url.empty()) return "openai";
    auto name = by_key(wish.credentials);
    return name.empty() ? only_one(wish.declared) : name;
}

Result<ProviderChoice> choose_provider(const ProviderWish& wish)
{
    auto name = chosen_name(wish);
    if (name.empty())
        return Error{code::usage, "No provider: " + std::string(provider_settings) + ", or use --provider offline"};

    auto built_in = providers::names();
    bool is_built_in = std::ranges::find(built_in, name) != built_in.end();
    auto* found = wish.declared.find(name);
    const Json declared = found ? *found : Json(Json::Object());
    auto dialect = first_of(declared.text("dialect"), is_built_in || !found ? name : "openai-chat");
    auto base_url = first_of(wish.base_url, declared.text("base_url"));
    auto* row = providers::find(dialect, base_url.empty() && is_built_in ? variable("OPENAI_BASE_URL") : base_url);   // it decides for openai only
    if (!row) {
        for (auto& [other, of] : *wish.declared.as<Json::Object>()) built_in.push_back(other);
        return Error{code::usage, "Unknown provider: " + name + "." + did_you_mean(name, built_in)};
    }
    if (base_url.empty() && is_built_in && !row->base_url_variable.empty())
        base_url = variable(std::string(row->base_url_variable).c_str());

    auto key = key_of_declared(name, declared, wish.credentials);
    if (!key)
        return key.error();
    if (key->text.empty() && (is_built_in || own_address(*row, base_url)))
        *key = key_of_row(*row, wish.credentials);
    ProviderChoice choice{.name = name, .provider = std::string(row->name), .model = first_of(wish.model, declared.text("model")),
                          .base_url = base_url, .key = key->text, .key_source = key->source};
    if (auto* headers = declared.find("headers")) choice.headers = *headers;
    if (auto* strict = declared.find("strict")) choice.strict = *strict == Json(true);
    if (choice.model.empty() && own_address(*row, base_url))
        choice.model = default_model(*row);
    if (choice.model.empty())
        return Error{code::usage, "No model: name one with --model or IKIGAI_MODEL for " + first_of(base_url, name)};
    return choice;
}

std::vector<std::string> key_variables(const Json& declared)
{
    std::vector<std::string> out;
    for (auto& row : providers::all())
        out.insert(out.end(), row.key_variables.begin(), row.key_variables.end());
    for (auto& [name, of] : *declared.as<Json::Object>())
        if (auto variable = of.text("key_variable"); !variable.empty())
            out.emplace_back(variable);
    return out;
}

std::string address_of(const ProviderChoice& choice)
{
    auto* row = providers::find(choice.provider, choice.base_url);
    return first_of(choice.base_url, row ? row->base_url : "");
}

}
