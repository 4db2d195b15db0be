#include "start.h"

#include "base/text.h"
#include "environment.h"
#include "inquiries.h"
#include "local_server.h"
#include "rules.h"
#include "say.h"
#include "redact.h"
#include "supervise.h"

#include <unistd.h>

namespace ik {
namespace {

// A server on this machine that the person at the terminal says yes to.
std::optional<LocalServer> local_server_by_consent()
{
    if (!isatty(0) || !isatty(2))
        return {};
    for (auto& server : local_servers()) {
        write_all(2, server.name + " answers at " + server.base_url + " (model " + harmless(server.model) + "). Use it? [Y/n] ");
        std::string answer(256, '\0');
        auto n = read_some(0, answer.data(), answer.size());
        auto said = lower(trim(answer.substr(0, n > 0 ? static_cast<std::size_t>(n) : 0)));
        if (n > 0 && (said.empty() || said.starts_with('y')))
            return server;
    }
    return {};
}

milliseconds time_of(const Settings& settings, std::string_view name)
{
    return milliseconds(static_cast<long long>(settings.number(name) * 1000));
}

void apply(const Settings& settings, ChatOptions& options)
{
    if (auto text = settings.text("system"); !text.empty())
        options.system = text;
    options.thinking = settings.text("thinking");
    options.max_turns = static_cast<std::int64_t>(settings.number("max_turns"));
    options.max_tokens = static_cast<std::int64_t>(settings.number("max_tokens"));
    for (auto& name : settings.texts("only_tools"))
        options.only_tools.push_back(replace(name, '-', '_'));
    options.rules = ToolRules(settings);
    options.window = static_cast<std::int64_t>(settings.number("context_window"));
    options.compact = settings.claim("compact");
    options.silence = std::max(options.silence, time_of(settings, "stream_idle_timeout") + std::chrono::seconds(60));
    options.audit = audit_to(settings.text("audit"));
    if (auto timeout = time_of(settings, "timeout"); timeout.count() > 0)
        options.timeout = timeout;
}

// Where nobody is named and a person is there: a server of this machine, else the built-in provider.
Result<ProviderChoice> choice_of_person()
{
    if (auto server = local_server_by_consent())
        return choose_provider({.provider = "openai", .model = server->model, .base_url = server->base_url});
    write_all(2, "No model is set up: the built-in offline provider answers. To change that, " + std::string(provider_settings) + ".\n");
    return choose_provider({.provider = "offline"});
}

}

SandboxWish sandbox_of(const Settings& settings)
{
    return {.mode = *sandbox_mode(settings.text("sandbox")), .protect = settings.texts("sandbox_protect"), .unix_sockets = settings.texts("sandbox_unix_sockets")};
}

int start_chat(ChatOptions options, const Settings& settings, const World& world)
{
    auto wish = wish_of(settings);
    for (auto& warning : settings.warnings) warn(warning);
    if (!wish.credentials.warning.empty())
        warn(wish.credentials.warning);
    options.sandbox = sandbox_of(settings);
    auto rules = read_rules(settings, {.can_sandbox = options.sandbox.mode == SandboxMode::off || !no_sandbox()});
    if (!rules) {
        warn(rules.error().message);
        return 2;
    }
    for (auto& warning : rules->warnings) warn(warning);
    if (auto bound = sandbox_mode(rules->sandbox)) options.sandbox.mode = tighter(options.sandbox.mode, *bound);
    options.policy = std::move(rules->policy);
    bool nothing_allowed = options.policy.allow.empty();
    if (auto why = options.print && nothing_allowed && options.sandbox.mode != SandboxMode::off ? no_sandbox() : std::nullopt) {
        warn("tools cannot be sandboxed: " + *why + ". With --sandbox off they run without.");
        return 2;
    }
    auto choice = options.print || !chosen_name(wish).empty() ? choose_provider(wish) : choice_of_person();
    if (!choice) {
        warn(choice.error().message);
        return 2;
    }
    choice->stream_idle_ms = time_of(settings, "stream_idle_timeout").count();
    apply(settings, options);
    options.provider = choice->provider;
    options.model = choice->model;
    if (options.window == 0) {
        options.window = providers::model_named(choice->model).context;
        options.ask_window = choice->provider == "openai-chat" && address_of(*choice).starts_with("http:");   // one of ours: it may tell
    }
    options.prices = settings["prices"].value;
    options.price = providers::price_of(choice->model, settings["prices"].value);
    options.setup = choice->setup().dump();
    if (options.audit != Audit::To::nowhere)
        options.secrets = own_secrets(choice->key);
    forget(key_variables(wish.declared));
    supervise();
    return chat(options, world);
}

}
