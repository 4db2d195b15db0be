#include "inquiries.h"

#include "agent/wire.h"
#include "base/child.h"
#include "base/text.h"
#include "base/url.h"
#include "environment.h"
#include "llm/models.h"
#include "mouth.h"
#include "say.h"

#include <algorithm>
#include <cstdio>

namespace ik {
namespace {

std::string padded(std::string text, std::size_t width)
{
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

// What may be said of a declared provider: a header may be a key.
Json sayable(const Json& value)
{
    auto* members = value.as<Json::Object>();
    if (!members)
        return value.as<std::string>() ? Json(without_password(*value.as<std::string>())) : value;
    Json::Object out;
    for (auto& [name, member] : *members) {
        Json said = sayable(member);
        if (name == "headers" && member.as<Json::Object>())
            for (auto& [header, of] : *said.as<Json::Object>()) of = "***";
        out.emplace_back(name, std::move(said));
    }
    return out;
}

struct Said { std::string name; Json value; std::string origin; };

// A row a setting; of an object a row a member.
std::vector<Said> rows(const Settings& settings)
{
    std::vector<Said> out;
    for (auto& setting : settings.all) {
        auto name = std::string(setting.row->key.name);
        auto value = sayable(setting.value);
        auto* members = value.as<Json::Object>();
        if (!members || members->empty())
            out.push_back({name, value, setting.origin});
        else
            for (auto& [member, of] : *members) {
                auto origin = setting.origins.find(member);
                out.push_back({name + "." + member, of, origin == setting.origins.end() ? setting.origin : origin->second});
            }
    }
    return out;
}

std::string dollars(double amount)
{
    char text[32];
    std::snprintf(text, sizeof text, "$%.6g", amount);
    return text;
}

std::string tokens(std::int64_t number)
{
    if (number >= 1'000'000) return std::to_string(number / 1'000'000) + "M";
    return std::to_string(number / 1000) + "k";
}

std::string table(const std::vector<std::string>& names, const Json& prices)
{
    std::size_t widest = 0;
    for (auto& name : names) widest = std::max(widest, name.size());
    std::string out;
    for (auto& name : names) {
        auto& model = providers::model_named(name);
        auto price = providers::price_of(name, prices);
        auto line = padded(name, widest + 2);
        line += padded(model.context ? tokens(model.context) : "", 6);
        if (price) line += dollars(price->in) + " in, " + dollars(price->out) + " out a million tokens";
        out += std::string(line.substr(0, line.find_last_not_of(' ') + 1)) + "\n";
    }
    return harmless(out);
}

Json details(const std::vector<std::string>& names, const Json& prices)
{
    Json::Array out;
    for (auto& name : names) {
        auto one = object({{"name", name}});
        auto& model = providers::model_named(name);
        if (model.context) one.set("context_tokens", model.context);
        if (model.output) one.set("output_tokens", model.output);
        if (auto price = providers::price_of(name, prices))
            one.set("price", object({{"input", price->in}, {"output", price->out}, {"cached", price->cached}}));
        out.push_back(std::move(one));
    }
    return object({{"models", std::move(out)}});
}

}

ProviderWish wish_of(const Settings& settings)
{
    return {.provider = settings.text("provider"), .model = settings.for_provider("model"), .base_url = settings.for_provider("base_url"),
            .declared = settings["providers"].value, .credentials = read_credentials(credentials_path())};
}

std::string without_password(const std::string& address)
{
    auto start = address.find("://");
    auto end = start == address.npos ? start : address.find_first_of("/?#", start + 3);
    auto at = start == address.npos ? start : address.rfind('@', end);
    auto colon = at == address.npos ? at : address.find(':', start + 3);
    return colon < at && at > start ? address.substr(0, colon + 1) + "***" + address.substr(at) : address;
}

std::string config_text(const Settings& settings, bool json)
{
    auto all = rows(settings);
    if (json) {
        Json::Array list, warnings(settings.warnings.begin(), settings.warnings.end()), files(settings.files.begin(), settings.files.end());
        for (auto& [name, value, origin] : all)
            list.push_back(object({{"name", name}, {"value", value}, {"origin", origin}}));
        return object({{"settings", std::move(list)}, {"files", std::move(files)}, {"warnings", std::move(warnings)}}).dump() + "\n";
    }
    std::size_t widest = 0;
    for (auto& row : all) widest = std::max(widest, row.name.size());
    std::string out;
    for (auto& [name, value, origin] : all)
        out += padded(name, widest + 1) + " " + value.dump() + "  (" + origin + ")\n";
    for (auto& warning : settings.warnings)
        out += "warning: " + warning + "\n";
    return harmless(out);
}

Json asked(const ProviderChoice& choice, std::string_view type, const std::string& self)
{
    auto setup = choice.setup();
    setup.set("connect_timeout_ms", 5000);
    setup.set("stream_idle_timeout_ms", 10000);
    auto child = Child::start({.argv = {self, "llm"}, .env = without_secrets(environment()), .input = setup.dump() + "\n" + object({{"type", type}}).dump() + "\n",
                               .limit = std::chrono::seconds(20), .max_out = 16u << 20});
    auto error = [](std::string why) { return object({{"type", "error"}, {"error", std::move(why)}, {"error_code", code::llm_failed}}); };
    if (!child)
        return error(child.error().message);
    wait_for(*child);
    auto out = child->out;
    auto line = take_line(out);
    auto answer = line ? parse_json(*line) : Result<Json>(Json());
    if (answer && !answer->text("type").empty())
        return *answer;
    return error(child->timed_out() ? "no answer within 20 s" : "the model process ended without an answer");
}

int models(const Settings& settings, bool json, const std::string& self)
{
    for (auto& warning : settings.warnings)
        fail(warning, 0);
    auto wish = wish_of(settings);
    if (!wish.credentials.warning.empty())
        fail(wish.credentials.warning, 0);
    if (wish.model.empty())
        wish.model = "any";   // none is needed to ask which there are
    auto choice = choose_provider(wish);
    if (!choice)
        return fail(choice.error().message, 2);
    auto answer = asked(*choice, "models", self);
    auto names = model_names(answer);
    if (!names)
        return fail(std::string(answer.text("error")), answer.text("error_code") == code::auth_missing ? 2 : 1);
    auto& prices = settings["prices"].value;
    return print(json ? details(*names, prices).dump() + "\n" : table(*names, prices));
}

}
