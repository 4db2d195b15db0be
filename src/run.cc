#include "run.h"

#include "base/signals.h"
#include "base/text.h"
#include "discover.h"
#include "environment.h"
#include "host.h"
#include "mouth.h"
#include "redact.h"
#include "say.h"
#include "supervise.h"

#include <cerrno>
#include <cstring>

namespace ik {
namespace {

Result<std::string> read_stdin()
{
    std::string input(1 << 20, '\0');
    std::size_t size = 0;
    for (;;) {
        auto n = read_some(0, input.data() + size, input.size() - size);
        if (n < 0) return Error{code::read_failed, std::string("cannot read standard input: ") + std::strerror(errno)};
        size += static_cast<std::size_t>(n);
        if (n == 0) return input.substr(0, size);
        if (size > 256u << 20) return Error{code::invalid_arg, "standard input is longer than 256 MB"};
        if (size == input.size()) input.resize(2 * size);
    }
}

}

int run_tool(RunOptions options, const World& world)
{
    auto text = options.arguments ? Result(*options.arguments) : read_stdin();
    if (!text)
        return fail(text.error().message, 2);
    auto arguments = trim(*text).empty() ? Result<Json>(Json(Json::Object{})) : parse_json(*text);
    if (!arguments)
        return fail("the arguments of " + options.tool + ": " + arguments.error().message, 2);

    auto id = new_id();
    options.sandbox.outputs = outputs_folder(id);
    auto sandbox = Sandbox::make(options.sandbox);
    if (!sandbox)
        return fail(sandbox.error().message, 1);
    for (auto& notice : sandbox->notices()) warn(notice);
    auto registry = tools_found(world, options.project.trusted(), [&] { return sandbox->confinement(); });
    Signals signals;
    int told_to_end = 0;   // the signal that ends us
    std::optional<Host> host;
    host.emplace(Host::Options{.session = id, .outputs = options.sandbox.outputs,
               .rules = options.rules, .sandbox = &*sandbox,
               .objection = [&](const Tool& each) { return options.project.objection(each); }});
    Audit audit({.to = options.audit, .session = id, .path = audit_log(), .secrets = own_secrets()});
    auto* tool = registry.find(options.tool);
    if (!tool)
        tool = registry.find(replace(options.tool, '-', '_'));
    ToolCall call{"call", tool ? tool->name : options.tool, *arguments};
    audit.call(call);
    host->run(tool, call);
    for (;;) {
        for (auto& finished : host->take_finished()) {
            audit.result(finished.call, finished.envelope, finished.duration);
            if (auto why = audit.take_trouble())
                warn(*why);
            if (!finished.words.empty())
                write_all(2, finished.words + (finished.words.ends_with('\n') ? "" : "\n"));
            for (auto& notice : finished.notices)
                write_all(2, harmless(notice.text("content")) + "\n");
            int status = print(finished.envelope.dump() + "\n");
            write_all(2, harmless(told(host->left())));
            host.reset();
            end_what_is_left();
            sandbox->close();
            if (told_to_end)
                die_of(told_to_end);
            return status ? status : *finished.envelope.find("tool_success") == Json(true) ? 0 : 1;
        }
        Poll poll;
        host->add_to(poll);
        poll.read(signals.fd());
        poll.wait();
        host->advance(poll);
        host->tidy();
        if (auto number = poll.ready(signals.fd()) ? signals.take() : std::nullopt) {
            told_to_end = *number;
            host->cancel();
        }
    }
}


}
