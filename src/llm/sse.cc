#include "llm/sse.h"

#include "base/text.h"

#include <algorithm>
#include <utility>

namespace ik::sse {

namespace {

constexpr std::string_view mark = "\xEF\xBB\xBF";   // a byte order mark may stand in front

// Of the next \r or \n from there on; npos when there is none. Two searches for one byte are faster than one for either.
std::size_t line_end(std::string_view text, std::size_t from)
{
    auto newline = text.find('\n', from);
    auto cr = text.substr(0, newline).find('\r', from);
    return std::min(newline, cr);
}

}

Status Reader::feed(std::string_view bytes)
{
    buffer_.erase(0, at_);
    seen_ -= at_;
    at_ = 0;
    buffer_ += bytes;
    if (buffer_.size() + event_.data.size() > max_event + bytes.size())
        return Error{code::api_error, "The service sent an event of more than 16 MB"};
    return Done{};
}

std::optional<std::string_view> Reader::line()
{
    if (!started_) {
        if (buffer_.size() < mark.size() && mark.starts_with(buffer_) && !ended_)
            return {};
        started_ = true;
        if (buffer_.starts_with(mark))
            at_ = seen_ = mark.size();
    }
    if (after_cr_ && at_ < buffer_.size()) {
        after_cr_ = false;
        if (buffer_[at_] == '\n')
            seen_ = ++at_;
    }
    auto end = line_end(buffer_, std::max(seen_, at_));
    if (end == buffer_.npos) {
        seen_ = buffer_.size();
        if (!ended_ || at_ == buffer_.size())
            return {};
        end = buffer_.size();
    }
    after_cr_ = end < buffer_.size() && buffer_[end] == '\r';
    std::string_view found(buffer_.data() + at_, end - at_);
    at_ = seen_ = std::min(end + 1, buffer_.size());
    return found;
}

void Reader::take(std::string_view line)
{
    auto colon = line.find(':');
    auto field = line.substr(0, colon);
    auto value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' '))
        value.remove_prefix(1);
    if (field == "event")
        event_.name = clean_utf8(value);
    if (field != "data")
        return;   // comments, id, retry and what is unknown
    if (!std::exchange(has_data_, true)) {
        event_.data = clean_utf8(value);
        return;
    }
    event_.data += '\n';
    event_.data += clean_utf8(value);
}

std::optional<Event> Reader::next()
{
    while (auto text = line()) {
        if (!text->empty()) {
            take(*text);
            continue;
        }
        auto event = std::exchange(event_, {});
        if (std::exchange(has_data_, false))
            return event;
    }
    if (!ended_ || !std::exchange(has_data_, false))
        return {};
    return std::exchange(event_, {});
}

void Reader::end() { ended_ = true; }

}
