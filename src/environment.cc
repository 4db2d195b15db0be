#include "environment.h"

#include "base/process.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>

extern char** environ;

namespace ik {
namespace {

constexpr std::string_view secret_words[] = {"APIKEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE_KEY"};
constexpr std::string_view secret_ends[] = {"_KEY", "_PAT", "_PASS", "_PW", "_AUTH"};
constexpr std::string_view secret_starts[] = {"sk-", "sk_live_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "AIza", "-----BEGIN "};

struct Grant { std::string_view tool, variable; };
constexpr Grant grants[] = {
    {"web_search_brave", "BRAVE_API_KEY"},
    {"web_search_google", "GOOGLE_SEARCH_API_KEY"},
    {"web_search_google", "GOOGLE_SEARCH_ENGINE_ID"},
};

struct Setting { std::string_view name, value; };
constexpr Setting quiet[] = {
    {"NO_COLOR", "1"}, {"PAGER", "cat"}, {"GIT_PAGER", "cat"}, {"GIT_TERMINAL_PROMPT", "0"}, {"DEBIAN_FRONTEND", "noninteractive"},
};

std::string upper(std::string_view text)
{
    std::string out(text);
    for (auto& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

bool may_see(std::string_view entry, const std::vector<std::string_view>& granted)
{
    auto name = name_of(entry);
    return std::ranges::find(granted, name) != granted.end() || !looks_secret(name, entry.substr(std::min(entry.size(), name.size() + 1)));
}

}

bool looks_secret(std::string_view name, std::string_view value)
{
    auto big = upper(name);
    return std::ranges::any_of(secret_words, [&](auto word) { return big.find(word) != big.npos; })
        || std::ranges::any_of(secret_ends, [&](auto end) { return big.ends_with(end); })
        || std::ranges::any_of(secret_starts, [&](auto start) { return value.starts_with(start); });
}

std::vector<std::string> without_secrets(const std::vector<std::string>& all, const std::vector<std::string_view>& granted)
{
    auto out = all;
    std::erase_if(out, [&](auto& entry) { return !may_see(entry, granted); });
    return out;
}

void hide_secrets()
{
    static std::vector<std::string> kept;   // environ points into its strings: it must not grow beyond its room
    std::size_t count = 0;
    for (char** entry = environ; entry && *entry; ++entry)
        ++count;
    kept.reserve(count);
    for (char** entry = environ; entry && *entry; ++entry) {
        std::string_view text = *entry;
        if (may_see(text, {}))
            continue;
        kept.emplace_back(text);
        explicit_bzero(*entry, text.size());
        *entry = kept.back().data();
    }
#ifndef __SANITIZE_ADDRESS__
    if (!kept.empty())
        prctl(PR_SET_DUMPABLE, 0);   // nor /proc/PID/mem, nor a core file
#endif
}

void forget(const std::vector<std::string>& names)
{
    for (auto& name : names)
        if (char* value = std::getenv(name.c_str())) {
            explicit_bzero(value, std::strlen(value));
            unsetenv(name.c_str());
        }
}

void set_variable(std::vector<std::string>& env, std::string_view name, std::string_view value)
{
    auto start = std::string(name) + "=";
    std::erase_if(env, [&](auto& entry) { return entry.starts_with(start); });
    env.push_back(start + std::string(value));
}

std::vector<std::string> tool_environment(const ToolPlace& place, const std::vector<std::string>& given)
{
    std::vector<std::string_view> granted(given.begin(), given.end());
    for (auto& grant : grants)
        if (grant.tool == place.tool)
            granted.push_back(grant.variable);
    auto number = std::to_string(place.call);
    std::vector<Setting> ours(std::begin(quiet), std::end(quiet));
    ours.insert(ours.end(), {{"IKIGAI_TOOL", place.tool}, {"IKIGAI_SESSION", place.session}, {"IKIGAI_CALL", number}});
    if (!place.output.empty()) ours.push_back({"IKIGAI_OUTPUT", place.output});
    if (!place.temporary.empty()) ours.push_back({"TMPDIR", place.temporary});

    std::vector<std::string> env;
    for (char** entry = environ; entry && *entry; ++entry) {
        std::string_view text = *entry, name = name_of(text);
        bool is_ours = std::ranges::find(ours, name, &Setting::name) != ours.end();
        if (!is_ours && may_see(text, granted))
            env.emplace_back(text);
    }
    for (auto& [name, value] : ours)
        env.push_back(std::string(name) + "=" + std::string(value));
    return env;
}

}
