#include "term/keys.h"

#include "base/text.h"
#include "term/sequences.h"

#include <algorithm>
#include <utility>

namespace ik::term {
namespace {

using namespace std::chrono_literals;

constexpr auto lone_escape = 50ms;        // nothing follows an Esc for that long: it was the key
constexpr auto broken_sequence = 1000ms;  // a sequence that was begun is given up
constexpr auto after_paste = 25ms;        // what follows a paste at once is part of it if another end mark comes
constexpr auto longest_closing = 500ms;
constexpr auto silent_paste = 5000ms;     // a paste whose end got lost

}

std::vector<Key> Keys::on(std::string_view bytes, Clock::time_point now)
{
    std::vector<Key> out;
    if (state_ == State::closing) out = late(now);
    pending_ += bytes;
    take(out, false);
    wait_from(now);
    return out;
}

std::vector<Key> Keys::late(Clock::time_point now)
{
    std::vector<Key> out;
    if (!until_ || now < *until_)
        return out;
    if (state_ == State::closing && pending_.find(paste_begin) != std::string::npos)
        state_ = State::pasting;
    else if (state_ != State::plain) {
        if (state_ == State::pasting) paste_ += std::exchange(pending_, {});
        end_paste(out);
        take(out, false);
    } else
        take(out, true);
    wait_from(now);
    return out;
}

void Keys::take(std::vector<Key>& out, bool final)
{
    std::size_t done = 0;
    auto drop = [&] { pending_.erase(0, std::exchange(done, 0)); };
    for (;;) {
        if (state_ != State::plain) {
            drop();
            if (!take_paste())
                return;
            continue;
        }
        auto rest = std::string_view(pending_).substr(done);
        if (rest.empty())
            return drop();
        if (rest.starts_with(paste_begin)) {
            done += paste_begin.size();
            state_ = State::pasting;
            continue;
        }
        auto next = first_unit(rest);
        if (next.size == 0) {
            if (!final)
                return drop();
            next = last_unit(rest);
        }
        if (next.key) out.push_back(std::move(*next.key));
        done += next.size;
    }
}

// Whether there is more to take. A mark inside the text that was pasted would end it early and type the rest:
// so what follows an end mark at once waits a moment, and belongs to the paste if another mark comes.
bool Keys::take_paste()
{
    auto end = pending_.find(paste_end);
    if (end == std::string::npos) {
        if (state_ == State::pasting && pending_.size() >= paste_end.size()) {   // the mark may lie across two reads
            auto sure = pending_.size() - paste_end.size() + 1;
            if (paste_.size() < longest_paste) paste_.append(pending_, 0, sure);
            pending_.erase(0, sure);
        }
        return false;
    }
    if (paste_.size() < longest_paste) paste_.append(pending_, 0, end);
    pending_.erase(0, end + paste_end.size());
    state_ = State::closing;
    closed_ = {};
    return true;
}

void Keys::end_paste(std::vector<Key>& out)
{
    state_ = State::plain;
    auto whole = utf8_prefix(paste_, longest_paste);
    out.push_back({Key::paste, clean_utf8(whole)});
    std::string().swap(paste_);
}

void Keys::wait_from(Clock::time_point now)
{
    until_.reset();
    if (state_ == State::pasting)
        until_ = now + silent_paste;
    else if (state_ == State::closing) {
        if (closed_ == Clock::time_point{}) closed_ = now;
        until_ = std::min(now + after_paste, closed_ + longest_closing);
    } else if (!pending_.empty())
        until_ = now + (pending_ == "\x1b" || pending_ == "\x1b\x1b" ? milliseconds(lone_escape) : milliseconds(broken_sequence));
}

void Told::hear(std::string_view reply)
{
    if (reply.starts_with("[?") && reply.ends_with("u")) kitty = true;
    if (reply.starts_with("[?") && reply.ends_with("c")) complete = true;
    if (!reply.starts_with("]11;rgb"))
        return;
    // "rgb:RRRR/GGGG/BBBB", of one to four hex digits each: the first digit is enough.
    auto parts = split(reply.substr(reply.find(':') == reply.npos ? reply.size() : reply.find(':') + 1), '/');
    if (parts.size() < 3)
        return;
    int sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        auto digit = std::string_view("0123456789abcdef").find(lower(parts[i].substr(0, 1)));
        if (parts[i].empty() || digit == std::string_view::npos)
            return;
        sum += static_cast<int>(digit) * (i == 0 ? 30 : i == 1 ? 59 : 11);
    }
    light = sum > 750;
}

}
