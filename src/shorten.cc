#include "shorten.h"

#include "base/text.h"

#include <algorithm>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t end_size = 32 << 10;       // of each end that is kept of a long string
constexpr std::size_t max_parsed = 8 << 20;      // of JSON with its long strings shortened
constexpr std::size_t chunk = 256 << 10;

void append_utf8(std::string& out, unsigned code)
{
    auto byte = [&](unsigned value) { out += static_cast<char>(value); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) return byte(0xC0 | code >> 6), byte(0x80 | (code & 63));
    if (code < 0x10000) return byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
    byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
}

// The inside of a JSON string, in pieces, to the text it stands for.
class Unescape {
public:
    // Appends the text of raw to out; false when it is no JSON string.
    bool decode(std::string_view raw, std::string& out)
    {
        while (!raw.empty()) {
            if (pending_.empty()) {
                auto plain = raw.substr(0, verbatim_prefix(raw));
                if (!plain.empty() && !flush_surrogate())
                    return false;
                out += plain;
                raw.remove_prefix(plain.size());
                if (raw.empty())
                    return true;
                if (raw.front() != '\\')
                    return false;
            }
            pending_ += raw.front();
            raw.remove_prefix(1);
            if (!whole_escape())
                continue;
            if (!take_escape(out))
                return false;
            pending_.clear();
        }
        return true;
    }
    bool ended_well() const { return pending_.empty() && !high_; }

private:
    bool flush_surrogate() const { return !high_; }
    bool whole_escape() const { return pending_.size() >= 2 && (pending_[1] != 'u' || pending_.size() == 6); }

