// inquiries: `ikigai config` and `ikigai models`, and what asking the model's service takes. No key is
// ever printed.
#pragma once

#include "provider_choice.h"
#include "settings.h"

namespace ik {

// What the settings ask for, with the file of keys.
ProviderWish wish_of(const Settings&);

// Every setting, its value and where it came from; the warnings at the end, or in "warnings".
std::string config_text(const Settings&, bool json);

// Prints the models of the chosen provider. Exit status: 0; 1 when it did not say; 2 without a provider.
int models(const Settings&, bool json, const std::string& self);

// The answer of `ikigai llm` to one line of that type: an object with "type", or an error line of its own.
// Waits at most 20 s. self: our executable.
Json asked(const ProviderChoice&, std::string_view type, const std::string& self);

// text without what may be secret in an address: http://user:***@host.
std::string without_password(const std::string& address);

}
