#include "applets/walk.h"

#include "base/fd.h"
#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <new>
#include <sys/stat.h>

namespace ik {
namespace {

// One component of a pattern.
struct Part {
    enum Kind { literal, ending, wildcard, any_depth };   // ending: * and then text without wildcards
    Kind kind;
    std::string text;      // without its escapes, unless it is a wildcard
    std::string slashes;   // between it and what comes before
};

struct Pattern {
    std::string root;            // what the walk begins with: "", "/", "some/path/"
    std::vector<Part> parts;
    bool folders_only = false;   // it ends in a slash, and so do the results
};

// As glob(3) tells a wildcard from a name: a bracket counts once it is closed.
bool has_wildcard(std::string_view text)
{
    bool open = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '*' || text[i] == '?' || (text[i] == ']' && open))
            return true;
        if (text[i] == '\\')
            ++i;
        open |= i < text.size() && text[i] == '[';
    }
    return false;
}

std::string without_escapes(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size())
            ++i;
        out += text[i];
    }
    return out;
}

bool ends_in_lone_backslash(std::string_view text)
{
    auto last = text.find_last_not_of('\\');
    return (text.size() - (last == text.npos ? 0 : last + 1)) % 2 == 1;
}

Part part(std::string_view text, std::string slashes)
{
    if (text == "**")
        return {Part::any_depth, "", std::move(slashes)};
    if (text[0] == '*' && text.find_first_of("*?[\\", 1) == text.npos)
        return {Part::ending, std::string(text.substr(1)), std::move(slashes)};
    if (has_wildcard(text) || ends_in_lone_backslash(text))   // which fits no name
        return {Part::wildcard, std::string(text), std::move(slashes)};
    return {Part::literal, without_escapes(text), std::move(slashes)};
}

bool is_any_depth(const Part& p) { return p.kind == Part::any_depth; }

// A text under ** has more than one way to its slashes: there one is as good as many.
void tidy_any_depth(std::vector<Part>& parts)
{
    if (std::ranges::none_of(parts, is_any_depth))
        return;
    auto twice = [](const Part& a, const Part& b) { return is_any_depth(a) && is_any_depth(b); };
    parts.erase(std::unique(parts.begin(), parts.end(), twice), parts.end());
    for (auto& p : parts)
        p.slashes = "/";
}

std::size_t slashes_at(std::string_view text)
{
    return std::min(text.find_first_not_of('/'), text.size());
}

// What the walk begins with, taken off the front of the pattern where that is absolute.
std::string take_root(const Search& search, std::string_view& pattern)
{
    if (pattern.starts_with("\\/"))
        pattern.remove_prefix(1);
    std::string root(pattern.substr(0, slashes_at(pattern)));
    pattern.remove_prefix(root.size());
    if (!search.path.empty()) {
        auto last = search.path.find_last_not_of('/');
        return search.path.substr(0, last == std::string::npos ? 0 : last + 1) + "/";
    }
    bool one_name = pattern.find_first_not_of('/', std::min(pattern.find('/'), pattern.size())) == pattern.npos;
    return pattern.empty() || (root == "//" && one_name) ? "/" : root;   // as glob(3) shows it
}

Pattern parse(const Search& search)
{
    std::string_view text = search.pattern;
    Pattern out;
    out.root = take_root(search, text);
    std::string slashes;
    for (std::size_t at = 0; at < text.size();) {
        slashes += text.substr(at, slashes_at(text.substr(at)));
        auto name_at = at + slashes_at(text.substr(at));
        auto name = text.substr(name_at, text.find('/', name_at) - name_at);
        if (name.empty()) {
            out.folders_only = true;
            break;
        }
        // Behind a wildcard glob(3) shows at most two slashes in a row.
        if (has_wildcard(text.substr(0, at)))
            slashes.resize(std::min<std::size_t>(2, slashes.size()));
        at = name_at + name.size();
        bool last = at == text.size();
        if (!last && ends_in_lone_backslash(name))
            name.remove_suffix(1);
        if (!name.empty())
            out.parts.push_back(part(name, std::exchange(slashes, {})));
    }
    tidy_any_depth(out.parts);
    return out;
}

