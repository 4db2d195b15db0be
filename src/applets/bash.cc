// bash: a shell command, its output in order, its exit code.
#include "applets/applet.h"

#include "base/poll.h"
#include "base/process.h"
#include "base/signals.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

struct Args {
    std::string command;
};

constexpr Param<Args> params[] = {
    {"command", &Args::command, "Shell command to execute"},
};

constexpr Example examples[] = {
    {"A command and its exit code", R"({"command":"wc -l < abc.txt; exit 3"})", R"({"output":"3","exit_code":3})"},
    {"What is written to standard error comes in its place", R"({"command":"echo a; echo b >&2; echo c"})", R"({"output":"a\nb\nc","exit_code":0})"},
};

constexpr off_t max_output = 256 << 20;

// -1 where it cannot be told.
off_t size_of(const Fd& file)
{
    struct stat info {};
    return fstat(file.get(), &info) < 0 ? -1 : info.st_size;
}

// Whether nothing more can be written where the file is.
bool disk_is_full(const Fd& file)
{
    struct statvfs system {};
    return fstatvfs(file.get(), &system) == 0 && system.f_blocks > 0 && (geteuid() == 0 ? system.f_bfree : system.f_bavail) == 0;
}

// Where the shell writes. A file and not a pipe: a command that is left in the background
// keeps a place to write, and what has been said so far can be looked at by others.
Result<Fd> output_file()
{
    const char* named = std::getenv("IKIGAI_OUTPUT");
    if (!named)
        return anonymous_file();
    Fd file(open(named, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    return file && !disk_is_full(file) ? Result<Fd>(std::move(file)) : anonymous_file();
}

std::vector<std::string> shell_environment()
{
    auto env = environment();
    std::erase_if(env, [](auto& entry) { return entry.starts_with("IKIGAI_OUTPUT="); });
    return env;
}

// The shell and, where this process leads a session of its own, all that the shell has started.
void signal_shell(const Process& shell, int number)
{
    if (getsid(0) == getpid() && number != SIGKILL)
        kill(0, number);   // blocked here
    else
        kill(shell.id(), number);
}

// Waits for the shell's end. When it is told to stop, or the output has no end, it ends the shell
// and whatever has been said until then is the answer.
Exit wait_for(Process& shell, const Fd& output)
{
    Signals signals;
    std::optional<Clock::time_point> kill_at;
    Exit exit;
    while (!shell.reap(exit)) {
        Poll poll;
        poll.read(shell.ended());
        poll.read(signals.fd());
        poll.until(kill_at ? *kill_at : Clock::now() + 50ms);   // the size of a file has no event
        poll.wait();

        bool told = signals.take().has_value();
        if (!kill_at && (told || size_of(output) > max_output)) {
            kill_at = Clock::now() + 1500ms;   // sooner than the host's own SIGKILL
            signal_shell(shell, SIGTERM);
        } else if (kill_at && Clock::now() >= *kill_at)
            signal_shell(shell, SIGKILL);
    }
    return exit;
}

// As many bytes as there are from there on, -1 where they cannot be read.
ssize_t read_at(const Fd& file, off_t at, char* buffer, off_t most)
{
    for (;;)
        if (auto n = pread(file.get(), buffer, static_cast<std::size_t>(most), at); n >= 0 || errno != EINTR)
            return n;
}

// All of the file but one newline at its end. Error: READ_FAILED, behind what could be read.
Status tell(const Fd& file, Answer& answer)
{
    std::array<char, 65536> buffer;
    off_t size = size_of(file), at = 0;
    ssize_t n = size < 0 ? -1 : 0;
    if (size > 0) {
        n = read_at(file, size - 1, buffer.data(), 1);
        size -= n == 1 && buffer[0] == '\n';
    }
    answer.open_text("output");
    while (n >= 0 && at < size && !answer.lost()) {
        n = read_at(file, at, buffer.data(), std::min<off_t>(static_cast<off_t>(buffer.size()), size - at));
        if (n == 0)
            break;   // it has become shorter
        if (n > 0)
            answer.text({buffer.data(), static_cast<std::size_t>(n)});
        at += n;
    }
    int why = errno;
    if (disk_is_full(file))
        answer.text("\n[the disk is full: what came after this may be lost]");
    answer.close_text();
    if (n < 0)
        return Error{code::read_failed, std::string("The command has run, but its output cannot be read: ") + std::strerror(why)};
    return Done{};
}

Status failed(const std::string& why, Answer& answer)
{
    answer.member("output", why);
    answer.member("exit_code", 127);
    return Done{};
}

Status run(const Args& args, Answer& answer)
{
    if (args.command.empty())
        return failed("", answer);

    auto output = output_file();
    if (!output)
        return failed(output.error().message, answer);
    Fd input = nothing();
    auto shell = Process::start({.argv = {"/bin/sh", "-c", args.command}, .env = shell_environment(), .in = input.get(),
                                 .out = output->get(), .err = output->get(), .own_session = false});
    if (!shell)
        return failed(shell.error().message, answer);

    auto exit = wait_for(*shell, *output);
    auto told = tell(*output, answer);
    answer.member("exit_code", exit.status());
    return told;
}

}

constinit const Applet applets::bash = applet<Args, params, run>({
    .name = "bash",
    .summary = "Execute a shell command and return output",
    .details = "The command is run by\n.Pa /bin/sh .\n"
               "Its standard output and standard error come in order, without one newline at the end;\n"
               "its standard input is\n.Pa /dev/null .\n"
               "The answer comes when the shell ends: a command that it leaves in the background goes on,\n"
               "and what it writes later is not part of the answer.\n"
               ".Pp\n"
               "On\n.Dv SIGTERM\nthe shell is stopped, and the answer holds what it had written until then.\n"
               "More than 256 MB of output stop it too.\n"
               "Where\n.Ev IKIGAI_OUTPUT\nnames a file, the output is collected there and stays there.\n"
               ".Pp\n"
               "The exit code is 127 where the command was not found or is empty,\n"
               "and 128 + N where the shell died of signal N.",
    .errors = ".It Dv READ_FAILED\nThe command has run, but its output could not be read back, or not all of it.\n",
    .examples = examples,
});

}
