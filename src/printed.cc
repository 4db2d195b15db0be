#include "printed.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace ik {

void Printed::append(std::string_view bytes)
{
    size_ += bytes.size();
    if (!is_long()) {
        memory_ += bytes;
        if (size_ <= long_string)
            return;
        shortener_.emplace(outbox_);
        bytes = memory_;
    }
    ends_.add(bytes);
    shortener_->add(bytes);
    std::string().swap(memory_);
}

std::string Printed::end(std::size_t most) const
{
    auto text = is_long() ? ends_.tail() : std::string_view(memory_);
    return std::string(text.substr(text.size() - std::min(text.size(), most)));
}

Output Printed::read()
{
    Output out;
    out.text = clean_utf8(is_long() ? ends_.text() : memory_);
    if (!is_long()) {
        out.answer = parse_json(out.text);
        return out;
    }
    shortener_->end();
    if (!shortener_->sound())
        return out;
    auto& text = shortener_->text();
    if (text.size() <= max_parsed) {
        out.answer = parse_json(clean_utf8(text.memory));
        out.longs = shortener_->longs();
    } else if (check_json(text)) {
        // More members than memory should hold: one file has all of it.
        auto file = keep("result");
        out.answer = file ? object({{"truncated", true}, {"path", *file}}) : object({{"truncated", true}, {"error", file.error().message}});
    }
    return out;
}

// It may have the name of one that it replaces, and that it is made from.
Result<std::string> Printed::keep(std::string_view member)
{
    if (!is_long())
        return outbox_.keep(memory_, member);
    auto target = outbox_.file(std::string(member) + "-part");
    if (!target)
        return target.error();
    auto& [file, part] = *target;
    auto path = outbox_.path(member);
    errno = EIO;
    if (!shortener_->retell([&](std::string_view bytes) { return write_all(file.get(), bytes); })) {
        Error why{code::write_failed, path + ": " + std::strerror(errno)};
        unlink(part.c_str());
        return why;
    }
    discard();
    if (rename(part.c_str(), path.c_str()) < 0)
        return Error{code::write_failed, path + ": " + std::strerror(errno)};
    return path;
}

void Printed::discard()
{
    if (is_long())
        shortener_->discard();
}

}