enum class Type { folder, link, file, other };

Type type_of(mode_t mode)
{
    return S_ISDIR(mode) ? Type::folder : S_ISLNK(mode) ? Type::link : S_ISREG(mode) ? Type::file : Type::other;
}

class Walk {
public:
    Walk(Pattern pattern, bool regular_only) : pattern_(std::move(pattern)), regular_only_(regular_only), buffer_(65536) {}

    Status run(FunctionRef<bool(const std::string&)> found);

private:
    using Places = std::vector<std::uint16_t>;   // the parts that the entries of a folder are matched with, ascending

    // What is left to do in the folders above: a path to be told, or a folder to be entered.
    struct Task {
        std::string name;         // with the slashes behind it
        Places places;            // of a folder
        std::size_t parent = 0;   // the length of path_ up to its parent
    };

    void enter(Places);
    void look_up(const Places&);
    bool read_folder(const Places&);
    void consider(const char* name, unsigned char known, const Places&);
    void found(std::string_view name, Type);
    void descend(std::string name, Places);
    static bool matches(const Part&, const char* name);
    Type type(const char* name, unsigned char known) const;
    bool last(std::size_t place) const { return place + 1 == pattern_.parts.size(); }

    Pattern pattern_;
    bool regular_only_;
    std::string unread_;               // the first folder that could not be read, and why
    std::string path_;                 // of the folder that is being looked at, with its slash
    std::vector<char> buffer_;
    std::vector<Task> waiting_;        // the first in byte order last; its parents are a prefix of path_ when its turn comes
};

Status Walk::run(FunctionRef<bool(const std::string&)> tell)
{
    path_ = pattern_.root;
    if (!pattern_.parts.empty())
        enter({0});
    else if (is_folder(path_) && !regular_only_)
        tell(path_);
    while (!waiting_.empty()) {
        auto task = std::move(waiting_.back());
        waiting_.pop_back();
        path_.resize(task.parent);
        path_ += task.name;
        if (!task.places.empty())
            enter(std::move(task.places));
        else if (!tell(path_))
            return Done{};
    }
    if (!unread_.empty())
        return Error{code::read_error, "Read error during glob", unread_};
    return Done{};
}

void Walk::enter(Places places)
{
    // ** is also no folder at all: what follows it is matched here too.
    for (std::size_t i = 0; i < places.size(); ++i) {
        std::size_t place = places[i];
        if (is_any_depth(pattern_.parts[place]) && !last(place) && (i + 1 == places.size() || places[i + 1] != place + 1))
            places.insert(places.begin() + static_cast<std::ptrdiff_t>(i) + 1, static_cast<std::uint16_t>(place + 1));
    }
    auto before = waiting_.size();
    bool names_only = std::ranges::all_of(places, [&](auto place) { return pattern_.parts[place].kind == Part::literal; });
    if (names_only || !read_folder(places))
        look_up(places);
    // A folder's name counts with its slash: so its content comes where it belongs among the names beside it,
    // and behind the folder itself.
    std::sort(waiting_.begin() + static_cast<std::ptrdiff_t>(before), waiting_.end(), [](const Task& a, const Task& b) {
        auto order = a.name.compare(b.name);
        return order ? order > 0 : a.places.size() > b.places.size();
    });
}

// Names without wildcards are found in folders that may be searched but not read, too.
void Walk::look_up(const Places& places)
{
    for (auto place : places) {
        auto& part = pattern_.parts[place];
        if (part.kind != Part::literal)
            continue;
        struct stat info {};
        if (!last(place))
            descend(part.text, {static_cast<std::uint16_t>(place + 1)});
        else if (lstat((path_ + part.text).c_str(), &info) == 0)
            found(part.text, type_of(info.st_mode));
        else
            note_unread(unread_, path_ + part.text);
    }
}

