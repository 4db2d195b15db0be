// grep: the lines of files that match a regular expression.
#include "applets/applet.h"
#include "applets/search_pool.h"
#include "applets/walk.h"

#include <sched.h>

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

// So many files are searched before a second thread is worth its start.
constexpr std::size_t few_files = 64;
constexpr unsigned most_threads = 8;

unsigned processors()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

Status run(const Args& args, Answer& answer)
{
    auto matcher = Matcher::compile(args.pattern);
    if (!matcher)
        return matcher.error();
    auto glob = args.glob.value_or("");
    Search files{.pattern = glob.empty() ? "*" : glob, .path = args.path.value_or(""), .regular_only = true};

    answer.open_text("output");
    std::size_t count = 0;
    std::string unread;
    auto deliver = [&](FoundLines& found) {
        answer.text(std::string_view(found.text).substr(count == 0 && found.count > 0));   // no newline before the first
        count += found.count;
        if (unread.empty())
            unread = std::move(found.unread);
        found.unread.clear();
        found.count = 0;
        found.text.clear();
        return !answer.lost();
    };
    LineSearch alone(*std::move(matcher));
    std::optional<SearchPool> together;
    auto threads = std::min(processors(), most_threads);
    std::size_t searched = 0;
    // Whatever else goes wrong, only a bad expression is an error; but that not everything was searched is said.
    auto walked = walk(files, [&](const std::string& path) {
        if (!together && threads > 1 && searched++ == few_files) {
            if (!deliver(alone.found()))
                return false;
            together.emplace(args.pattern, threads, deliver);
            if (!together->started())
                together.reset();
        }
        return together ? together->add(path) : alone.file(path, deliver);
    });
    if (together)
        together->finish();
    deliver(alone.found());
    answer.close_text();
    answer.member("count", count);
    if (!walked && walked.error().code == code::read_error)
        unread = walked.error().hint;
    if (!unread.empty())
        answer.member("hint", "not everything could be read: " + unread);
    return Done{};
}

}

constinit const Applet applets::grep = applet<Args, params, run>({
    .name = "grep",
    .summary = "Search for pattern in files using regular expressions",
    .details = "Each line that matches is shown whole, as\n.Ql file:line: content ,\nfile after file in byte order.\n"
               "The files are those that\n.Xr ikigai-glob 1\nfinds for\n.Va glob\n(all that are not hidden, where it is missing or empty) in\n.Va path :\n"
               "without\n.Ql **\nin it, no folder below is searched.\n"
               "Only regular files are searched, no symbolic links;\nfiles that may not be read are skipped.\n"
               "Where one could not be read for another reason, such as a broken disk, the answer's\n.Va hint\nnames it.\n"
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
