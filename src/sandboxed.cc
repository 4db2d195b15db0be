#include "sandboxed.h"

#include "base/places.h"
#include "base/poll.h"
#include "base/process.h"
#include "base/signals.h"
#include "environment.h"
#include "say.h"

#include <csignal>

namespace ik {

std::optional<std::string> cannot_sandbox(const SandboxWish& wish)
{
    auto why = wish.mode == SandboxMode::off ? std::nullopt : no_sandbox();
    return why ? std::optional("tools cannot be sandboxed: " + *why) : std::nullopt;
}

int run_sandboxed(std::vector<std::string> words, SandboxWish wish)
{
    if (auto why = cannot_sandbox(wish))
        return fail(*why, 1);
    wish.terminal = true;
    auto sandbox = Sandbox::make(wish);
    if (!sandbox)
        return fail(sandbox.error().message, 1);
    auto rules = sandbox->confinement();
    if (!rules)
        return fail(rules.error().message, 1);
    for (auto& notice : sandbox->notices()) warn(notice);
    auto env = without_secrets(environment());
    if (!sandbox->temporary().empty())
        set_variable(env, "TMPDIR", sandbox->temporary());
    words[0] = in_path(words[0]);
    sandbox->remember();

    Signals signals;
    auto program = Process::start({.argv = words, .env = env, .own_session = false, .confinement = *rules});
    if (!program)
        return fail(program.error().message, 127);
    Exit exit;
    while (!program->reap(exit)) {
        Poll poll;
        poll.read(program->ended());
        poll.read(signals.fd());
        if (!program->ended()) poll.until(Clock::now() + milliseconds(50));
        poll.wait();
        if (auto number = signals.take(); number && *number != SIGINT)   // that the terminal sends to it, too
            kill(program->id(), *number);
    }
    for (auto& sentence : sandbox->put_back())
        warn(sentence);
    return exit.status();
}

}
