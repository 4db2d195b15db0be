// Credentials: a file of keys that only its owner may read. Knows how to find a text in it; what the
// names mean comes from above.
#pragma once

#include "base/json.h"

namespace ik {

struct Credentials {
    std::string path;
    Json value = {};            // what is in the file; null where it is missing or was refused
    std::string warning = {};   // why it is not used

    // The text at a path of names: at({"web_search", "brave", "api_key"}). Empty where there is none.
    std::string at(std::initializer_list<std::string_view> names) const;
};

// JSON with comments. A missing file is an empty one. One that others can read is refused: the warning names the chmod.
Credentials read_credentials(const std::string& path);

// ~/.config/ikigai/credentials.json; empty without a home.
std::string credentials_path();

}
