// glob: the paths that match a pattern.
#include "applets/applet.h"
#include "applets/walk.h"

namespace ik {
namespace {

struct Args {
    std::string pattern;
    std::optional<std::string> path;
};

constexpr Param<Args> params[] = {
    {"pattern", &Args::pattern, "Glob pattern (e.g., '*.txt', 'src/**/*.c')"},
    {"path", &Args::path, "Directory to search in (default: current directory)"},
};

constexpr Example examples[] = {
    {"The text files of a folder", R"({"pattern":"*.txt"})", R"({"output":"abc.txt","count":1})"},
    {"A whole tree", R"({"pattern":"**/*.txt","path":"."})", R"({"output":"./abc.txt","count":1})"},
    {"No match is not an error", R"({"pattern":"*.none"})", R"({"output":"","count":0})"},
};

Status run(const Args& args, Answer& answer)
{
    std::vector<std::string> paths;
    auto walked = walk({.pattern = args.pattern, .path = args.path.value_or("")}, [&](const std::string& path) { return paths.push_back(path), true; });
    if (!walked && (paths.empty() || walked.error().code != code::read_error))
        return walked;
    answer.open_text("output");
    std::string_view between;
    for (auto& path : paths) {
        answer.text(between);
        answer.text(path);
        between = "\n";
    }
    answer.close_text();
    answer.member("count", paths.size());
    return walked;
}

}

constinit const Applet applets::glob = applet<Args, params, run>({
    .name = "glob",
    .summary = "Find files matching a glob pattern",
    .details = "The paths are one a line, in byte order, those of folders and of broken symbolic links too.\n"
               "Each begins with\n.Va path\nwhere one is given; in it wildcards are ordinary characters.\n"
               ".Pp\n"
               "A pattern is read as by\n.Xr glob 7\nin the C locale:\n.Ql * ,\n.Ql \\&?\nand\n.Ql [a-z]\n"
               "match within one component of a path, and a name that begins with a dot is matched only by a component that does.\n"
               "A pattern that ends in a slash matches folders only.\n"
               "A component\n.Ql **\nmatches folders at any depth, none included,\nbut hidden folders and symbolic links are not entered by it;\n"
               "at the end of a pattern it is everything below.\n"
               ".Pp\n"
               "Folders that may not be read are skipped.\n"
               "No match is not an error.",
    .errors = ".It Dv INVALID_PATTERN\nThe pattern is empty, or longer than any path (4,095 bytes).\n"
              ".It Dv READ_ERROR\nA folder could not be read for another reason, which\n.Va hint\nnames:\n"
              "no file descriptor was left, the disk is broken.\nWhat was found elsewhere is in the answer all the same.\n"
              ".It Dv OUT_OF_MEMORY\nThere are more paths than memory.\n",
    .examples = examples,
});

}
