#include "suggest.h"

#include "base/text.h"
#include "discover.h"
#include "llm/provider.h"
#include "manual.h"
#include "mouth.h"
#include "say.h"
#include "sessions.h"
#include "store/archive.h"

#include <algorithm>

namespace ik {
namespace {

using Candidates = std::vector<Candidate>;

constexpr std::size_t longest_help = 60;   // bytes
constexpr int most_sessions = 50;

Candidates named(const std::vector<std::string>& names)
{
    Candidates out;
    for (auto& name : names) out.push_back({name, ""});
    return out;
}

Candidates tools(const Expected&, const World& world)
{
    Candidates out;
    auto registry = tools_found(world, false);
    for (auto& tool : registry.tools()) out.push_back({tool.name, std::string(tool.schema.text("description"))});
    return out;
}

// Not by way of the vault: who only looks repairs nothing.
Candidates kept(const Expected&, const World&)
{
    Candidates out;
    auto archive = sessions_file().empty() ? Error{} : Archive::open(sessions_file(), Archive::Use::read);
    auto rows = archive ? archive->list("", most_sessions) : archive.error();
    if (rows)
        for (auto& row : *rows) out.push_back({row.id, row.title});
    return out;
}

Candidates pages(const Expected&, const World&) { return named(page_names()); }
Candidates actions(const Expected&, const World&) { return named(session_actions()); }

Candidates provider_names(const Expected&, const World&) { return named(providers::names()); }

struct Lookup {
    std::string_view takes;                                    // as help texts call the value
    std::string_view shell;                                    // what the shell is to look up,
    Candidates (*look_up)(const Expected&, const World&);      // or what we do
};

constexpr Lookup kinds[] = {
    {"A,B", "", tools},
    {"ACTION", "", actions},
    {"CMD", ":commands", nullptr},
    {"DIR", ":folders", nullptr},
    {"FILE", ":files", nullptr},
    {"ID", "", kept},
    {"PAGE", "", pages},
    {"PROVIDER", "", provider_names},
    {"TOOL", "", tools},
};

// What a word is that depends on those before it.
std::string_view narrowed(const Expected& expected)
{
    auto& before = expected.operands;
    if (expected.takes == "WORDS") return before.empty() ? "" : session_action_takes(before[0]);
    if (expected.takes == "CMD" && !before.empty()) return "FILE";   // an argument of the command
    return expected.takes;
}

// A shell may take the word as it stands.
bool tame(std::string_view word)
{
    return std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || std::string_view("_-.,=/+@%").find(static_cast<char>(c)) != std::string_view::npos; });
}

}

int suggest(const Expected& given, const World& world)
{
    auto expected = given;
    auto takes = narrowed(expected);
    if (takes == "A,B")   // the last of them
        if (auto comma = expected.typed.rfind(','); comma != expected.typed.npos) {
            expected.prefix += expected.typed.substr(0, comma + 1);
            expected.typed.erase(0, comma + 1);
        }
    auto words = expected.words;
    std::string out;
    auto kind = std::ranges::find(kinds, takes, &Lookup::takes);
    if (kind != std::end(kinds) && !kind->shell.empty())
        out += std::string(kind->shell) + "\n";
    else if (kind != std::end(kinds))
        for (auto& found : kind->look_up(expected, world))
            if (found.word.starts_with(expected.typed)) words.push_back({expected.prefix + found.word, found.help});
    for (auto& [word, help] : words)
        if (tame(word))
            out += word + "\t" + std::string(utf8_prefix(replace(replace(harmless(help), '\n', ' '), '\t', ' '), longest_help)) + "\n";
    return print(out);
}

}
