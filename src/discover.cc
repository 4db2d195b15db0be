#include "discover.h"

#include "agent/context.h"
#include "base/text.h"
#include "llm/provider.h"
#include "mouth.h"
#include "say.h"

namespace ik {
namespace {

std::string as_json(const Registry& registry)
{
    Json::Array tools, skipped;
    for (auto& tool : registry.tools())
        tools.push_back(object({{"name", tool.name}, {"path", tool.path}, {"origin", tool.origin}, {"schema", tool.schema}}));
    for (auto& each : registry.skipped())
        skipped.push_back(object({{"path", each.path}, {"reason", each.reason}}));
    return object({{"tools", tools}, {"skipped", skipped}}).dump() + "\n";
}

std::string for_people(const Registry& registry)
{
    std::string out;
    for (auto& tool : registry.tools()) {
        auto name = tool.name;
        name.resize(std::max<std::size_t>(name.size(), 18), ' ');
        out += name + " " + harmless(tool.schema.text("description")) + "  (" + tool.origin + ")\n";
    }
    return out.empty() ? "No tools available\n" : out;
}

// What stands under "tools" in a request of that provider; an empty array where nothing would.
std::string as_offered(const Registry& registry, const providers::Provider& provider)
{
    auto ask = object({{"type", "ask"}, {"model", "any"}, {"messages", Json::Array{object({{"role", "user"}, {"text", "any"}})}},
                       {"tools", offered_tools(registry.tools())}});
    auto body = parse_json(provider.request(ask, {std::string(provider.base_url), "", ""}).body);
    auto* tools = body ? body->find("tools") : nullptr;
    return (tools ? *tools : Json(Json::Array{})).dump() + "\n";
}

}

Registry tools_found(const World& world, bool trust, Registry::Confine confine)
{
    Registry registry;
    registry.start(tool_places(world, trust, std::move(confine)));
    while (!registry.settled()) {
        Poll poll;
        registry.add_to(poll);
        poll.wait();
        registry.advance(poll);
    }
    return registry;
}

int discover(bool json, const std::string& dialect, const ProjectTrust& project, const World& world)
{
    auto* provider = providers::find(dialect);
    if (!dialect.empty() && (!provider || !provider->request)) {
        auto names = providers::names();
        write_all(2, "ikigai: no provider offers tools as " + dialect + "." + did_you_mean(dialect, names) + "\n");
        return 2;
    }
    if (auto line = project.line(); !line.empty())
        write_all(2, "ikigai: " + harmless(line) + "\n");
    auto registry = tools_found(world, project.trusted());
    if (registry.state() == Registry::State::failed)
        write_all(2, "ikigai: some tools could not be looked for: " + registry.failure() + "\n");
    if (!dialect.empty())
        return print(as_offered(registry, *provider));
    if (json)
        return print(as_json(registry));
    for (auto& each : registry.skipped())
        write_all(2, harmless(each.line()) + "\n");
    return print(for_people(registry));
}

}
