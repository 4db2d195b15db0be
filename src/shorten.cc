#include "shorten.h"

#include "base/json.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t chunk = 256 << 10;

bool tell(const Spool& text, std::size_t from, std::size_t to, FunctionRef<bool(std::string_view)> take)
{
    std::string buffer;
    for (std::size_t size; from < to; from += size) {
        auto piece = text.read(from, std::min(chunk, to - from), buffer);
        size = piece.size();
        if (!size || !take(piece))
            return false;
    }
    return true;
}

}

// What is wrong at some place is kept from there on as it is.
void Shortener::add(std::string_view bytes)
{
    while (!bytes.empty() && !broken_)
        bytes.remove_prefix(in_string_ ? string(bytes) : structure(bytes));
    text_.append(bytes);
}

void Shortener::end()
{
    if (in_string_ && !broken_)
        give_up();
}

void Shortener::give_up()
{
    broken_ = true;
    if (long_)
        keep("");
    text_.append(std::exchange(raw_, {}));
}

// Bytes up to the next quote, and it, go through as they are; brackets are counted.
std::size_t Shortener::structure(std::string_view bytes)
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
        return give_up(), 0;
    in_string_ = plain.size() < bytes.size();
    auto size = plain.size() + in_string_;
    text_.append(bytes.substr(0, size));
    return size;
}

std::size_t Shortener::string(std::string_view bytes)
{
    auto taken = long_ ? long_->add(bytes, notes_) : short_string(bytes);
    if (broken_ || taken == bytes.size())
        return taken;
    if (bytes[taken] != '"' || !close())
        return give_up(), taken;
    return taken + 1;
}

// Up to its end, which may be far: then it is long.
std::size_t Shortener::short_string(std::string_view bytes)
{
    std::size_t end = std::exchange(escaped_, false) ? 1 : 0;
    while (end < bytes.size()) {
        end += verbatim_prefix(bytes.substr(end));
        if (end == bytes.size() || bytes[end] == '"') break;
        end += bytes[end] == '\\' ? 2 : 1;   // a backslash and what it escapes; what decodes refuses the others
    }
    escaped_ = end > bytes.size();
    end = std::min(end, bytes.size());
    raw_ += bytes.substr(0, end);
    if (is_key() ? raw_.size() > max_parsed : raw_.size() > long_string) {
        if (!is_key()) begin_long();
        if (!raw_.empty()) give_up();
    }
    return end;
}

void Shortener::begin_long()
{
    auto name = path();
    long_.emplace(name, file(name));
    long_notes_ = notes_.place();
    raw_.erase(0, long_->add(raw_, notes_));
    escaped_ = false;
}

bool Shortener::close()
{
    if (long_) {
        if (!long_->ended_well()) return false;
        std::string ends;
        append_escaped(ends, long_->ends());
        keep(ends);
    } else {
        if (is_key()) levels_.back().key = raw_;
        text_.append(std::exchange(raw_, {}));
    }
    text_.append("\"");
    in_string_ = after_colon_ = false;
    return true;
}

void Shortener::keep(std::string_view ends)
{
    long_->end(notes_);
    kept_.push_back({long_->whole(), text_.size(), ends.size(), long_notes_, notes_.place()});
    text_.append(ends);
    long_.reset();
}

std::string Shortener::path() const
{
    std::string out = "result";
    for (auto& level : levels_)
        out += "." + (level.object ? level.key : std::to_string(level.index));
    return out;
}

// Two members may have one name for a file, where it is long or has signs that a file's has not.
Result<std::pair<Fd, std::string>> Shortener::file(const std::string& path)
{
    auto name = path;
    for (int n = 2; !files_.insert(outbox_.path(name)).second; ++n)
        name = path.substr(0, 56) + "-" + std::to_string(n);
    return outbox_.file(name);
}

std::vector<Long> Shortener::longs() const
{
    std::vector<Long> out;
    for (auto& each : kept_) out.push_back(each.whole);
    return out;
}

bool Shortener::retell(FunctionRef<bool(std::string_view)> take) const
{
    std::size_t at = 0;
    for (auto& each : kept_) {
        Fd decoded(open(each.whole.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (!decoded || !tell(text_, at, each.at, take) || !notes_.retell(each.notes, each.notes_end, decoded.get(), take))
            return false;
        at = each.at + each.size;
    }
    return tell(text_, at, text_.size(), take) && !text_.failure && !notes_.failure();
}

void Shortener::discard()
{
    for (auto& each : kept_)
        unlink(each.whole.file.c_str());
}

}
