#include "attach.h"

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

constexpr std::size_t longest_file = 256 << 10, longest_all = 1 << 20;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

std::string path_of(const std::string& name) { return name.starts_with("~/") ? home_folder() + name.substr(1) : name; }

bool is_there(const std::string& name)
{
    struct stat info{};
    return stat(path_of(name).c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

Result<std::string> content_of(const std::string& path)
{
    auto file = open_file(path);
    if (!file)
        return file.error();
    auto read = read_up_to(*file, path, longest_file + 1);
    if (!read)
        return read.error();
    auto& out = *read;
    if (out.size() > longest_file)
        return Error{code::invalid_arg, path + " is larger than 256 KB"};
    if (out.find('\0') != std::string::npos || !valid_utf8(out))
        return Error{code::invalid_arg, path + " is no text"};
    return read;
}

// Longer than any in the content.
std::string fence_for(std::string_view content)
{
    std::size_t longest = 2, run = 0;
    for (char c : content) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    return std::string(longest + 1, '`');
}

std::string block(const std::string& name, std::string_view content)
{
    auto fence = fence_for(content);
    auto dot = base_name(name).rfind('.');
    auto language = dot == std::string::npos || dot == 0 ? "" : base_name(name).substr(dot + 1);
    std::string out = "\n\n" + name + ":\n" + fence + language + "\n";
    out += content;
    if (!content.empty() && !content.ends_with('\n')) out += '\n';
    return out + fence;
}

// The name that is meant where a sentence goes on behind it: "look at @a.cc, please".
std::string meant(std::string name)
{
    while (!name.empty() && !is_there(name) && std::string_view(".,;:!?)]}'\"").find(name.back()) != std::string_view::npos) name.pop_back();
    return name;
}

}

std::vector<std::string> named_files(std::string_view message)
{
    std::vector<std::string> out;
    for (std::size_t at = 0; (at = message.find('@', at)) != message.npos;) {
        bool begins = at == 0 || is_blank(message[at - 1]) || message[at - 1] == '(';
        std::string name;
        for (++at; begins && at < message.size() && !is_blank(message[at]); ++at) {
            if (message[at] == '\\' && at + 1 < message.size() && message[at + 1] != '\n') ++at;
            name += message[at];
        }
        if (!name.empty() && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    }
    return out;
}

Attached attach(std::string_view message, FunctionRef<bool(const std::string& path)> may_read)
{
    Attached out{std::string(message), {}, {}};
    std::size_t all = 0;
    for (auto& word : named_files(message)) {
        auto name = meant(word);
        if (name.empty() || !is_there(name) || std::find(out.names.begin(), out.names.end(), name) != out.names.end())
            continue;
        if (!may_read(path_of(name))) {
            out.refused.push_back(name + " may not be read: it is not attached");
            continue;
        }
        auto content = content_of(path_of(name));
        if (!content) {
            out.refused.push_back(content.error().message + ": it is not attached");
            continue;
        }
        all += content->size();
        if (all > longest_all) {
            out.refused.push_back("the files are larger than 1 MB together: " + name + " and what follows is not attached");
            break;
        }
        out.text += block(name, *content);
        out.names.push_back(name);
    }
    return out;
}

}
