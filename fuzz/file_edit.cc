// A text, what is replaced in it, and by what: as a plain search and replace has it.
#include "fuzz/fuzz.h"

#include "applets/applet.h"
#include "base/file.h"

namespace ik::fuzz {
namespace {

struct Replaced { std::string text; std::size_t times = 0; };

Replaced replaced(std::string_view text, std::string_view from, std::string_view to)
{
    Replaced out;
    for (std::size_t at = 0;;) {
        auto next = text.find(from, at);
        out.text += text.substr(at, next - at);
        if (next == text.npos)
            return out;
        out.text += to;
        ++out.times;
        at = next + from.size();
    }
}

std::string content(const std::string& path)
{
    auto fd = open_file(path);
    std::string text(1 << 20, '\0');
    auto n = fd ? read_file(*fd, path, text.data(), text.size()) : Result<std::size_t>(fd.error());
    claim(n.operator bool(), "the file is there");
    text.resize(*n);
    return text;
}

}

void file_edit(std::string_view bytes)
{
    if (bytes.empty() || bytes.size() > 100'000)
        return;
    bool all = bytes[0] & 1;
    bytes.remove_prefix(1);
    auto from = take(bytes), to = take(bytes);
    write_scratch("edited", bytes);
    auto path = scratch() + "/edited";
    Answer answer;
    auto done = applets::file_edit.run(object({{"file_path", path}, {"old_string", from}, {"new_string", to}, {"replace_all", all}}), answer);
    if (from.empty() || from == to)
        return claim(!done, "there is something to do");
    auto expected = replaced(bytes, from, to);
    bool edited = all || expected.times == 1;
    claim(done.operator bool() == edited, "it is done where it can be");
    claim(content(path) == (edited ? expected.text : bytes), "and the rest of the file is as it was");
}

}
