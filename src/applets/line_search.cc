#include "applets/line_search.h"

#include "applets/walk.h"

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ik {
namespace {

constexpr std::size_t first_buffer = 256 << 10, longest_line = 64 << 20;
constexpr std::size_t binary_within = 8192, deliver_at = 64 << 10;

}

// Never waits: not for a pipe's other end, not for a device.
Fd LineSearch::open_regular(const std::string& path)
{
    Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    struct stat info {};
    if (!fd || fstat(fd.get(), &info) < 0) {
        note_unread(found_.unread, path);
        return Fd();
    }
    if (!S_ISREG(info.st_mode))
        return Fd();
    expected_ = static_cast<std::size_t>(info.st_size);
    return fd;
}

bool LineSearch::file(const std::string& path, Deliver deliver)
{
    auto fd = open_regular(path);
    if (!fd)
        return wanted_;
    size_ = line_ = read_ = 0;
    ended_ = false;
    binary_.reset();
    while (!ended_ && fill(fd, path)) {
        auto whole = complete();
        if (!lines(path, {buffer_.data(), whole}, deliver))
            break;
        if (ended_)
            break;
        binary();   // as long as the first bytes are there
        size_ -= whole;
        std::memmove(buffer_.data(), buffer_.data() + whole, size_);
    }
    return wanted_;
}

// Reads until the buffer is full or the file at its end. False when it cannot be read on.
bool LineSearch::fill(const Fd& fd, const std::string& path)
{
    if (size_ == buffer_.size())
        buffer_.resize(std::min(longest_line, std::max(first_buffer, buffer_.size() * 2)));
    while (size_ < buffer_.size() && !ended_) {
        auto n = read_some(fd.get(), buffer_.data() + size_, buffer_.size() - size_);
        if (n < 0) {
            note_unread(found_.unread, path);
            return false;
        }
        size_ += static_cast<std::size_t>(n);
        read_ += static_cast<std::size_t>(n);
        ended_ = n == 0 || read_ == expected_;   // of /proc and the like no size is known
    }
    return true;
}

// The bytes at the front that are whole lines. A line that is longer than anything is taken in pieces.
std::size_t LineSearch::complete() const
{
    if (ended_)
        return size_;
    if (auto* newline = static_cast<const char*>(memrchr(buffer_.data(), '\n', size_)))
        return static_cast<std::size_t>(newline - buffer_.data()) + 1;
    return size_ < longest_line ? 0 : size_;
}

bool LineSearch::binary()
{
    if (!binary_)
        binary_ = std::memchr(buffer_.data(), '\0', std::min(size_, binary_within));
    return *binary_;
}

// False when no more of this file is of interest. Lines are counted only where their number is needed.
bool LineSearch::lines(const std::string& path, std::string_view text, Deliver deliver)
{
    while (auto line = matcher_.first(text)) {
        if (binary()) {
            tell(path + ": ", "binary file matches");
            return false;
        }
        auto at = static_cast<std::size_t>(line->data() - text.data());
        auto end = std::min(at + line->size() + 1, text.size());
        line_ += newlines(text.substr(0, at));
        tell(path + ":" + std::to_string(line_ + 1) + ": ", *line);
        line_ += newlines(text.substr(at, end - at));
        text.remove_prefix(end);
        if (found_.text.size() > deliver_at && !deliver(found_)) {
            wanted_ = false;
            return false;
        }
    }
    if (!ended_)
        line_ += newlines(text);
    return true;
}

void LineSearch::tell(const std::string& where, std::string_view what)
{
    ++found_.count;
    found_.text += '\n';
    found_.text += where;
    found_.text += what;
}

}
