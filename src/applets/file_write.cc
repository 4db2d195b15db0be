// file_write: a file gets new content, all of it or none.
#include "applets/applet.h"

#include "base/file.h"
#include "base/replacement.h"

namespace ik {
namespace {

struct Args {
    std::string file_path, content;
};

constexpr Param<Args> params[] = {
    {"file_path", &Args::file_path, "Absolute or relative path to file"},
    {"content", &Args::content, "Content to write to file", true},
};

constexpr Example examples[] = {
    {"A new file", R"({"file_path":"hello.txt","content":"Hello, world!\n"})", R"({"output":"Wrote 14 bytes to hello.txt","bytes":14})"},
    {"An empty one", R"({"file_path":"empty.txt","content":""})", R"({"output":"Wrote 0 bytes to empty.txt","bytes":0})"},
};

Status run(const Args& args, Answer& answer)
{
    auto file = Replacement::begin(args.file_path);
    if (!file)
        return file.error();
    if (auto written = file->append(args.content); !written)
        return written;
    if (auto done = file->commit(); !done)
        return done;
    auto size = args.content.size();
    answer.member("output", "Wrote " + std::to_string(size) + " bytes to " + base_name(args.file_path));
    answer.member("bytes", size);
    return Done{};
}

}

constinit const Applet applets::file_write = applet<Args, params, run>({
    .name = "file_write",
    .summary = "Write content to a file (creates or overwrites)",
    .details = "The folder must exist.\n"
               "A new file gets the mode that the umask leaves of 0666.\n"
               ".Pp\n"
               "A file that exists is replaced as a whole, and at any moment holds either the old or the new content:\n"
               "the new one is written to a hidden file in the same folder, which then takes the place of the old one.\n"
               "Mode, owner, group, access lists and other extended attributes are kept.\n"
               "A symbolic link stays one; what it points to is replaced, or made.\n"
               "A write that fails leaves the old content.\n"
               "A\n.Dv SIGKILL\nin the moment before the new file takes its place may leave it behind, as\n.Pa .ikigai-new-* ;\nit can be removed.\n"
               ".Pp\n"
               "A file with other hard links, in a folder that may not be written,\n"
               "with an owner or attributes that cannot be given to a new file, or that is a mount point,\n"
               "is overwritten in place.\n"
               "Before that, the new content is complete in another file, the space for it is reserved,\n"
               "and the old content is kept in a hidden file, from which it is restored should the writing fail.\n"
               "A\n.Dv SIGKILL\nor a power failure in that moment may leave a mixture; then this copy stays, too.\n"
               ".Pp\n"
               "Devices, pipes that somebody reads, and files of\n.Pa /proc\nand\n.Pa /sys\nare written directly, in one write.",
    .errors = ".It Dv PERMISSION_DENIED\nThe file may not be written, or its folder not be searched or changed.\n"
              ".It Dv OPEN_FAILED\nThe file cannot be opened for another reason: its folder is missing, it is a directory,\n"
              "a pipe that nobody reads, a socket.\n"
              ".It Dv NO_SPACE\nThe device is full, or the user's part of it.\n"
              ".It Dv WRITE_FAILED\nWriting failed for another reason.\n",
    .examples = examples,
});

}