// All of a folder is read before the next is opened: one descriptor is enough at any depth.
bool Walk::read_folder(const Places& places)
{
    Fd fd(open(path_.empty() ? "." : path_.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    if (!fd) {
        note_unread(unread_, path_.empty() ? "." : path_);
        return false;
    }
    for (;;) {
        auto size = getdents64(fd.get(), buffer_.data(), buffer_.size());
        if (size < 0)
            note_unread(unread_, path_.empty() ? "." : path_);
        if (size <= 0)
            return true;
        for (ssize_t at = 0; at < size;) {
            auto* entry = reinterpret_cast<const dirent64*>(buffer_.data() + at);
            consider(entry->d_name, entry->d_type, places);
            at += entry->d_reclen;
        }
    }
}

void Walk::consider(const char* name, unsigned char known, const Places& places)
{
    bool wanted = false;
    auto is = Type::other;
    Places next;
    auto go_on = [&](std::size_t place) {
        if (next.empty() || next.back() != place)
            next.push_back(static_cast<std::uint16_t>(place));
    };
    for (std::size_t place : places) {
        auto& part = pattern_.parts[place];
        if (!matches(part, name))
            continue;
        if (!wanted && next.empty())
            is = type(name, known);
        wanted |= last(place);
        if (is_any_depth(part) && is == Type::folder)
            go_on(place);
        else if (!is_any_depth(part) && !last(place) && (is == Type::folder || is == Type::link))
            go_on(place + 1);
    }
    if (wanted)
        found(name, is);
    if (!next.empty())
        descend(name, std::move(next));
}

bool Walk::matches(const Part& part, const char* name)
{
    switch (part.kind) {
    case Part::literal: return part.text == name;
    case Part::ending: return name[0] != '.' && std::string_view(name).ends_with(part.text);
    case Part::wildcard: return fnmatch(part.text.c_str(), name, FNM_PERIOD) == 0;
    case Part::any_depth: return name[0] != '.';
    }
    return false;
}

Type Walk::type(const char* name, unsigned char known) const
{
    switch (known) {
    case DT_DIR: return Type::folder;
    case DT_LNK: return Type::link;
    case DT_REG: return Type::file;
    case DT_UNKNOWN: break;   // some file systems do not say
    default: return Type::other;
    }
    struct stat info {};
    return lstat((path_ + name).c_str(), &info) == 0 ? type_of(info.st_mode) : Type::other;
}

void Walk::found(std::string_view name, Type is)
{
    if (regular_only_ && (is != Type::file || pattern_.folders_only))
        return;
    if (pattern_.folders_only && is != Type::folder && !(is == Type::link && is_folder(path_ + std::string(name))))
        return;
    waiting_.push_back({std::string(name) + (pattern_.folders_only ? "/" : ""), {}, path_.size()});
}

// Not at once: however deep a tree is, the stack stays small.
void Walk::descend(std::string name, Places places)
{
    waiting_.push_back({std::move(name) + pattern_.parts[places.front()].slashes, std::move(places), path_.size()});
}

}

void note_unread(std::string& first, const std::string& path)
{
    constexpr int passed_over[] = {EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, ENXIO, ENODEV, EINVAL, EOPNOTSUPP};
    if (int why = errno; first.empty() && std::ranges::find(passed_over, why) == std::end(passed_over))
        first = path + ": " + std::strerror(why);
}

Status walk(const Search& search, FunctionRef<bool(const std::string&)> found)
{
    if (search.pattern.empty() || search.pattern.size() >= PATH_MAX)
        return Error{code::invalid_pattern, "Invalid glob pattern"};
    try {
        return Walk(parse(search), search.regular_only).run(found);
    } catch (const std::bad_alloc&) {
        return Error{code::out_of_memory, "Out of memory during glob"};
    }
}

Result<std::vector<std::string>> walk(const Search& search)
{
    std::vector<std::string> out;
    auto done = walk(search, [&](const std::string& path) { return out.push_back(path), true; });
    if (!done)
        return done.error();
    return out;
}

}
