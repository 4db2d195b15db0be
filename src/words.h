// The words of a command line that several commands understand, and those of a conversation.
#pragma once

#include "chat.h"
#include "settings.h"

#include <map>

namespace CLI {
class App;
}

namespace ik {

using Words = std::map<std::string, std::string>;   // settings, by name, as they were written

struct ChatWords {
    ChatOptions options;
    std::string format = "text", system_file;
    bool go_on = false, no_save = false;
    std::optional<std::string> resume;   // empty: to be chosen
    Words set;
};

std::string provider_names();            // "openai, anthropic, …"

// What they are given must live as long as the parser.
void add_sandbox_option(CLI::App&, Words&, const std::string& option = "--sandbox");
void add_provider_options(CLI::App&, Words&, bool& trust);
void add_chat_options(CLI::App&, ChatWords&);

// Files, environment and command line; what is wrong with them is said.
Settings settings_of(const Words&, ProjectTrust&);

int run_chat(ChatWords&, const World&);   // the exit status

}
