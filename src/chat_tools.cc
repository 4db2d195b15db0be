// What a conversation has to do with tools: the part of chat.h that is about finding them and about what comes of their calls.
#include "chat.h"

#include "agent/context.h"
#include "agent/wire.h"

namespace ik {

// Without rules no tool is started, not even to be asked for its schema.
Registry::Places Chat::places()
{
    return tool_places(world_, options_.project.trusted(), [this] { return sandbox_.confinement(); });
}

void Chat::hear_tools()
{
    for (auto& finished : calls_.take_finished()) {
        if (hear_shell(finished))
            continue;
        mouth_.result(finished.call, finished.envelope, finished.duration);
        for (auto& notice : finished.notices) {
            mouth_.notice(notice);
            if (notice.text("kind") == "config_required") keeper_.note("config_required", std::string(notice.text("content")), notice);
        }
        happen(ToolDone{finished.call.id, std::move(finished.envelope)});
    }
    for (auto& [number, finished] : calls_.take_ended()) {
        mouth_.notice(object({{"kind", "background_ended"}, {"content", "In the background, " + std::to_string(number) + " (" + finished.call.name + ") has ended"},
                              {"data", object({{"number", number}, {"id", finished.call.id}, {"result", finished.envelope}})}}));
        prompted_ = false;
        happen(Noted{told_of_end(finished.call, number, finished.envelope, finished.duration)});
    }
}

void Chat::tell_trouble()
{
    while (auto why = calls_.take_trouble())
        mouth_.warn(*why);
}

void Chat::refresh()
{
    mouth_.say("Refreshing tools...\n");
    refreshing_.emplace();
    options_.project = ProjectTrust::here(options_.trust);   // it may have changed, or be trusted by now
    if (auto line = options_.project.line(); !line.empty())
        mouth_.warn(line);
    refreshing_->start(places());
}

void Chat::hear_registry()
{
    if (refreshing_ && refreshing_->settled() && !session_.busy()) {
        auto fresh = std::move(*refreshing_);
        refreshing_.reset();
        if (fresh.state() == Registry::State::failed)
            mouth_.warn("Refresh failed: " + fresh.failure());
        else {
            registry_ = std::move(fresh);
            mouth_.say("Tools refreshed. " + std::to_string(registry_.tools().size()) + " tools available.\n");
        }
        prompted_ = false;
    }
    if (!registry_.settled())
        return;
    if (registry_.state() == Registry::State::failed && !std::exchange(told_failure_, true))
        mouth_.warn("Some tools could not be looked for: " + registry_.failure());
    if (waiting_message_ && !session_.busy() && !keeper_.asking()) {
        session_.offer(offered_tools(registry_.tools(), options_.only_tools));
        auto text = std::move(*waiting_message_);
        waiting_message_.reset();
        calls_.begin_turn();
        happen(UserSaid{std::move(text)});
    }
}

}
