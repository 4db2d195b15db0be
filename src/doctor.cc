#include "doctor.h"

#include "base/certificates.h"
#include "base/family.h"
#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "base/url.h"
#include "discover.h"
#include "inquiries.h"
#include "say.h"
#include "version.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace ik {
namespace {

enum class Grade { ok, warn, fail };
constexpr const char* verdict_words[] = {"ok", "warn", "FAIL"};

struct Check {
    Grade verdict;
    std::string name, words;
};
using Checks = std::vector<Check>;

void add(Checks& to, Checks more) { to.insert(to.end(), more.begin(), more.end()); }

Check ok(std::string name, std::string words) { return {Grade::ok, std::move(name), std::move(words)}; }
Check warn(std::string name, std::string words) { return {Grade::warn, std::move(name), std::move(words)}; }
Check fail(std::string name, std::string words) { return {Grade::fail, std::move(name), std::move(words)}; }

Check sandbox_check()
{
    if (auto why = no_sandbox())
        return warn("sandbox", "none: " + *why);
    auto abi = landlock::abi();
    constexpr std::pair<int, const char*> lacks[] = {{2, "moving files between folders"}, {3, "truncating by name"}, {5, "orders to devices"}, {6, "signals to other processes"}};
    std::string missing;
    for (auto& [since, what] : lacks)
        if (abi < since) missing += (missing.empty() ? "; not seen by it: " : ", ") + std::string(what);
    return ok("sandbox", "Landlock " + std::to_string(abi) + " and seccomp" + missing);
}

Check processes_check()
{
    if (sees_processes())
        return ok("processes", "/proc tells what tools leave running");
    return warn("processes", access("/proc/version", F_OK) == 0 ? "/proc is of another PID namespace: what tools leave running is not found" : "there is no /proc: what tools leave running is not found");
}

Checks system_checks(const World& world)
{
    utsname system{};
    uname(&system);
    return {ok("program", std::string("ikigai ") + version + " (" + commit() + ", " + compiler() + "), " + world.self),
            ok("kernel", std::string(system.sysname) + " " + system.release + " " + system.machine), sandbox_check(), processes_check()};
}

Checks tool_checks(const World& world, bool trust)
{
    auto registry = tools_found(world, trust);
    Checks out;
    if (registry.state() == Registry::State::failed)
        out.push_back(warn("tools", "some could not be looked for: " + registry.failure()));
    std::string names;
    for (auto& tool : registry.tools()) names += (names.empty() ? ": " : ", ") + tool.name;
    auto count = std::to_string(registry.tools().size()) + " found" + names;
    out.push_back(registry.tools().empty() ? warn("tools", "none found") : ok("tools", count));
    for (auto& skipped : registry.skipped())
        out.push_back(warn("tools", "skipped " + skipped.path + " (" + skipped.reason + ")"));
    return out;
}

std::string mode_of(const struct stat& info)
{
    char text[8];
    std::snprintf(text, sizeof text, "%03o", static_cast<unsigned>(info.st_mode & 07777));
    return text;
}

// Whether what is missing could be made: the nearest folder above it that is there decides.
bool can_be_made(std::string path)
{
    while (path.size() > 1 && access(path.c_str(), F_OK) != 0) path = folder_name(path);
    return access(path.c_str(), W_OK | X_OK) == 0;
}

Check folder_check(const std::string& name, const std::string& path, bool is_private)
{
    struct stat info {};
    if (path.empty())
        return warn(name, "there is no home");
    if (stat(path.c_str(), &info) != 0)
        return can_be_made(path) ? ok(name, path + " (not there yet)") : warn(name, path + " is not there and cannot be made");
    auto what = path + " (mode " + mode_of(info) + ")";
    if (!S_ISDIR(info.st_mode))
        return warn(name, path + " is no folder");
    if (info.st_mode & 002 && !(info.st_mode & S_ISVTX))
        return warn(name, what + " can be written by everybody: run chmod go-w " + path);
    if (access(path.c_str(), W_OK) != 0)
        return warn(name, what + " cannot be written: " + lower(std::strerror(errno)));
    if (is_private && (info.st_mode & 077))
        return warn(name, what + " can be entered by others: run chmod 700 " + path);
    return ok(name, what);
}

// It is not for us to make.
Check home_check()
{
    auto home = home_folder();
    if (home.empty())
        return warn("home", "HOME is not set, and /etc/passwd does not know us");
    return access(home.c_str(), F_OK) == 0 ? folder_check("home", home, false) : warn("home", home + " is not there");
}

Checks settings_checks(const Settings& settings, const Credentials& credentials)
{
    std::string files;
    for (auto& file : settings.files) files += (files.empty() ? "" : ", ") + file;
    Checks out{ok("settings", files.empty() ? "no file" : files)};
    for (auto& warning : settings.warnings) out.push_back(warn("settings", warning));
    if (!credentials.warning.empty())
        out.push_back(warn("keys", credentials.warning));
    else
        out.push_back(ok("keys", credentials.value.null() ? "no file of keys" : credentials.path));
    return out;
}

Check provider_check(const Result<ProviderChoice>& choice)
{
    if (!choice)
        return fail("provider", choice.error().message);
    auto key = choice->key.empty() ? "no key" : "key from " + choice->key_source;
    auto address = address_of(*choice);
    auto spoken = choice->name == choice->provider ? "" : " (" + choice->provider + ")";
    return ok("provider", choice->name + spoken + ", model " + choice->model + ", " + key + (address.empty() ? "" : ", " + without_password(address)));
}

Check certificates_check()
{
    auto trusted = certificates();
    auto& path = trusted.file.empty() ? trusted.folder : trusted.file;
    if (path.empty())
        return ok("certificates", "those of the program, the system has none");
    if (access(path.c_str(), R_OK) != 0)
        return fail("certificates", path + ": " + lower(std::strerror(errno)) + ". Check SSL_CERT_FILE and SSL_CERT_DIR.");
    return ok("certificates", path);
}

Check proxy_check(const ProviderChoice& choice)
{
    auto url = parse_url(address_of(choice));
    auto proxy = url ? proxy_for(*url, proxy_rules()) : Result<std::optional<Url>>(url.error());
    if (!proxy)
        return fail("proxy", proxy.error().message);
    return ok("proxy", *proxy ? (*proxy)->host + ":" + std::to_string((*proxy)->port) : "none");
}

Check name_check(const Json& answer)
{
    auto* addresses = answer.find("addresses") ? answer.find("addresses")->as<Json::Array>() : nullptr;
    if (!addresses)
        return fail(answer.text("error_code") == code::auth_missing ? "key" : "name", std::string(answer.text("error")));
    std::string list;
    for (auto& address : *addresses)
        if (auto* text = address.as<std::string>(); text && list.find(*text) == list.npos)
            list += (list.empty() ? "" : ", ") + *text;
    return ok("name", std::string(answer.text("host")) + " is " + list);
}

Check service_check(const ProviderChoice& choice, const Json& answer, milliseconds time)
{
    if (auto* models = answer.find("models") ? answer.find("models")->as<Json::Array>() : nullptr) {
        auto words = "answered in " + std::to_string(time.count()) + " ms, " + std::to_string(models->size()) + " models";
        auto known = std::ranges::any_of(*models, [&](auto& name) { return name.template as<std::string>()->starts_with(choice.model); });
        std::vector<std::string> names;
        for (auto& name : *models) names.push_back(*name.as<std::string>());
        return known ? ok("service", words) : warn("service", words + ", but not " + choice.model + "." + did_you_mean(choice.model, names));
    }
    auto* status = answer.find("status") ? answer.find("status")->as<std::int64_t>() : nullptr;
    bool no_list = (status && (*status == 404 || *status == 405)) || (!status && answer.text("error_code") == code::api_error);
    auto words = std::string(answer.text("error"));
    return no_list ? warn("service", "answers, but does not list its models: " + words) : fail("service", words);
}

Checks clock_checks(const Json& answer)
{
    std::tm date{};
    std::string said(answer.text("date"));
    if (said.empty() || !strptime(said.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date))
        return {};
    auto off = std::time(nullptr) - timegm(&date);
    auto words = std::to_string(std::abs(off)) + " s " + (off < 0 ? "behind" : "ahead of") + " the service's";
    return {std::abs(off) > 60 ? warn("clock", words) : ok("clock", std::abs(off) > 5 ? words : "right")};
}

Checks service_checks(const ProviderChoice& choice, const std::string& self)
{
    if (choice.provider == "offline")
        return {ok("service", "none is needed")};
    Checks out{proxy_check(choice)};
    if (address_of(choice).starts_with("https:"))
        out.push_back(certificates_check());
    out.push_back(name_check(asked(choice, "look_up", self)));
    if (std::ranges::any_of(out, [](auto& check) { return check.verdict == Grade::fail; }))
        return out;
    auto before = Clock::now();
    auto answer = asked(choice, "models", self);
    out.push_back(service_check(choice, answer, std::chrono::duration_cast<milliseconds>(Clock::now() - before)));
    add(out, clock_checks(answer));
    return out;
}

Check terminal_check()
{
    auto term = variable("TERM");
    winsize size{};
    if (!isatty(1))
        return ok("terminal", "standard output is none");
    auto words = (term.empty() ? "TERM is not set" : term) + (ioctl(1, TIOCGWINSZ, &size) == 0 ? ", " + std::to_string(size.ws_col) + " x " + std::to_string(size.ws_row) : "");
    return term.empty() || term == "dumb" ? warn("terminal", words + ": no colour") : ok("terminal", words);
}

Check locale_check()
{
    for (auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        auto value = variable(name);
        if (value.empty())
            continue;
        auto small = lower(value);
        bool utf8 = small.find("utf-8") != small.npos || small.find("utf8") != small.npos;
        auto words = std::string(name) + "=" + value;
        return utf8 ? ok("locale", words) : warn("locale", words + ": ikigai writes UTF-8");
    }
    return warn("locale", "neither LC_ALL nor LANG is set: ikigai writes UTF-8");
}

std::string as_text(const Checks& checks)
{
    std::string out;
    for (auto& [verdict, name, words] : checks) {
        std::string word = verdict_words[static_cast<int>(verdict)], label = name;
        word.resize(5, ' ');
        label.resize(std::max<std::size_t>(label.size(), 12), ' ');
        out += word + label + " " + replace(words, '\n', ' ') + "\n";
    }
    return harmless(out);
}

std::string as_json(const Checks& checks, bool fine)
{
    Json::Array list;
    for (auto& [verdict, name, words] : checks)
        list.push_back(object({{"check", name}, {"verdict", lower(verdict_words[static_cast<int>(verdict)])}, {"words", words}}));
    return object({{"ok", fine}, {"checks", std::move(list)}}).dump() + "\n";
}

}

int doctor(const Settings& settings, bool json, const ProjectTrust& project, const World& world)
{
    auto wish = wish_of(settings);
    auto checks = system_checks(world);
    add(checks, tool_checks(world, project.trusted()));
    add(checks, {home_check(), folder_check("state", state_folder(), true), folder_check("config", config_folder(), false)});
    add(checks, settings_checks(settings, wish.credentials));
    auto choice = choose_provider(wish);
    checks.push_back(provider_check(choice));
    if (choice)
        add(checks, service_checks(*choice, world.self));
    add(checks, {terminal_check(), locale_check()});
    bool fine = std::ranges::none_of(checks, [](auto& check) { return check.verdict == Grade::fail; });
    return print(json ? as_json(checks, fine) : as_text(checks)) == 0 && fine ? 0 : 1;
}

}
