#include "outbox.h"

#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ik {
namespace {

// Letters, digits, - and _ of a name that may come from anywhere.
std::string file_name(std::string_view name)
{
    std::string out;
    for (unsigned char c : name.substr(0, 64))
        out += std::isalnum(c) || c == '_' ? static_cast<char>(c) : '-';
    return out;
}

}

Outbox::Outbox(std::string folder, const std::string& call_id) : folder_(std::move(folder)), call_(file_name(call_id)) {}

std::string Outbox::path(std::string_view member) const
{
    if (member.starts_with("result."))
        member.remove_prefix(7);
    return folder_ + "/" + call_ + "-" + file_name(member) + ".txt";
}

Result<std::pair<Fd, std::string>> Outbox::file(std::string_view member) const
{
    if (folder_.empty())
        return Error{code::write_failed, "there is no folder for what is too long"};
    auto name = path(member);
    auto opened = [&] { return Fd(open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)); };
    auto fd = opened();
    if (!fd && errno == ENOENT && make_folders(folder_))   // for the first file of a session
        fd = opened();
    if (!fd)
        return Error{code::write_failed, name + ": " + std::strerror(errno)};
    return std::pair(std::move(fd), std::move(name));
}

Result<std::string> Outbox::keep(std::string_view text, std::string_view member) const
{
    auto target = file(member);
    if (!target)
        return target.error();
    if (!write_all(target->first.get(), text))
        return Error{code::write_failed, target->second + ": " + std::strerror(errno)};
    return target->second;
}

}
