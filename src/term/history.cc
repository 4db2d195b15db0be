#include "term/history.h"

#include "base/file.h"
#include "base/poll.h"
#include "base/replacement.h"
#include "base/text.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace ik::term {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_read = 32 << 20;       // of the end of the file
constexpr std::size_t slack = 1000;               // lines beyond the limit before the file is trimmed
constexpr auto longest_wait = 500ms;              // for the lock

struct Escape { char real, written; };
constexpr Escape escapes[] = {{'\n', 'n'}, {'\r', 'r'}, {'\\', '\\'}};

std::string to_line(std::string_view entry)
{
    std::string out;
    for (char c : entry) {
        auto* row = std::find_if(std::begin(escapes), std::end(escapes), [&](const Escape& e) { return e.real == c; });
        if (row != std::end(escapes)) (out += '\\') += row->written;
        else out += c;
    }
    return out += '\n';
}

std::string from_line(std::string_view line)
{
    auto first = std::min(line.find('\\'), line.size());
    std::string out(line.substr(0, first));
    out.reserve(line.size());
    for (auto i = first; i < line.size(); ++i) {
        auto* row = std::end(escapes);
        if (line[i] == '\\' && i + 1 < line.size())
            row = std::find_if(std::begin(escapes), std::end(escapes), [&](const Escape& e) { return e.written == line[i + 1]; });
        if (row != std::end(escapes)) out += row->real, ++i;
        else out += line[i];
    }
    return valid_utf8(out) ? out : clean_utf8(out);
}

// The end of a file, from the beginning of a line on.
Result<std::string> read_end(int fd, const std::string& path)
{
    struct stat info{};
    if (fstat(fd, &info) < 0)
        return file_error(Doing::reading, path);
    auto size = static_cast<std::size_t>(info.st_size);
    auto from = size > most_read ? size - most_read : 0;
    std::string out(size - from, '\0');
    std::size_t have = 0;
    while (have < out.size()) {
        auto n = pread(fd, out.data() + have, out.size() - have, static_cast<off_t>(from + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return file_error(Doing::reading, path);
        if (n == 0)
            break;
        have += static_cast<std::size_t>(n);
    }
    out.resize(have);
    if (from > 0)
        out.erase(0, out.find('\n') == std::string::npos ? out.size() : out.find('\n') + 1);
    return out;
}

// The lines of a text that are whole: the last one may be just being written.
template <class F>
void each_line(std::string_view text, F take)
{
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1)
        take(text.substr(at, end - at));
}

void make_folder(const std::string& path)
{
    for (std::size_t at = 1; at < path.size(); ++at)
        if (path[at] == '/') mkdir(path.substr(0, at).c_str(), 0700);
    mkdir(path.c_str(), 0700);
}

// The file at path, locked. Another session may put a new file in its place while we wait: then the new one counts.
Result<Fd> open_locked(const std::string& path, milliseconds patience)
{
    auto end = Clock::now() + patience;
    for (;;) {
        Fd fd(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
        struct stat ours{}, named{};
        if (!fd || fstat(fd.get(), &ours) < 0)
            return file_error(Doing::writing, path);
        if (!S_ISREG(ours.st_mode))
            return Error{code::write_failed, path + " is not a regular file"};
        if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
            bool same = stat(path.c_str(), &named) == 0 && named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
            if (same)
                return fd;
        } else if (errno != EWOULDBLOCK && errno != EINTR)
            return file_error(Doing::writing, path);   // no locks on this file system: it is not shared safely
        if (Clock::now() > end)
            return Error{code::write_failed, path + " is locked by another process"};
        usleep(1000);
    }
}

}

History::History(std::string path) : path_(std::move(path))
{
    if (!path_.empty()) load();
}

void History::load()
{
    struct stat info{};
    if (stat(path_.c_str(), &info) < 0 && errno == ENOENT)
        return;
    auto fd = open_file(path_);
    auto text = fd ? read_end(fd->get(), path_) : Result<std::string>(fd.error());
    if (!text) {
        problem_ = text.error().message;
        return;
    }
    lines_ = static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n'));
    auto skipped = lines_ > most_entries ? lines_ - most_entries : 0;
    entries_.reserve(lines_ - skipped + 64);
    each_line(*text, [&](std::string_view line) {
        if (skipped > 0) --skipped;
        else entries_.push_back(from_line(line));
    });
}

void History::add(std::string_view entry)
{
    if (ik::trim(entry).empty() || (!entries_.empty() && entries_.back() == entry))
        return;
    entries_.emplace_back(entry);
    if (entries_.size() > most_entries + slack)
        entries_.erase(entries_.begin(), entries_.begin() + slack);
    if (path_.empty())
        return;
    if (entry.size() <= longest_entry) unwritten_.push_back(to_line(entry));
    auto status = append();
    problem_ = status ? "" : status.error().message;
    if (unwritten_.size() > slack) unwritten_.erase(unwritten_.begin());
}

// What could not be written before is tried again with the next entry.
Status History::append()
{
    if (unwritten_.empty())
        return Done{};
    make_folder(folder_name(path_));
    auto fd = open_locked(path_, problem_.empty() ? longest_wait : 0ms);   // who has waited in vain does not wait each time
    if (!fd)
        return fd.error();
    struct stat info{};
    fstat(fd->get(), &info);
    if (info.st_mode & 077) fchmod(fd->get(), 0600);
    char last = '\n';
    bool torn = info.st_size > 0 && pread(fd->get(), &last, 1, info.st_size - 1) == 1 && last != '\n';
    std::string bytes(torn, '\n');
    for (auto& line : unwritten_) bytes += line;
    if (!write_all(fd->get(), bytes)) {
        auto error = file_error(Doing::writing, path_);
        if (ftruncate(fd->get(), info.st_size) < 0) {}   // half an entry is none
        return error;
    }
    lines_ += unwritten_.size();
    unwritten_.clear();
    return lines_ > most_entries + slack ? trim(fd->get()) : Status(Done{});
}

// Under the lock: the file is replaced by its last entries.
Status History::trim(int fd)
{
    auto text = read_end(fd, path_);
    if (!text)
        return text.error();
    lines_ = static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n'));
    if (lines_ <= most_entries)
        return Done{};
    std::size_t at = 0;
    for (auto extra = lines_ - most_entries; extra > 0; --extra) at = text->find('\n', at) + 1;
    auto fresh = Replacement::begin(path_);
    if (!fresh)
        return fresh.error();
    if (auto status = fresh->append(std::string_view(*text).substr(at)); !status)
        return status;
    if (auto status = fresh->commit(); !status)
        return status;
    lines_ = most_entries;
    return Done{};
}

}