    bool take_escape(std::string& out)
    {
        constexpr std::string_view letters = "\"\\/bfnrt", meaning = "\"\\/\b\f\n\r\t";
        if (pending_[1] != 'u') {
            auto i = letters.find(pending_[1]);
            if (i == letters.npos || high_) return false;
            out += meaning[i];
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

    std::string pending_;   // a begun escape
    unsigned high_ = 0;     // the first half of a surrogate pair
};

// A long string on its way to its file: what was decoded, and its two ends.
class LongString {
public:
    LongString(std::string path, const Outbox& outbox) : long_{std::move(path), 0, ""}
    {
        if (auto file = outbox.file(long_.path)) {
            file_ = std::move(file->first);
            long_.file = file->second;
        }
    }

    // plain: raw is known to have no escape, and nothing that needs one.
    bool add(std::string_view raw, bool plain)
    {
        auto fresh = raw;
        if (!plain || !unescape_.ended_well()) {
            decoded_.clear();
            if (!unescape_.decode(raw, decoded_))
                return false;
            fresh = decoded_;
        }
        long_.size += fresh.size();
        if (file_ && !write_all(file_.get(), fresh)) {
            file_.reset();
            unlink(long_.file.c_str());
            long_.file.clear();
        }
        auto room = std::min(end_size - head_.size(), fresh.size());
        head_ += fresh.substr(0, room);
        fresh.remove_prefix(room);
        tail_ += fresh.substr(fresh.size() - std::min(fresh.size(), end_size));
        if (tail_.size() > 4 * end_size)
            tail_.erase(0, tail_.size() - end_size);
        return true;
    }
    bool ended_well() const { return unescape_.ended_well(); }

    // Both ends, each cut on a character.
    std::string ends() const
    {
        auto head = std::string_view(head_).substr(0, head_.size() - incomplete_tail(head_));
        return std::string(head) + std::string(utf8_suffix(tail_, std::min(end_size, tail_.size())));
    }
    const Long& whole() const { return long_; }

private:
    Long long_;
    Fd file_;
    Unescape unescape_;
    std::string decoded_, head_, tail_;
};

// JSON text, in pieces, with its long strings shortened. Knows just enough of JSON to see strings
// and to name them; what comes out is parsed by somebody else.
class Shortener {
public:
    explicit Shortener(const Outbox& outbox) : outbox_(outbox) {}

    bool add(std::string_view bytes)
    {
        while (!bytes.empty()) {
            auto used = in_string_ ? string(bytes) : structure(bytes);
            if (!used) return false;
            bytes.remove_prefix(used);
        }
        return true;
    }

    Spool text{max_parsed};
    std::vector<Long> longs;

private:
    struct Level { bool object; std::size_t index = 0; std::string key = {}; };

    // Bytes up to the next quote go through as they are; brackets are counted.
    std::size_t structure(std::string_view bytes)
    {
        auto plain = bytes.substr(0, bytes.find('"'));
        for (char c : plain) {
            if (c == '{' || c == '[') levels_.push_back({c == '{'});
            else if ((c == '}' || c == ']') && !levels_.empty()) levels_.pop_back();
            else if (c == ',' && !levels_.empty()) ++levels_.back().index;
            else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
            after_colon_ = c == ':';
        }
        if (levels_.size() > static_cast<std::size_t>(max_json_depth))
            return 0;
        text.append(plain);
        if (plain.size() == bytes.size())
            return plain.size();
        in_string_ = true;
        raw_.clear();
        return plain.size() + 1;
    }

    std::size_t string(std::string_view bytes)
    {
        bool plain = !escaped_;
        std::size_t end = std::exchange(escaped_, false) ? 1 : 0;
        for (;;) {
            if (end < bytes.size()) end += verbatim_prefix(bytes.substr(end));
            if (end == bytes.size() || bytes[end] == '"') break;
            plain = false;
            end += bytes[end] == '\\' ? 2 : 1;   // a backslash and what it escapes; what decodes refuses the others
            if (end <= bytes.size()) continue;
            escaped_ = true;
            end = bytes.size();
            break;
        }
        bool closed = end < bytes.size();
        auto piece = bytes.substr(0, end);
        if (!take(piece, plain)) return 0;
        if (!closed) return end;
        in_string_ = false;
        return close() ? end + 1 : 0;
    }

    bool is_key() const { return !levels_.empty() && levels_.back().object && !after_colon_; }

    bool take(std::string_view piece, bool plain)
    {
        if (long_)
            return long_->add(piece, plain);
        raw_ += piece;
        if (raw_.size() <= long_string || is_key())
            return raw_.size() <= max_parsed;
        long_.emplace(path(), outbox_);
        return long_->add(std::exchange(raw_, {}), false);
    }

    bool close()
    {
        std::string written;
        if (long_) {
            if (!long_->ended_well()) return false;
            append_escaped(written, long_->ends());
            longs.push_back(long_->whole());
            long_.reset();
        } else {
            if (is_key()) levels_.back().key = raw_;
            written = std::exchange(raw_, {});
        }
        text.append("\"" + written + "\"");
        after_colon_ = false;
        return true;
    }

    std::string path() const
    {
        std::string out = "result";
        for (auto& level : levels_)
            out += "." + (level.object ? level.key : std::to_string(level.index));
        return out;
    }

    const Outbox& outbox_;
    std::vector<Level> levels_;
    std::string raw_;
    std::optional<LongString> long_;
    bool in_string_ = false, escaped_ = false, after_colon_ = false;
};

std::string ends_of(const Spool& out)
{
    if (out.size() <= long_string)
        return clean_utf8(out.all());
    auto head = out.read(0, end_size), tail = out.read(out.size() - end_size, end_size);
    return clean_utf8(utf8_prefix(head, head.size() - incomplete_tail(head))) + clean_utf8(utf8_suffix(tail, tail.size()));
}

}

Output read_output(const Spool& out, const Outbox& outbox)
{
    Output output;
    output.text = ends_of(out);
    if (out.size() <= long_string) {
        output.answer = parse_json(output.text);
        return output;
    }
    Shortener shortener(outbox);
    std::string buffer;
    for (std::size_t at = 0; at < out.size(); at += chunk)
        if (!shortener.add(out.read(at, chunk, buffer)))
            return output;
    if (shortener.text.size() <= max_parsed)
        output.answer = parse_json(clean_utf8(shortener.text.memory));
    else if (check_json(shortener.text)) {
        // More members than memory should hold: one file has all of it.
        auto file = outbox.keep(out, "result");
        output.answer = file ? object({{"truncated", true}, {"path", *file}}) : object({{"truncated", true}, {"error", file.error().message}});
        return output;
    }
    output.longs = std::move(shortener.longs);
    return output;
}

}
