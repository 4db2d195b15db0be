// A line of the model's process, and what the session makes of such lines.
#include "fuzz/fuzz.h"

#include "agent/wire.h"
#include "base/text.h"

namespace ik::fuzz {

void model_line(std::string_view bytes)
{
    Session session({.provider = "p", .model = "m", .system = "", .thinking = "", .max_turns = 3});
    session.on(UserSaid{"go"});
    for (auto line : split(bytes, '\n')) {
        auto event = model_event(line);
        if (!event || !session.asking())
            continue;
        for (auto& effect : session.on(*event))
            if (auto* run = std::get_if<Run>(&effect))
                session.on(ToolDone{run->call.id, failure("X", "x")});
        claim(session.turns() <= 3, "turns have a limit");
    }
    notice(bytes);
}

}
