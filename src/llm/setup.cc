#include "llm/setup.h"

#include "base/places.h"

namespace ik::providers {
namespace {

using std::chrono::milliseconds;

milliseconds time_at(const Json& line, std::string_view name, milliseconds otherwise)
{
    auto ms = number_at(&line, {name});
    return ms > 0 ? milliseconds(ms) : otherwise;
}

}

Setup setup_of(const Json& line)
{
    Setup setup{.provider = std::string(line.text("provider")), .base_url = std::string(line.text("base_url")), .key = std::string(line.text("key")),
                .key_source = std::string(line.text("key_source")), .headers = {}, .limits = {}};
    setup.retry_base = time_at(line, "retry_base_ms", setup.retry_base);
    setup.limits.silence = time_at(line, "stream_idle_timeout_ms", setup.limits.silence);
    setup.limits.connect = time_at(line, "connect_timeout_ms", setup.limits.connect);
    setup.strict = line.find("strict") && *line.find("strict") == Json(true);
    auto* headers = line.find("headers");
    if (headers && headers->as<Json::Object>())
        for (auto& [name, value] : *headers->as<Json::Object>())
            if (auto* text = value.as<std::string>())
                setup.headers.push_back({name, *text});
    return setup;
}

Endpoint endpoint_of(const Provider& row, const std::optional<Setup>& setup)
{
    Endpoint out{.base_url = setup ? setup->base_url : variable(std::string(row.base_url_variable).c_str()), .key = {}, .key_source = {}};
    if (setup) {
        out.key = setup->key;
        out.key_source = setup->key_source;
        out.headers = setup->headers;
        out.strict = setup->strict;
    }
    for (auto name : row.key_variables)
        if (!setup && out.key.empty()) {
            out.key = variable(std::string(name).c_str());
            out.key_source = out.key.empty() ? "" : name;
        }
    if (out.base_url.empty())
        out.base_url = row.base_url;
    while (out.base_url.ends_with('/'))
        out.base_url.pop_back();
    return out;
}

Status check_key(const Provider& row, const Endpoint& endpoint, const Url& url)
{
    auto own = parse_url(row.base_url);
    if (!endpoint.key.empty() || !own || own->host != url.host)
        return Done{};
    return Error{code::auth_missing, "No key for " + std::string(row.name) + ": set " + std::string(row.key_variables.front()) + " (or " +
                                         std::string(row.base_url_variable) + " for a server that needs none)"};
}

}
