// start: what `ikigai chat` does before there is a conversation: follow the settings, find the provider
// and its key, then split and talk.
#pragma once

#include "chat.h"
#include "settings.h"

namespace ik {

// How tools are confined, as the settings have it.
SandboxWish sandbox_of(const Settings&);

// Exit status: chat's; 2 where nobody can be asked. options: what is no setting.
int start_chat(ChatOptions options, const Settings&, const World&);

}
