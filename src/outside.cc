#include "outside.h"

#include "base/file.h"
#include "base/places.h"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t longest = 8 << 20;

}

Result<Outside> Outside::start(std::string_view text, int in, int out)
{
    Outside it;
    it.command_ = variable("VISUAL");
    if (it.command_.empty()) it.command_ = variable("EDITOR");
    if (it.command_.empty()) it.command_ = "vi";

    auto path = temporary_folder() + "/ikigai-XXXXXX.md";
    Fd file(mkostemps(path.data(), 3, O_CLOEXEC));   // of mode 0600
    if (!file)
        return file_error(Doing::creating, path);
    it.name_ = TemporaryName(path);
    auto whole = std::string(text) + (text.empty() || text.ends_with('\n') ? "" : "\n");
    if (!write_all(file.get(), whole))
        return file_error(Doing::writing, path);

    // A shell, since the variables may have options in them.
    auto process = Process::start({.argv = {"/bin/sh", "-c", "exec " + it.command_ + " \"$1\"", "sh", path}, .env = environment(),
                                   .in = in, .out = out, .err = out, .own_session = false});
    if (!process)
        return process.error();
    it.process_ = std::move(*process);
    return it;
}

bool Outside::ended() { return !process_.running() || process_.reap(exit_); }

Result<std::string> Outside::finish()
{
    if (exit_ != Exit{})
        return Error{code::spawn_failed, "the editor (" + command_ + ") ended with status " + std::to_string(exit_.status()) + ": the text is as it was"};
    auto file = open_file(name_.path());
    if (!file)
        return file.error();
    auto out = read_up_to(*file, name_.path(), longest);
    while (out && out->ends_with('\n')) out->pop_back();
    return out;
}

}
