#include "consent.h"

#include "agent/registry.h"
#include "base/places.h"
#include "base/text.h"
#include "mouth.h"
#include "say.h"
#include "settings.h"
#include "world.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <termios.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t short_digest = 12, longest_value = 500;

// On one line, and harmless to a terminal.
std::string shown(std::string_view text) { return harmless(replace(replace(std::string(text), '\n', ' '), '\t', ' ')); }

std::string padded(std::string text, std::size_t width)
{
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

bool is_tool(const Snapshot::Entry& entry)
{
    constexpr std::string_view folder = "tools/";
    if (entry.kind != 'f' || !(entry.mode & 0111) || !entry.path.starts_with(folder))
        return false;
    auto name = entry.path.substr(folder.size());
    return name.find('/') == name.npos && is_tool_name(name);
}

// Where the file really is, when that is somewhere else.
std::string elsewhere(const std::string& path)
{
    std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    std::unique_ptr<char, void (*)(void*)> folder(realpath(project_folder().c_str(), nullptr), std::free);
    if (!real || !folder || std::string(real.get()).starts_with(std::string(folder.get()) + "/"))
        return "";
    return std::string(" -> ") + real.get();
}

std::string value_of(const Setting& setting)
{
    auto text = setting.value.dump();
    if (text.size() <= longest_value)
        return text;
    return clean_utf8(text.substr(0, longest_value)) + "… (" + std::to_string(text.size() - longest_value) + " bytes more)";
}

std::string settings_text()
{
    std::string out;
    auto settings = read_settings({.trust = true, .files_only = true});
    for (auto& setting : settings.all)
        if (setting.layer == Layer::project)
            out += "  " + shown(std::string(setting.row->key.name) + ": " + value_of(setting)) + "\n";
    for (auto& warning : settings.warnings)
        if (warning.starts_with(project_settings()))
            out += "  (" + shown(warning) + ")\n";
    return out;
}

// What would run and what would be set.
std::string description(const ProjectTrust& project)
{
    auto& snapshot = *project.snapshot();
    std::string tools;
    std::size_t others = 0;
    for (auto& entry : snapshot.entries()) {
        if (entry.kind != 'f' || entry.path == "config.json")
            continue;
        if (!is_tool(entry)) {
            ++others;
            continue;
        }
        auto path = project_folder() + "/" + entry.path;
        tools += "  " + padded(shown(path), 36) + " " + entry.digest.substr(0, short_digest) + shown(elsewhere(path)) + "\n";
    }
    auto settings = settings_text();
    return shown(project.folder()) + "/" + project_folder() + "  " + snapshot.digest().substr(0, short_digest) + "\n"
         + (tools.empty() ? "" : "would run:\n" + tools) + (settings.empty() ? "" : "would set:\n" + settings)
         + (others ? "and has " + std::to_string(others) + (others == 1 ? " other file\n" : " other files\n") : "");
}

bool person_there() { return isatty(0) && isatty(2); }

std::string question(const ProjectTrust& project)
{
    bool changed = project.standing() == ProjectTrust::Standing::changed;
    return (changed ? std::string("It has changed since it was trusted. Trust it as it is now?") : std::string("Trust it?")) + " [y/N] ";
}

int list_folders()
{
    auto folders = trusted_folders();
    if (!folders)
        return fail(folders.error().message, 1);
    std::string out;
    for (auto& [folder, about] : *folders)
        out += about.digest.substr(0, short_digest) + "  " + about.since + "  " + shown(folder) + "\n";
    return print(out);
}

// As it stands in the list: without links where it is still there.
int remove_folder(const std::string& folder)
{
    std::unique_ptr<char, void (*)(void*)> real(realpath(folder.c_str(), nullptr), std::free);
    auto name = real ? std::string(real.get()) : folder;
    auto removed = forget_folder(name);
    if (!removed)
        return fail(removed.error().message, 1);
    return *removed ? print("No longer trusted: " + shown(name) + "\n") : fail(name + " is not trusted", 1);
}

int remember(ProjectTrust& project)
{
    if (auto ok = project.remember(); !ok)
        return fail("not remembered: " + ok.error().message, 1);
    return print("Trusted: " + shown(project.folder()) + "\n");
}

}

bool says_yes(const std::string& question)
{
    tcflush(0, TCIFLUSH);
    write_all(2, question);
    std::string answer(256, '\0');
    auto n = read_some(0, answer.data(), answer.size());
    if (n <= 0)
        write_all(2, "\n");
    return n > 0 && lower(trim(answer.substr(0, static_cast<std::size_t>(n)))).starts_with('y');
}

void ask_about(ProjectTrust& project)
{
    if (!project.can_be_asked() || !person_there())
        return;
    if (!project.why().empty())
        write_all(2, "ikigai: " + harmless(project.why()) + "\n");
    write_all(2, "This folder brings its own tools or settings.\n" + description(project));
    if (!says_yes(question(project)))
        return;
    project.trust();
    if (auto ok = project.remember(); !ok)
        write_all(2, "ikigai: not remembered: " + harmless(ok.error().message) + "\n");
}

int trust_command(const TrustWords& words)
{
    if (words.list)
        return list_folders();
    if (words.remove)
        return remove_folder(words.folder);
    if (chdir(words.folder.c_str()) < 0)
        return fail(words.folder + ": " + std::strerror(errno), 2);
    auto project = ProjectTrust::here();
    using enum ProjectTrust::Standing;
    if (project.standing() == absent)
        return fail("there is nothing to trust in " + words.folder + ": no tools and no settings of a project", 2);
    if (project.standing() == refused)
        return fail(project.line(), 1);
    if (int status = print(description(project)))
        return status;
    if (project.trusted())
        return print("It is trusted.\n");
    if (!project.why().empty())
        return fail(project.why(), 1);
    if (words.yes)
        return remember(project);
    if (!person_there())
        return fail("there is no terminal to ask at: --yes trusts it as it is", 2);
    return says_yes(question(project)) ? remember(project) : fail("not trusted: " + project.folder(), 1);
}

}
