#include "agent/registry.h"

#include "base/file.h"
#include "base/owner.h"
#include "base/text.h"

#include <algorithm>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t at_once = 64;   // three descriptors each

bool same_file(const std::string& a, const std::string& b)
{
    struct stat x {}, y {};
    return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool is_executable_file(const std::string& path)
{
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111);
}

bool is_name(std::string_view name)
{
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

Error invalid(std::string why) { return {code::invalid_output, std::move(why)}; }

// {"command":{"type":"string","required":true}} as an object schema.
Result<Json> from_flat(const Json::Object& flat)
{
    Json::Object properties;
    Json::Array required;
    for (auto& [name, property] : flat) {
        auto* members = property.as<Json::Object>();
        if (!members)
            return invalid("parameter " + name + " is not an object");
        Json::Object kept;
        for (auto& [key, value] : *members)
            if (key != "required")
                kept.emplace_back(key, value);
            else if (value == Json(true))
                required.push_back(name);
        properties.emplace_back(name, std::move(kept));
    }
    auto out = object({{"type", "object"}, {"properties", std::move(properties)}});
    if (!required.empty())
        out.set("required", std::move(required));
    return out;
}

Result<Json> standard_parameters(const Json& parameters)
{
    auto* members = parameters.as<Json::Object>();
    if (!members)
        return invalid("parameters is not an object");
    if (parameters.text("type") != "object")
        return from_flat(*members);
    auto* properties = parameters.find("properties");
    if (properties && !properties->as<Json::Object>())
        return invalid("properties is not an object");
    Json out = parameters;
    if (!properties)
        out.set("properties", Json::Object{});
    return out;
}

}

bool is_tool_name(std::string_view name)
{
    return !name.starts_with('.') && !name.ends_with('~') && !name.ends_with(".bak") && !name.ends_with(".swp");
}

std::string Skipped::line() const
{
    if (folder)
        return "Debug: the tools in " + path + " are not used (" + reason + ")";
    auto name = path.substr(path.rfind('/') + 1);
    return "Debug: tool '" + name + "' schema failed (" + reason + ")";
}

Result<Json> standard_schema(const Json& printed)
{
    if (!printed.as<Json::Object>())
        return invalid("not an object");
    auto* name = printed.find("name");
    if (!name || !name->as<std::string>())
        return invalid("no name");
    if (!is_name(*name->as<std::string>()))
        return invalid("the name is not 1 to 64 letters, digits, _");
    auto* given = printed.find("parameters");
    auto parameters = standard_parameters(given && !given->null() ? *given : Json(Json::Object{}));
    if (!parameters)
        return parameters.error();
    return object({{"name", *name}, {"description", printed.text("description")}, {"parameters", *parameters}});
}

void Registry::start(const Places& places)
{
    *this = Registry();
    state_ = State::in_progress;
    env_ = places.env;
    confine_ = places.confine;

    bool system = usable(places.system);
    if (!system)
        for (auto& builtin : places.builtins) {
            Candidate candidate{0, {"", places.self, "builtin", {places.self, builtin.command}, {}}, {}};
            accept(candidate, builtin.schema);
        }
    if (system) scan(places.system, "system", 0, places);
    if (usable(places.user)) scan(places.user, "user", 1, places);
    if (usable(places.project)) scan(places.project, "project", 2, places);
    ask_next();
}

// Whether a folder is there, and nobody else can put something into it.
bool Registry::usable(const std::string& folder)
{
    struct stat info {};
    if (folder.empty() || stat(folder.c_str(), &info) < 0)
        return false;
    auto why = not_ours(folder);
    if (why)
        skipped_.push_back({folder, *why, true});
    return !why;
}

void Registry::scan(const std::string& folder, const char* origin, std::size_t rank, const Places& places)
{
    auto names = names_in(folder);
    if (!names) {
        if (names.error().code != code::file_not_found) failure_ = names.error().message;
        return;
    }
    for (auto& name : *names) {
        auto path = folder + "/" + name;
        if (!is_tool_name(name) || !is_executable_file(path))
            continue;
        Candidate candidate{rank, {"", path, origin, {path}, {}}, {}};
        if (auto why = not_ours(path)) {
            skip(candidate, *why);
            continue;
        }
        auto builtin = std::ranges::find(places.builtins, name, &Builtin::command);
        if (builtin != places.builtins.end() && same_file(path, places.self))
            accept(candidate, builtin->schema);
        else
            waiting_.push_back(std::move(candidate));
    }
}

