#include "escapes.h"

#include "base/json.h"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t piece = 64 << 10;
constexpr std::size_t max_written = 4096;   // of one note
constexpr unsigned char is_letter = 0x80;

void append_utf8(std::string& out, unsigned code)
{
    auto byte = [&](unsigned value) { out += static_cast<char>(value); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) return byte(0xC0 | code >> 6), byte(0x80 | (code & 63));
    if (code < 0x10000) return byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
    byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
}

// What the letter behind a backslash stands for; 0 for those that stand for nothing, and for u.
constexpr auto meanings = [] {
    std::array<char, 256> table{};
    for (unsigned char c : {'"', '\\', '/'}) table[c] = static_cast<char>(c);
    table['b'] = '\b', table['f'] = '\f', table['n'] = '\n', table['r'] = '\r', table['t'] = '\t';
    return table;
}();

char meaning(char letter) { return meanings[static_cast<unsigned char>(letter)]; }

// Notes, read one after the other.
class Reading {
public:
    Reading(const Spool& notes, std::size_t from, std::size_t to) : notes_(notes), at_(from), end_(to) {}

    bool over() { return have_.empty() && at_ == end_; }

    unsigned char byte()
    {
        if (have_.empty()) {
            have_ = notes_.read(at_, std::min(piece, end_ - at_), buffer_);
            at_ = have_.empty() ? end_ : at_ + have_.size();
        }
        if (have_.empty())
            return 0;
        auto c = static_cast<unsigned char>(have_.front());
        have_.remove_prefix(1);
        return c;
    }
    std::size_t number()
    {
        std::size_t out = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            auto c = byte();
            out |= static_cast<std::size_t>(c & 0x7F) << shift;
            if (c < 0x80) break;
        }
        return out;
    }

private:
    const Spool& notes_;
    std::size_t at_, end_;
    std::string buffer_;
    std::string_view have_;
};

}

void Notes::letter(char letter)
{
    note();
    put(std::exchange(same_, 0));
    fresh_[used_++] = static_cast<char>(is_letter | static_cast<unsigned char>(letter));
}

void Notes::other(std::string_view written, std::size_t decoded)
{
    if (same_ || written_.size() >= max_written)
        note();
    if (written_.empty())
        before_ = std::exchange(same_, 0);
    written_ += written;
    decoded_ += decoded;
}

void Notes::note()
{
    if (fresh_.size() < used_ + 2 * max_written)
        flush();
    if (written_.empty())
        return;
    put(before_);
    put(0);
    put(written_.size());
    used_ += written_.copy(fresh_.data() + used_, written_.size());
    put(std::exchange(decoded_, 0));
    written_.clear();
}

// Seven bits a byte, the lowest first; the last byte has no eighth.
void Notes::put(std::size_t number)
{
    for (; number >= 0x80; number >>= 7) fresh_[used_++] = static_cast<char>(number | 0x80);
    fresh_[used_++] = static_cast<char>(number);
}

void Notes::flush()
{
    notes_.append(std::string_view(fresh_).substr(0, std::exchange(used_, 0)));
    fresh_.resize(piece);
}

std::size_t Notes::place()
{
    note();
    if (same_) {
        put(std::exchange(same_, 0));
        put(0), put(0), put(0);   // nothing else, for nothing
    }
    flush();
    return notes_.size();
}

bool Notes::retell(std::size_t from, std::size_t to, int decoded, FunctionRef<bool(std::string_view)> take) const
{
    Reading notes(notes_, from, to);
    std::string buffer(piece, '\0'), out;
    std::string_view text;   // of the file, from `at` on
    off_t at = 0;
    auto pass = [&](std::size_t size, bool wanted) {
        while (size > 0) {
            if (text.empty()) {
                auto n = pread(decoded, buffer.data(), buffer.size(), at);
                if (n <= 0)
                    return false;
                text = {buffer.data(), static_cast<std::size_t>(n)};
            }
            auto part = text.substr(0, size);
            if (wanted) out += part;
            size -= part.size();
            text.remove_prefix(part.size());
            at += static_cast<off_t>(part.size());
            if (out.size() >= piece && !take(std::exchange(out, {})))
                return false;
        }
        return true;
    };
    while (!notes.over()) {
        if (!pass(notes.number(), true))
            return false;
        std::size_t stands_for = 1;
        if (auto letter = notes.byte(); letter & is_letter)
            (out += '\\') += static_cast<char>(letter & ~is_letter);
        else {
            for (auto n = notes.number(); n > 0 && !notes.over(); --n) out += static_cast<char>(notes.byte());
            stands_for = notes.number();
        }
        if (!pass(stands_for, false))
            return false;
    }
    return take(out);
}

Unescape::Decoded Unescape::decode(std::string_view raw, Notes& notes)
{
    if (failed_)
        return {};
    if (buffer_.size() < raw.size() + 2 * verbatim_slack)
        buffer_.resize(raw.size() + 2 * verbatim_slack);
    std::size_t i = 0, size = 0;
    std::string decoded;
    while (i < raw.size()) {
        if (pending_.empty()) {
            auto plain = copy_verbatim(buffer_.data() + size, raw.substr(i));
            failed_ = plain && high_;
            if (failed_)
                break;
            notes.same(plain);
            i += plain, size += plain;
            if (i == raw.size() || raw[i] != '\\') {
                failed_ = i < raw.size() && raw[i] != '"';
                break;
            }
            if (char c = i + 1 < raw.size() && !high_ ? meaning(raw[i + 1]) : '\0') {   // as nearly all are
                buffer_[size++] = c;
                notes.letter(raw[i + 1]);
                i += 2;
                continue;
            }
        }
        pending_ += raw[i++];
        if (pending_.size() < 2 || (pending_[1] == 'u' && pending_.size() < 6))
            continue;
        decoded.clear();
        failed_ = !take_escape(decoded);
        notes.other(std::exchange(pending_, {}), decoded.size());
        size += decoded.copy(buffer_.data() + size, decoded.size());
        if (failed_)
            break;
    }
    return {i, std::string_view(buffer_).substr(0, size)};
}

void Unescape::end(Notes& notes)
{
    if (pending_.empty())
        return;
    failed_ = true;
    notes.other(std::exchange(pending_, {}), 0);
}

bool Unescape::take_escape(std::string& out)
{
    if (pending_[1] != 'u') {
        if (!meaning(pending_[1]) || high_) return false;
        out += meaning(pending_[1]);
        return true;
    }
    unsigned code = 0;
    for (char c : pending_.substr(2)) {
        auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        if (digit == std::string_view::npos) return false;
        code = code * 16 + static_cast<unsigned>(digit);
    }
    bool low = code >= 0xDC00 && code < 0xE000;
    if (low != (high_ != 0)) return false;
    if (code >= 0xD800 && code < 0xDC00) return high_ = code, true;
    append_utf8(out, low ? 0x10000 + ((std::exchange(high_, 0u) - 0xD800) << 10) + (code - 0xDC00) : code);
    return true;
}

}
