#include "applets/answer.h"

#include "base/fd.h"
#include "base/text.h"

namespace ik {

void Answer::name(std::string_view name)
{
    close_text();
    buffer_ += std::exchange(begun_, true) ? ",\"" : "{\"";
    append_escaped(buffer_, name);
    buffer_ += "\":";
}

void Answer::member(std::string_view named, const Json& value)
{
    name(named);
    buffer_ += value.dump();
    flush_when(65536);
}

void Answer::open_text(std::string_view named)
{
    name(named);
    buffer_ += '"';
    text_open_ = true;
}

void Answer::text(std::string_view bytes)
{
    std::string joined;
    if (!partial_.empty()) {
        joined = std::exchange(partial_, {});
        joined += bytes;
        bytes = joined;
    }
    auto tail = incomplete_tail(bytes);
    append_escaped(buffer_, bytes.substr(0, bytes.size() - tail));
    partial_ = bytes.substr(bytes.size() - tail);
    flush_when(65536);
}

void Answer::close_text()
{
    if (!std::exchange(text_open_, false))
        return;
    append_escaped(buffer_, std::exchange(partial_, {}));
    buffer_ += '"';
}

void Answer::fail(const Error& error)
{
    member("error", error.message);
    member("error_code", error.code);
    if (!error.hint.empty())
        member("hint", error.hint);
}

void Answer::end()
{
    close_text();
    buffer_ += begun_ ? "}" : "{}";
    flush_when(0);
}

void Answer::flush_when(std::size_t size)
{
    if (fd_ < 0 || buffer_.size() < size)
        return;
    if (!lost_ && !write_all(fd_, buffer_))
        lost_ = true;
    buffer_.clear();
}

}