void Registry::ask_next()
{
    while (!waiting_.empty() && asked_.size() < at_once) {
        auto candidate = std::move(waiting_.front());
        waiting_.pop_front();
        auto rules = confine_ ? confine_() : Result<const Confinement*>(static_cast<const Confinement*>(nullptr));
        if (!rules) {
            skip(candidate, rules.error().message);
            continue;
        }
        auto child = Child::start({.argv = {candidate.tool.path, "--schema"}, .env = env_, .no_stdin = true, .confinement = *rules,
                                   .limit = schema_limit, .grace = milliseconds(0), .max_out = max_schema, .max_err = 0});
        if (!child) {
            skip(candidate, "not executable");
            continue;
        }
        candidate.child = std::move(*child);
        asked_.push_back(std::move(candidate));
    }
    if (asked_.empty() && waiting_.empty())
        finish();
}

std::vector<pid_t> Registry::ids() const
{
    std::vector<pid_t> out;
    for (auto& candidate : asked_)
        if (candidate.child && !candidate.child->exit) out.push_back(candidate.child->id());
    return out;
}

void Registry::add_to(Poll& poll) const
{
    for (auto& candidate : asked_)
        candidate.child->add_to(poll);
}

void Registry::advance(const Poll& poll)
{
    if (state_ != State::in_progress)
        return;
    for (auto& candidate : asked_) {
        candidate.child->advance(poll);
        if (candidate.child->exit)
            hear(candidate);
    }
    std::erase_if(asked_, [](auto& candidate) { return candidate.child->exit.has_value(); });
    ask_next();
}

void Registry::hear(Candidate& candidate)
{
    auto& child = *candidate.child;
    if (child.too_much()) return skip(candidate, "invalid schema: longer than 1 MiB");
    if (child.timed_out()) return skip(candidate, "timeout");
    if (child.exit->signal) return skip(candidate, "signal " + std::to_string(child.exit->signal));
    if (child.exit->code) return skip(candidate, "exit " + std::to_string(child.exit->code));
    if (trim(child.out).empty()) return skip(candidate, "no output");
    auto json = parse_json(clean_utf8(child.out));
    if (!json) return skip(candidate, "invalid JSON");
    accept(candidate, *json);
}

void Registry::accept(Candidate& candidate, const Json& printed)
{
    auto schema = standard_schema(printed);
    if (!schema)
        return skip(candidate, "invalid schema: " + schema.error().message);
    candidate.tool.name = schema->text("name");
    candidate.tool.schema = std::move(*schema);
    accepted_.push_back({candidate.rank, std::move(candidate.tool), {}});
}

void Registry::skip(const Candidate& candidate, std::string reason) { skipped_.push_back({candidate.tool.path, std::move(reason), false}); }

void Registry::finish()
{
    // Later folders come last and replace; in one folder the first file in byte order stays.
    std::ranges::sort(accepted_, {}, [](auto& c) { return std::pair(c.rank, c.tool.path + " " + c.tool.argv.back()); });
    std::map<std::string, Candidate*> by_name;
    for (auto& candidate : accepted_) {
        auto [place, is_new] = by_name.try_emplace(candidate.tool.name, &candidate);
        if (is_new)
            continue;
        if (place->second->rank == candidate.rank)
            skip(candidate, "invalid schema: the name " + candidate.tool.name + " is taken by " + place->second->tool.path);
        else
            place->second = &candidate;
    }
    for (auto& [name, candidate] : by_name)
        tools_.push_back(std::move(candidate->tool));
    accepted_.clear();
    std::ranges::sort(skipped_, {}, &Skipped::path);
    state_ = failure_.empty() ? State::complete : State::failed;
}

const Tool* Registry::find(std::string_view name) const
{
    auto it = std::ranges::find(tools_, name, &Tool::name);
    return it == tools_.end() ? nullptr : &*it;
}

}
