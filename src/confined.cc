#include "confined.h"

#include "base/credentials.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>

namespace ik {
namespace {

// Calls take with every text in json, until it says yes.
bool any_text(const Json& json, const auto& take)
{
    if (auto* text = json.as<std::string>())
        return take(*text);
    if (auto* array = json.as<Json::Array>())
        return std::ranges::any_of(*array, [&](auto& item) { return any_text(item, take); });
    auto* object = json.as<Json::Object>();
    return object && std::ranges::any_of(*object, [&](auto& member) { return any_text(member.second, take); });
}

}

std::vector<std::string> readable_files(const Tool& tool, const ToolGrants& grants)
{
    auto out = grants.read;
    std::error_code failed;
    bool searches = tool.name == "web_search_brave" || tool.name == "web_search_google";
    if (searches && std::filesystem::equivalent(tool.argv[0], "/proc/self/exe", failed))   // only where it is really ours
        out.push_back(credentials_path());
    return out;
}

Aftermath aftermath(Sandbox& sandbox, const Json& envelope)
{
    Aftermath out;
    auto add = [&](const std::string& sentence) { out.hint += (out.hint.empty() ? "" : "; ") + clean_utf8(sentence); };
    for (auto& sentence : sandbox.put_back())
        add(sentence);
    any_text(envelope, [&](const std::string& text) {
        auto refused = sandbox.refused(text);
        if (refused) add(*refused);
        return out.refused = refused.has_value();
    });
    return out;
}

}
