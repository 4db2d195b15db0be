#include "llm/window.h"

#include "base/text.h"
#include "llm/dialect.h"

#include <algorithm>
#include <charconv>

namespace ik::providers {
namespace {

constexpr std::int64_t usual_of_ollama = 4096;

struct Known { std::int64_t tokens = 0; bool assumed = false; };

// Its entry in a list of models.
const Json* entry(const Json& list, std::string_view member, std::string_view name, std::string_view model)
{
    auto& all = list_at(list, member);
    auto found = std::ranges::find_if(all, [&](auto& one) { return one.text(name) == model || one.text(name) == std::string(model) + ":latest"; });
    return found == all.end() ? nullptr : &*found;
}

// "num_ctx    8192" among the lines of a model's parameters.
std::int64_t num_ctx(std::string_view parameters)
{
    for (auto line : split(parameters, '\n')) {
        line = trim(line);
        if (!line.starts_with("num_ctx"))
            continue;
        auto text = trim(line.substr(7));
        std::int64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }
    return 0;
}

std::int64_t context_length(const Json& shown)
{
    auto* info = shown.find("model_info");
    if (auto* members = info ? info->as<Json::Object>() : nullptr)
        for (auto& [name, value] : *members)
            if (name.ends_with(".context_length") && value.as<std::int64_t>()) return *value.as<std::int64_t>();
    return 0;
}

// A loaded model's is what counts; of others the one that its parameters set, else the server's usual one. Never more than
// the model can.
Known ollama(std::string_view model, const std::string& root, Question ask)
{
    auto name = object({{"model", model}});
    auto shown = ask(root + "/api/show", &name);
    if (!shown || !shown->find("model_info"))
        return {};
    auto running = ask(root + "/api/ps", nullptr);
    auto* loaded = running ? entry(*running, "models", "name", model) : nullptr;
    if (auto tokens = number_at(loaded, {"context_length"}); tokens > 0)
        return {tokens};
    auto set = num_ctx(shown->text("parameters"));
    auto most = context_length(*shown);
    auto tokens = set > 0 ? set : usual_of_ollama;
    return {most > 0 ? std::min(tokens, most) : tokens, set <= 0 && (most == 0 || most > usual_of_ollama)};
}

Known llama_server(std::string_view, const std::string& root, Question ask)
{
    auto props = ask(root + "/props", nullptr);
    return {props ? number_at(&*props, {"default_generation_settings", "n_ctx"}) : 0};
}

Known lm_studio(std::string_view model, const std::string& root, Question ask)
{
    auto list = ask(root + "/api/v0/models", nullptr);
    auto* one = list ? entry(*list, "data", "id", model) : nullptr;
    return {number_at(one, {"loaded_context_length"})};
}

struct Server {
    std::string_view name, owner;   // what its list says that models are owned_by
    bool cuts;
    Known (*ask)(std::string_view model, const std::string& root, Question);
};
constexpr Server servers[] = {
    {"Ollama", "library", true, ollama},
    {"llama-server", "llamacpp", false, llama_server},
    {"LM Studio", "organization_owner", false, lm_studio},
};

Json line(std::string_view server, Known known, bool cuts)
{
    auto out = object({{"type", "window"}, {"server", server}, {"context_tokens", known.tokens}});
    if (known.assumed) out.set("assumed", true);
    if (cuts) out.set("cuts", true);
    return out;
}

}

Json window_line(std::string_view model, std::string_view base, Question ask)
{
    auto none = object({{"type", "window"}});
    auto list = ask(std::string(base) + "/models", nullptr);
    auto* one = list ? entry(*list, "data", "id", model) : nullptr;
    if (auto tokens = number_at(one, {"max_model_len"}); tokens > 0)
        return line("vLLM", {tokens}, false);
    if (!list)
        return none;
    auto root = std::string(base.ends_with("/v1") ? base.substr(0, base.size() - 3) : base);
    auto& all = list_at(*list, "data");
    auto owner = one ? one->text("owned_by") : all.empty() ? "" : all.front().text("owned_by");
    bool named = std::ranges::find(servers, owner, &Server::owner) != std::end(servers);
    for (auto& server : servers)
        if (!named || owner == server.owner)
            if (auto known = server.ask(model, root, ask); known.tokens > 0)
                return line(server.name, known, server.cuts);
    return none;
}

}
