// grep: the lines of files that match a regular expression.
#include "applets/applet.h"
#include "applets/match.h"
#include "applets/walk.h"

#include "base/fd.h"

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ik {
namespace {

struct Args {
    std::string pattern;
    std::optional<std::string> glob, path;
};

constexpr Param<Args> params[] = {
    {"pattern", &Args::pattern, "Regular expression pattern (POSIX extended)"},
    {"glob", &Args::glob, "Glob pattern to filter files (e.g., '*.c')"},
    {"path", &Args::path, "Directory to search in (default: current directory)"},
};

constexpr Example examples[] = {
    {"Lines of the files in a folder", R"({"pattern":"^[ab]$"})", R"({"output":"abc.txt:1: a\nabc.txt:2: b","count":2})"},
    {"A whole tree", R"({"pattern":"c","glob":"**/*.txt"})", R"({"output":"abc.txt:3: c","count":1})"},
    {"No match is not an error", R"({"pattern":"x"})", R"({"output":"","count":0})"},
};

constexpr std::size_t first_buffer = 256 << 10, longest_line = 64 << 20;
constexpr std::size_t binary_within = 8192;

class Grep {
public:
    Grep(const Matcher& matcher, Answer& answer) : matcher_(matcher), answer_(answer), buffer_(first_buffer, '\0') {}

    void file(const std::string& path);
    std::size_t count() const { return count_; }

private:
    bool fill(const Fd&);
    std::size_t complete() const;
    bool lines(const std::string& path, std::string_view text);
    void tell(const std::string& where, std::string_view what);

    const Matcher& matcher_;
    Answer& answer_;
    std::string buffer_;
    std::size_t size_ = 0, line_ = 0;   // bytes in the buffer; lines before it
    bool ended_ = false, binary_ = false;
    std::size_t count_ = 0;
};

// Never waits: not for a pipe's other end, not for a device.
Fd open_regular(const std::string& path)
{
    Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    struct stat info {};
    return fd && fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) ? std::move(fd) : Fd();
}

void Grep::file(const std::string& path)
{
    auto fd = open_regular(path);
    if (!fd)
        return;
    size_ = line_ = 0;
    ended_ = false;
    bool first = true;
    while (!ended_ && !answer_.lost()) {
        if (!fill(fd))
            return;
        if (std::exchange(first, false))
            binary_ = std::memchr(buffer_.data(), '\0', std::min(size_, binary_within));
        auto whole = complete();
        if (!lines(path, {buffer_.data(), whole}))
            return;
        size_ -= whole;
        std::memmove(buffer_.data(), buffer_.data() + whole, size_);
    }
}

// Reads until the buffer is full or the file at its end. False when it cannot be read on.
bool Grep::fill(const Fd& fd)
{
    if (size_ == buffer_.size())
        buffer_.resize(std::min(longest_line, buffer_.size() * 2));
    while (size_ < buffer_.size() && !ended_) {
        auto n = read_some(fd.get(), buffer_.data() + size_, buffer_.size() - size_);
        if (n < 0)
            return false;
        ended_ = n == 0;
        size_ += static_cast<std::size_t>(n);
    }
    return true;
}

// The bytes at the front that are whole lines. A line that is longer than anything is taken in pieces.
std::size_t Grep::complete() const
{
    if (ended_)
        return size_;
    if (auto* newline = static_cast<const char*>(memrchr(buffer_.data(), '\n', size_)))
        return static_cast<std::size_t>(newline - buffer_.data()) + 1;
    return size_ < longest_line ? 0 : size_;
}

// False when no more of this file is of interest.
bool Grep::lines(const std::string& path, std::string_view text)
{
    auto count_lines = [this](std::string_view of) { line_ += static_cast<std::size_t>(std::ranges::count(of, '\n')); };
    while (auto line = matcher_.first(text)) {
        if (answer_.lost())
            return false;
        auto at = static_cast<std::size_t>(line->data() - text.data());
        count_lines(text.substr(0, at));
        if (binary_) {
            tell(path + ": ", "binary file matches");
            return false;
        }
        tell(path + ":" + std::to_string(line_ + 1) + ": ", *line);
        text.remove_prefix(at);
        auto end = std::min(line->size() + 1, text.size());
        count_lines(text.substr(0, end));
        text.remove_prefix(end);
    }
    count_lines(text);
    return true;
}

void Grep::tell(const std::string& where, std::string_view what)
{
    if (count_++)
        answer_.text("\n");
    answer_.text(where);
    answer_.text(what);
}

Status run(const Args& args, Answer& answer)
{
    auto matcher = Matcher::compile(args.pattern);
    if (!matcher)
        return matcher.error();
    auto glob = args.glob.value_or("");
    auto paths = walk({.pattern = glob.empty() ? "*" : glob, .path = args.path.value_or(""), .regular_only = true});

    answer.open_text("output");
    Grep grep(*matcher, answer);
    if (paths)   // whatever else goes wrong, only a bad expression is an error
        for (auto& path : *paths)
            grep.file(path);
    answer.close_text();
    answer.member("count", grep.count());
    return Done{};
}

}

constinit const Applet applets::grep = applet<Args, params, run>({
    .name = "grep",
    .summary = "Search for pattern in files using regular expressions",
    .details = "Each line that matches is shown whole, as\n.Ql file:line: content ,\nfile after file in byte order.\n"
               "The files are those that\n.Xr ikigai-glob 1\nfinds for\n.Va glob\n(all that are not hidden, where it is missing or empty) in\n.Va path :\n"
               "without\n.Ql **\nin it, no folder below is searched.\n"
               "Only regular files are searched, no symbolic links;\nfiles that cannot be read are skipped.\n"
               "A file with a NUL byte in its first 8 KB is named once, as\n.Ql file: binary file matches .\n"
               "A line longer than 64 MB is searched, and shown, in pieces of that size.\n"
               ".Pp\n"
               "Patterns are extended regular expressions as in\n.Xr regex 7 ,\nwith\n.Ql \\ew ,\n.Ql \\es ,\n.Ql \\eb ,\n.Ql \\e<\nand back-references,\n"
               "and with\n.Ql \\ed\nand\n.Ql \\eD\noutside brackets for a digit and for anything else.\n"
               "They are matched byte by byte in the C locale:\na character of several bytes in a bracket matches each of its bytes.",
    .errors = ".It Dv INVALID_PATTERN\nThe expression is not valid, or is beyond what is reasonable:\n"
              "longer than 256 KB, groups nested more than 1,000 deep,\nrepetitions that expand to more than 20,000 states,\n"
              "more than about 4,000 alternatives and optional parts,\nor a back-reference in a repeated group that may be empty.\n",
    .examples = examples,
});

}
