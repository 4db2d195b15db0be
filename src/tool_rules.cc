#include "tool_rules.h"

#include "settings.h"

#include <algorithm>
#include <cstdlib>

namespace ik {
namespace {

struct Amount { std::string_view name; std::uint64_t ToolLimits::*member; };
constexpr Amount amounts[] = {
    {"memory", &ToolLimits::memory}, {"output", &ToolLimits::output}, {"files", &ToolLimits::files},
    {"processes", &ToolLimits::processes}, {"disk", &ToolLimits::disk},
};

struct List { std::string_view name; std::vector<std::string> ToolGrants::*member; };
constexpr List lists[] = {{"env", &ToolGrants::env}, {"read", &ToolGrants::read}};

milliseconds seconds_in(const Json& value)
{
    auto seconds = value.as<double>() ? *value.as<double>() : static_cast<double>(*value.as<std::int64_t>());
    return milliseconds(static_cast<long long>(seconds * 1000));
}

// What is said of a tool by its whole path; mostly nothing is said of any.
const Json* by_path(const Json& named, const std::string& path)
{
    if (std::ranges::none_of(*named.as<Json::Object>(), [](auto& member) { return member.first.starts_with('/'); }))
        return nullptr;
    char* resolved = realpath(path.c_str(), nullptr);
    auto* out = named.find(resolved ? resolved : path);
    std::free(resolved);
    return out;
}

}

ToolRules::ToolRules(const Settings& settings) : named_(settings["tools"].value)
{
    standard_.time = seconds_in(settings["tool_timeout"].value);
}

ToolLimits ToolRules::limits(const Tool& tool) const
{
    auto out = standard_;
    for (auto* rule : {named_.find("*"), named_.find(tool.name), by_path(named_, tool.path)}) {
        if (!rule)
            continue;
        if (auto* time = rule->find("timeout")) out.time = seconds_in(*time);
        for (auto& [member, amount] : amounts)
            if (auto* value = rule->find(member)) out.*amount = size_in(*value).value_or(out.*amount);
    }
    if (time_) out.time = *time_;
    return out;
}

ToolGrants ToolRules::grants(const Tool& tool) const
{
    ToolGrants out;
    auto take = [&](const Json* rule) {
        for (auto& [member, list] : lists)
            if (auto* values = rule ? rule->find(member) : nullptr)
                for (auto& value : *values->as<Json::Array>()) (out.*list).push_back(*value.as<std::string>());
    };
    if (tool.origin != "project") {
        take(named_.find("*"));
        take(named_.find(tool.name));
    }
    take(by_path(named_, tool.path));
    return out;
}

}
