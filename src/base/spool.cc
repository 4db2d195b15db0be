#include "base/spool.h"

#include <cerrno>
#include <unistd.h>

namespace ik {

void Spool::append(std::string_view bytes)
{
    size_ += bytes.size();
    if (!file_ && memory.size() + bytes.size() > in_memory_)
        if (auto file = anonymous_file()) {
            file_ = std::move(*file);
            keep(std::exchange(memory, {}));
        }
    if (!file_)
        memory += bytes;
    else
        keep(bytes);
}

void Spool::keep(std::string_view bytes)
{
    if (!failure && !write_all(file_.get(), bytes))
        failure = errno;
}

std::string Spool::read(std::size_t offset, std::size_t size) const
{
    std::string out;
    auto found = read(offset, size, out);
    if (file_) out.resize(found.size());
    else out = found;
    return out;
}

std::string_view Spool::read(std::size_t offset, std::size_t size, std::string& buffer) const
{
    if (!file_)
        return offset < memory.size() ? std::string_view(memory).substr(offset, size) : "";
    if (buffer.size() < size) buffer.resize(size);
    std::size_t have = 0;
    while (have < size) {
        auto n = pread(file_.get(), buffer.data() + have, size - have, static_cast<off_t>(offset + have));
        if (n == 0 || (n < 0 && errno != EINTR)) break;
        have += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return {buffer.data(), have};
}

}
