// A file of settings.
#include "fuzz/fuzz.h"

#include "base/credentials.h"
#include "settings.h"

namespace ik::fuzz {

void config_file(std::string_view bytes)
{
    std::vector<ConfigKey> keys;
    for (auto& row : setting_rows()) keys.push_back(row.key);
    write_scratch("config.json", bytes);
    auto path = scratch() + "/config.json";
    auto file = read_config(path, keys);
    for (auto& value : file.values) claim(value.origin.starts_with(path), "a value knows its place");
    for (auto& key : keys) value_of(key, bytes).operator bool();
    auto credentials = read_credentials(path);
    credentials.at({"openai", "api_key"});
}

}
