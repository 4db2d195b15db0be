#include "paths.h"

#include "base/places.h"
#include "base/text.h"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <sys/stat.h>

namespace ik {
namespace {

constexpr int most_seen = 10'000;
constexpr std::size_t most_given = 200;

struct Closed { void operator()(DIR* folder) const { closedir(folder); } };

std::string unescaped(std::string_view word)
{
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] == '\\' && i + 1 < word.size()) ++i;
        out += word[i];
    }
    return out;
}

std::string escaped(std::string_view name)
{
    std::string out;
    for (char c : name) {
        if (c == ' ' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}

std::vector<term::Candidate> path_candidates(std::string_view word)
{
    std::string_view mark = word.starts_with('@') ? "@" : "";
    word.remove_prefix(mark.size());
    auto typed = unescaped(word);
    auto slash = typed.rfind('/');
    auto shown = slash == std::string::npos ? "" : typed.substr(0, slash + 1), begin = typed.substr(shown.size());
    auto folder = shown.empty() ? "." : shown;
    bool of_home = folder == "~/" || folder.starts_with("~/");
    if (of_home) folder = home_folder() + folder.substr(1);

    std::vector<term::Candidate> out;
    std::unique_ptr<DIR, Closed> open(opendir(folder.c_str()));
    for (int seen = 0; open && seen < most_seen; ++seen) {
        auto* entry = readdir(open.get());
        if (!entry)
            break;
        std::string_view name = entry->d_name;
        bool wanted = name.starts_with(begin) && name != "." && name != ".." && (name[0] != '.' || begin.starts_with('.'));
        if (!wanted || exposed(name) != name || name.find_first_of("\n\t") != name.npos)
            continue;
        struct stat info{};
        auto path = (folder == "." ? "" : folder) + std::string(name);
        bool is_folder = entry->d_type == DT_DIR || (entry->d_type != DT_REG && stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode));
        out.push_back({std::string(mark) + escaped(shown) + escaped(name) + (is_folder ? "/" : ""), ""});
    }
    std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.text < b.text; });
    if (out.size() > most_given) out.resize(most_given);
    return out;
}

}
