#include "rules.h"

#include "base/file.h"
#include "base/places.h"
#include "base/replacement.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace ik {
namespace {

constexpr ConfigKey of_rules[] = {{"allow", Kind::texts}, {"ask", Kind::texts}, {"deny", Kind::texts}};
constexpr ConfigKey of_bound[] = {{"approve", Kind::text, "auto|edits|ask|plan"}, {"sandbox", Kind::text, "workspace|read-only|off"},
                                  {"allow", Kind::texts}, {"ask", Kind::texts}, {"deny", Kind::texts}};

std::string rules_path() { return config_folder() + "/rules.json"; }

std::vector<Rule>& list_of(Policy& policy, std::string_view name)
{
    return name == "allow" ? policy.allow : name == "ask" ? policy.ask : policy.deny;
}

// The rules among texts; the others are complained about.
std::vector<Rule> parsed(const Json& texts, const std::string& origin, std::vector<std::string>& complaints)
{
    std::vector<Rule> out;
    for (auto& text : *texts.as<Json::Array>())
        if (auto rule = parse_rule(*text.as<std::string>())) out.push_back(std::move(*rule));
        else complaints.push_back(origin + ": " + rule.error().message);
    return out;
}

void append(std::vector<Rule>& to, std::vector<Rule> more)
{
    for (auto& rule : more)
        if (!std::ranges::count(to, rule.text, &Rule::text)) to.push_back(std::move(rule));
}

Status owned(const std::string& path, uid_t owner)
{
    for (auto& each : {path, folder_name(path)}) {
        struct stat info {};
        if (stat(each.c_str(), &info) < 0)
            return file_error(Doing::opening, each);
        if (info.st_uid != owner)
            return Error{code::usage, each + " belongs to another user (" + std::to_string(info.st_uid) + "), not to " + std::to_string(owner)};
        if (info.st_mode & 022)
            return Error{code::usage, "others can write to " + each};
    }
    return Done{};
}

Status bind(Rules& rules, const RuleSources& sources)
{
    auto path = sources.root + "/etc/ikigai/policy.json";
    struct stat info {};
    if (lstat(path.c_str(), &info) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return Done{};
    auto refuse = [&](const std::string& why) { return Error{code::usage, "The policy of this machine cannot be kept: " + why}; };
    if (auto fine = owned(path, sources.owner); !fine)
        return refuse(fine.error().message);
    auto file = read_config(path, of_bound);
    if (!file.warnings.empty() || !file.there)
        return refuse(file.warnings.empty() ? path + " cannot be read" : file.warnings.front());
    auto& policy = rules.policy;
    std::vector<std::string> broken;
    for (auto& [name, value, origin] : file.values)
        if (name == "approve") {
            policy.loosest = *approve_named(*value.as<std::string>());
            policy.approve = std::max(policy.approve, policy.loosest);
        }
        else if (name == "sandbox") rules.sandbox = *value.as<std::string>();
        else if (name == "allow") policy.allow = parsed(value, origin, rules.warnings), policy.closed = true;
        else append(list_of(policy, name), parsed(value, origin, broken));
    return broken.empty() ? Status(Done{}) : refuse(broken.front());
}

// With a mode that a replacement keeps.
Status make_file(const std::string& path)
{
    Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd && errno == EEXIST)
        return Done{};
    if (!fd || !write_all(fd.get(), "{\"allow\":[]}\n"))
        return file_error(Doing::creating, path);
    return Done{};
}

// The file's object with the rule in it; null when the rule was there.
Result<Json> with_rule(const std::string& path, const std::string& text)
{
    auto content = read_own_file(path, Own::unwritable);
    if (!content)
        return content.error();
    auto broken = [&](const std::string& why) { return Error{code::invalid_arg, path + ": " + why + " The rule was not added."}; };
    auto written = parse_written(*content);
    if (!written)
        return broken(written.error().message);
    if (!written->value.as<Json::Object>())
        return broken("must be an object.");
    if (!written->value.find("allow"))
        written->value.set("allow", Json::Array{});
    auto* list = written->value.find("allow")->as<Json::Array>();
    if (!list)
        return broken("\"allow\" must be a list of strings.");
    if (std::ranges::count(*list, Json(text)))
        return Json();
    list->push_back(text);
    return written->value;
}

// One rule a line, so that a person can read and mend the file.
std::string file_text(const Json& value)
{
    std::string out = "{";
    for (auto& [name, member] : *value.as<Json::Object>()) {
        out += (out.size() > 1 ? ",\n  " : "\n  ") + Json(name).dump() + ": ";
        auto* list = member.as<Json::Array>();
        if (!list || list->empty()) {
            out += member.dump();
            continue;
        }
        for (auto& item : *list) out += (&item == list->data() ? "[\n    " : ",\n    ") + item.dump();
        out += "\n  ]";
    }
    return out + "\n}\n";
}

Status replace_file(const std::string& path, const Json& value, Stamp before)
{
    auto fresh = Replacement::begin(path);
    if (!fresh)
        return fresh.error();
    fresh->only_if(before);
    if (auto written = fresh->append(file_text(value)); !written)
        return written;
    return fresh->commit();
}

}

Result<Rules> read_rules(const Settings& settings, const RuleSources& sources)
{
    Rules out;
    out.policy.approve = approve_named(settings.text("approve")).value_or(sources.can_sandbox ? Approve::automatic : Approve::ask);
    for (auto* name : {"allow", "ask", "deny"})
        append(list_of(out.policy, name), parsed(settings[name].value, settings[name].origin, out.warnings));
    if (!config_folder().empty()) {
        auto file = read_config(rules_path(), of_rules);
        out.warnings.insert(out.warnings.end(), file.warnings.begin(), file.warnings.end());
        for (auto& [name, value, origin] : file.values)
            append(list_of(out.policy, name), parsed(value, origin, out.warnings));
    }
    if (auto bound = bind(out, sources); !bound)
        return bound.error();
    return out;
}

Status add_rule(const std::string& text)
{
    if (auto rule = parse_rule(text); !rule)
        return rule.error();
    if (config_folder().empty())
        return Error{code::file_not_found, "There is no home folder to keep rules in"};
    auto path = rules_path();
    if (!make_folders(folder_name(path)))
        return file_error(Doing::creating, folder_name(path));
    if (auto made = make_file(path); !made)
        return made;
    for (int tries = 0;; ++tries) {
        auto file = open_file(path);
        if (!file)
            return file.error();
        auto before = stamp_of(*file);
        auto value = with_rule(path, text);
        if (!value)
            return value.error();
        if (value->null())
            return Done{};
        auto done = replace_file(path, *value, before);
        if (done || done.error().hint.empty() || tries == 5)   // a hint: another ikigai was quicker
            return done;
    }
}

}
