#include "long_string.h"

#include "base/text.h"

#include <algorithm>
#include <unistd.h>

namespace ik {

void Ends::add(std::string_view bytes)
{
    auto room = std::min(size - head_.size(), bytes.size());
    head_ += bytes.substr(0, room);
    bytes.remove_prefix(room);
    tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), size));
    if (tail_.size() > 4 * size)
        tail_.erase(0, tail_.size() - size);
}

std::string Ends::text() const
{
    return std::string(head().substr(0, head_.size() - incomplete_tail(head_))) + std::string(utf8_suffix(tail_, std::min(size, tail_.size())));
}

LongString::LongString(std::string path, Result<std::pair<Fd, std::string>> file) : long_{std::move(path), 0, ""}
{
    if (!file)
        return;
    file_ = std::move(file->first);
    long_.file = std::move(file->second);
}

std::size_t LongString::add(std::string_view raw, Notes& notes)
{
    auto plain = unescape_.ended_well() ? verbatim_prefix(raw) : 0;
    if (plain == raw.size() || (plain && raw[plain] == '"')) {   // nothing to decode
        notes.same(plain);
        write(raw.substr(0, plain));
        return plain;
    }
    auto decoded = unescape_.decode(raw, notes);
    write(decoded.text);
    return decoded.taken;
}

void LongString::write(std::string_view decoded)
{
    long_.size += decoded.size();
    ends_.add(decoded);
    if (!file_ || write_all(file_.get(), decoded))
        return;
    file_.reset();
    unlink(long_.file.c_str());
    long_.file.clear();
}

}
