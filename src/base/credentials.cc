#include "base/credentials.h"

#include "base/file.h"
#include "base/places.h"

namespace ik {

std::string Credentials::at(std::initializer_list<std::string_view> names) const
{
    auto* here = &value;
    for (auto name : names)
        here = here ? here->find(name) : nullptr;
    auto* text = here ? here->as<std::string>() : nullptr;
    return text ? *text : "";
}

Credentials read_credentials(const std::string& path)
{
    Credentials out{.path = path};
    auto text = path.empty() ? Result<std::string>(Error{code::file_not_found, ""}) : read_own_file(path, Own::secret);
    if (!text) {
        if (text.error().code != code::file_not_found)
            out.warning = path + ": not used: " + text.error().message;
        return out;
    }
    auto written = parse_written(*text);
    if (!written)
        out.warning = path + ":" + written.error().message + " The file is not used.";
    else
        out.value = std::move(written->value);
    return out;
}

std::string credentials_path()
{
    auto folder = config_folder();
    return folder.empty() ? "" : folder + "/credentials.json";
}

}
