// JSON arguments as each applet reads and checks them; those of the readers of files go on to the work, in a small folder.
#include "fuzz/fuzz.h"

#include "applets/applet.h"
#include "agent/registry.h"
#include "host.h"

namespace ik::fuzz {
namespace {

// What may be run with any arguments: its paths are set to our own.
constexpr std::string_view reader = "file_read";

void read_file(const Applet& applet, Json arguments)
{
    static const bool written = (write_scratch("abc.txt", "a\nb\nc\n"), true);
    if (!written || !arguments.find("file_path"))
        return;
    arguments.set("file_path", scratch() + "/abc.txt");
    Answer answer;
    if (auto done = applet.run(arguments, answer); !done) answer.fail(done.error());
    answer.end();
    claim(parse_json(answer.take()).operator bool(), "an answer is JSON");
}

}

void applet_arguments(std::string_view bytes)
{
    auto arguments = parse_json(bytes);
    if (!arguments)
        return;
    for (auto* applet : all_applets()) {
        auto checked = check(*applet, *arguments);
        Tool tool{.name = applet->doc.name, .path = "", .origin = "", .argv = {}, .schema = schema(*applet)};
        fitting_arguments(tool, *arguments).operator bool();
        if (!checked)
            continue;
        claim(check(*applet, *checked).operator bool(), "checked arguments are right");
        if (applet->doc.name == reader)
            read_file(*applet, *checked);
    }
}

}
