#include "settings.h"

#include "base/places.h"
#include "base/text.h"
#include "world.h"

#include <algorithm>

namespace ik {
namespace {

constexpr SettingRow table[] = {
    {{"provider", Kind::text}, "\"\"", Project::never, "Who answers: a provider of ikigai or one of providers; found out where empty"},
    {{"model", Kind::text}, "\"\"", Project::free, "The model's name; the provider's usual one where empty"},
    {{"base_url", Kind::text}, "\"\"", Project::never, "Address of the service; the provider's own where empty"},
    {{"thinking", Kind::text, "|none|low|medium|high"}, "\"\"", Project::free, "How much the model is to think; not said where empty"},
    {{"system", Kind::text}, "\"\"", Project::free, "System text, instead of ikigai's own"},
    {{"max_turns", Kind::integer, "", 1}, "50", Project::less, "Model requests a message"},
    {{"timeout", Kind::number}, "0", Project::less, "Time limit of the whole, in seconds; 0: none"},
    {{"only_tools", Kind::texts}, "[]", Project::less, "The only tools that are offered; all where empty"},
    {{"tool_timeout", Kind::number, "", 0.001}, "30", Project::less, "Time limit of a tool call, in seconds"},
    {{"tools", Kind::object}, "{}", Project::never, "Limits and grants of tools, by name"},
    {{"sandbox", Kind::text, "off|workspace|read-only"}, "\"workspace\"", Project::less, "What tools may change: workspace, read-only (nothing), off (no sandbox)"},
    {{"sandbox_protect", Kind::texts}, "[]", Project::never, "More files and folders that tools may not read; ~ is the home"},
    {{"sandbox_unix_sockets", Kind::texts}, "[]", Project::never, "Sockets that tools may connect to; none where empty, any of them otherwise"},
    {{"max_tokens", Kind::integer}, "0", Project::less, "The longest answer, in tokens; 0: the provider's own limit"},
    {{"context_window", Kind::integer}, "0", Project::less, "How much the model reads, in tokens; 0: as known, or as the server says"},
    {{"compact", Kind::boolean}, "true", Project::never, "Summarise a conversation that has nearly filled the model's window"},
    {{"stream_idle_timeout", Kind::number, "", 0.001}, "120", Project::never, "How long a stream may be silent, in seconds"},
    {{"audit", Kind::text, "|false|true|file|syslog"}, "\"\"", Project::never, "A log of every tool call: true, or syslog too; off where empty"},
    {{"providers", Kind::object}, "{}", Project::never, "More providers, by name"},
    {{"prices", Kind::object}, "{}", Project::never, "US dollars a million tokens, by the start of a model's name"},
    {{"approve", Kind::text, "|auto|edits|ask|plan"}, "\"\"", Project::less, "What is asked about; auto where the kernel can sandbox, else ask, where empty"},
    {{"allow", Kind::texts}, "[]", Project::never, "Rules for calls that are not asked about", true},
    {{"ask", Kind::texts}, "[]", Project::free, "Rules for calls that are always asked about", true},
    {{"deny", Kind::texts}, "[]", Project::free, "Rules for calls that never happen", true},
};

constexpr ConfigKey of_provider[] = {
    {"dialect", Kind::text, "openai|openai-chat|openai-responses|anthropic|google|offline"},
    {"base_url", Kind::text}, {"model", Kind::text}, {"key_variable", Kind::text}, {"key_command", Kind::text}, {"headers", Kind::object}, {"strict", Kind::boolean},
};
constexpr ConfigKey of_tool[] = {
    {"timeout", Kind::number, "", 0.001}, {"memory", Kind::size}, {"output", Kind::size, "", 1}, {"files", Kind::integer, "", 16},
    {"processes", Kind::integer}, {"disk", Kind::size}, {"env", Kind::texts}, {"read", Kind::texts},
};
constexpr ConfigKey of_price[] = {{"input", Kind::number}, {"output", Kind::number}, {"cached", Kind::number}};

// What a project would like to set and never may; the table's own are marked there.
constexpr std::string_view not_a_projects[] = {"key_command", "headers", "grants"};

std::vector<ConfigKey> keys()
{
    std::vector<ConfigKey> out;
    for (auto& row : table) out.push_back(row.key);
    return out;
}

bool all_texts(const Json& members)
{
    return std::ranges::all_of(*members.as<Json::Object>(), [](auto& member) { return member.second.template as<std::string>() != nullptr; });
}

// The members of an object of objects, without what does not fit.
void keep_fitting(Json& value, const ConfigFile& file, std::string_view of, std::span<const ConfigKey> members, std::vector<std::string>& warnings)
{
    auto complain = [&](const std::string& path, const std::string& why) { warnings.push_back(file.place(path) + ": " + why); };
    std::erase_if(*value.as<Json::Object>(), [&](auto& one) {
        auto path = std::string(of) + "." + one.first;
        auto* inside = one.second.template as<Json::Object>();
        if (!inside)
            return complain(path, Json(path).dump() + " must be an object"), true;
        std::erase_if(*inside, [&](auto& member) {
            auto key = std::ranges::find(members, member.first, &ConfigKey::name);
            auto name = path + "." + member.first;
            if (member.first == "api_key" || member.first == "key")
                return complain(name, Json(name).dump() + ": a key does not belong here but in credentials.json"), true;
            if (key == members.end())
                return complain(name, unknown_key(member.first, members) + " in " + path), true;
            if (auto why = misfit(*key, member.second))
                return complain(name, Json(name).dump() + " " + *why), true;
            if (key->kind == Kind::object && !all_texts(member.second))
                return complain(name, Json(name).dump() + " must have strings as its values"), true;
            return false;
        });
        return false;
    });
}

// The later of the row's words are the tighter; where nothing is set it may already be ask.
bool tighter(const SettingRow& row, std::string_view now, std::string_view wanted)
{
    auto words = split(row.key.words, '|');
    return std::ranges::find(words, wanted) >= std::ranges::find(words, now.empty() ? "ask" : now) && !wanted.empty();
}

bool less(const SettingRow& row, const Json& now, const Json& wanted)
{
    if (auto* text = wanted.as<std::string>())
        return tighter(row, *now.as<std::string>(), *text);
    if (auto* tools = wanted.as<Json::Array>()) {
        auto& have = *now.as<Json::Array>();
        return !tools->empty() && (have.empty() || std::ranges::all_of(*tools, [&](auto& tool) { return std::ranges::find(have, tool) != have.end(); }));
    }
    auto number = [](const Json& value) { return value.as<double>() ? *value.as<double>() : static_cast<double>(*value.as<std::int64_t>()); };
    return number(wanted) > 0 && (number(now) == 0 || number(wanted) <= number(now));   // 0 is no limit
}

// Why a project may not set that. Nothing when it may.
std::optional<std::string> refusal(const Setting& now, const Json& wanted)
{
    if (now.row->project == Project::never)
        return "is not for a project to set";
    if (now.row->project == Project::less && !less(*now.row, now.value, wanted))
        return "may only be made less by a project (it is " + now.value.dump() + ")";
    return {};
}

// The complaints about a project's file speak of its stranger's wishes first.
void explain(std::vector<std::string>& warnings, const ConfigFile& file)
{
    for (auto name : not_a_projects)
        for (auto& warning : warnings)
            if (warning.starts_with(file.place(name) + ": unknown key " + Json(name).dump()))
                warning = file.place(name) + ": " + Json(name).dump() + " is not for a project to set";
}

void take_file(Settings& settings, const std::string& path, Layer layer)
{
    static const auto known = keys();
    auto file = read_config(path, known);
    if (layer == Layer::project)
        explain(file.warnings, file);
    if (file.there)
        settings.files.push_back(path);
    for (auto& [name, value, origin] : file.values) {
        auto& now = settings.at(name);
        if (auto why = layer == Layer::project ? refusal(now, value) : std::nullopt) {
            file.warnings.push_back(origin + ": " + Json(name).dump() + " " + *why);
            continue;
        }
        if (name == "providers") keep_fitting(value, file, name, of_provider, file.warnings);
        if (name == "prices") keep_fitting(value, file, name, of_price, file.warnings);
        if (name == "tools") keep_fitting(value, file, name, of_tool, file.warnings);
        settings.set(name, value, layer, origin);
        if (auto* members = value.as<Json::Object>())
            for (auto& [member, of] : *members)
                settings.at(name).origins[member] = file.place(name + "." + member);
    }
    settings.warnings.insert(settings.warnings.end(), file.warnings.begin(), file.warnings.end());
}

void take_text(Settings& settings, const SettingRow& row, std::string_view text, Layer layer, const std::string& origin)
{
    auto value = value_of(row.key, text);
    if (!value)
        settings.warnings.push_back(origin + " " + value.error().message + ": it is ignored");
    else
        settings.set(row.key.name, std::move(*value), layer, origin);
}

}

std::string SettingRow::variable() const
{
    if (key.kind == Kind::object)
        return "";
    std::string out = "IKIGAI_";
    for (char c : key.name) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

std::span<const SettingRow> setting_rows() { return table; }
std::span<const ConfigKey> provider_keys() { return of_provider; }
std::span<const ConfigKey> price_keys() { return of_price; }
std::span<const ConfigKey> tool_keys() { return of_tool; }

const Setting& Settings::operator[](std::string_view name) const
{
    return *std::ranges::find_if(all, [&](auto& setting) { return setting.row->key.name == name; });
}

Setting& Settings::at(std::string_view name) { return const_cast<Setting&>(std::as_const(*this)[name]); }

std::string Settings::text(std::string_view name) const { return *(*this)[name].value.as<std::string>(); }

double Settings::number(std::string_view name) const
{
    auto& value = (*this)[name].value;
    return value.as<double>() ? *value.as<double>() : static_cast<double>(*value.as<std::int64_t>());
}

bool Settings::claim(std::string_view name) const { return *(*this)[name].value.as<bool>(); }

std::vector<std::string> Settings::texts(std::string_view name) const
{
    std::vector<std::string> out;
    for (auto& item : *(*this)[name].value.as<Json::Array>()) out.push_back(*item.as<std::string>());
    return out;
}

std::string Settings::for_provider(std::string_view name) const
{
    bool older = (*this)[name].layer < (*this)["provider"].layer && (*this)[name].layer < Layer::environment;
    return older ? "" : text(name);
}

void Settings::set(std::string_view name, Json value, Layer layer, std::string origin)
{
    auto& setting = at(name);
    if (auto* members = value.as<Json::Object>())
        for (auto& [member, of] : *members) setting.value.set(member, of);
    else if (auto* texts = value.as<Json::Array>(); texts && setting.row->adds) {
        auto& have = *setting.value.as<Json::Array>();
        for (auto& text : *texts)
            if (std::ranges::find(have, text) == have.end()) have.push_back(text);
    } else
        setting.value = std::move(value);
    setting.layer = layer;
    setting.origin = std::move(origin);
}

Settings read_settings(const SettingSources& sources)
{
    Settings settings;
    for (auto& row : table)
        settings.all.push_back({.row = &row, .value = *parse_json(row.standard)});
    take_file(settings, sources.root + "/etc/ikigai/config.json", Layer::system);
    if (auto folder = config_folder(); !folder.empty())
        take_file(settings, folder + "/config.json", Layer::user);
    if (sources.trust)
        take_file(settings, project_settings(), Layer::project);
    if (!sources.untrusted.empty())
        settings.warnings.push_back(sources.untrusted);
    if (sources.files_only)
        return settings;
    for (auto& row : table)
        if (auto name = row.variable(); !name.empty() && !variable(name.c_str()).empty())
            take_text(settings, row, variable(name.c_str()), Layer::environment, name);
    for (auto& option : sources.options)
        take_text(settings, *settings.at(option.name).row, option.text, Layer::option, option.origin);
    return settings;
}

}
