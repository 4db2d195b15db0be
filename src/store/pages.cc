#include "store/pages.h"

#include "base/file.h"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <vector>

namespace ik {
namespace {

constexpr std::size_t columns = 10;                   // of events; the first is the number, kept as NULL
constexpr std::uint64_t max_record = 256u << 20;      // bytes

// Bytes that are taken from the front, for as long as there are any.
struct Bytes {
    std::string_view left;

    std::optional<std::uint64_t> varint()
    {
        std::uint64_t out = 0;
        for (std::size_t i = 0; i < 9 && i < left.size(); ++i) {
            auto byte = static_cast<unsigned char>(left[i]);
            out = i == 8 ? out << 8 | byte : out << 7 | (byte & 0x7F);
            if (i == 8 || !(byte & 0x80)) {
                left.remove_prefix(i + 1);
                return out;
            }
        }
        return {};
    }
    std::optional<std::string_view> take(std::uint64_t size)
    {
        if (size > left.size())
            return {};
        auto out = left.substr(0, size);
        left.remove_prefix(size);
        return out;
    }
};

std::uint64_t big_endian(std::string_view bytes)
{
    std::uint64_t out = 0;
    for (char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
    return out;
}

struct Cell { std::uint64_t number, page; std::size_t at; };   // page counts from 0

class Pages {
public:
    explicit Pages(Fd file) : file_(std::move(file))
    {
        std::string head(100, '\0');
        if (pread(file_.get(), head.data(), head.size(), 0) != 100)
            return;
        auto size = big_endian(std::string_view(head).substr(16, 2));
        size = size == 1 ? 65536 : size;
        bool sound = size >= 512 && (size & (size - 1)) == 0 && static_cast<unsigned char>(head[20]) <= 64;
        size_ = sound ? size : 4096;   // ours, where the head itself is damaged
        usable_ = size_ - (sound ? static_cast<unsigned char>(head[20]) : 0);
    }

    std::vector<Cell> cells() const
    {
        std::vector<Cell> out;
        std::string page;
        for (std::uint64_t number = 0; read(number, page); ++number) {
            std::size_t begin = number == 0 ? 100 : 0;
            if (page[begin] != 0x0D)
                continue;
            auto count = big_endian(std::string_view(page).substr(begin + 3, 2));
            for (std::uint64_t i = 0; i < count && begin + 10 + 2 * i <= usable_; ++i) {
                auto at = big_endian(std::string_view(page).substr(begin + 8 + 2 * i, 2));
                Bytes cell{std::string_view(page).substr(std::min<std::uint64_t>(at, usable_))};
                auto size = cell.varint(), rowid = size ? cell.varint() : std::nullopt;
                if (rowid && looks_like_one(cell.left))
                    out.push_back({*rowid, number, at});
            }
        }
        std::ranges::stable_sort(out, {}, &Cell::number);
        return out;
    }

    std::optional<StoredEvent> event(const Cell& cell) const
    {
        std::string page;
        if (!read(cell.page, page))
            return {};
        Bytes bytes{std::string_view(page).substr(0, usable_).substr(cell.at)};
        auto size = bytes.varint();
        if (!size || !bytes.varint() || *size > max_record)
            return {};
        auto payload = whole(bytes, *size);
        return payload ? event(*payload) : std::nullopt;
    }

private:
    bool read(std::uint64_t number, std::string& page) const
    {
        page.assign(size_, '\0');
        return pread(file_.get(), page.data(), size_, static_cast<off_t>(number * size_)) == static_cast<ssize_t>(size_);
    }

    // The start of a record of events: a small header whose first column is NULL.
    static bool looks_like_one(std::string_view record)
    {
        return record.size() > columns && static_cast<unsigned char>(record[0]) > columns && static_cast<unsigned char>(record[0]) < 64 && record[1] == 0;
    }

    // The record of that size, with what overflows to other pages.
    std::optional<std::string> whole(Bytes bytes, std::uint64_t size) const
    {
        auto most = usable_ - 35, least = (usable_ - 12) * 32 / 255 - 23;
        auto fitting = least + (size - std::min(size, least)) % (usable_ - 4);
        auto local = size <= most ? size : fitting <= most ? fitting : least;
        auto part = bytes.take(local);
        if (!part)
            return {};
        std::string out(*part);
        if (local == size)
            return out;
        auto pointer = bytes.take(4);
        auto next = pointer ? big_endian(*pointer) : 0;
        for (std::string page; next != 0 && read(next - 1, page);) {
            next = big_endian(std::string_view(page).substr(0, 4));
            out += std::string_view(page).substr(4, std::min(usable_ - 4, size - out.size()));
            if (out.size() == size)
                return out;
        }
        return {};
    }

    static std::optional<StoredEvent> event(std::string_view record)
    {
        Bytes head{record};
        auto size = head.varint();
        auto begin = record.size() - head.left.size();
        if (!size || *size > record.size() || *size < begin)
            return {};
        Bytes body{record.substr(*size)};
        head.left = record.substr(begin, *size - begin);
        std::string texts[columns];
        std::int64_t seq = 0;
        for (std::size_t i = 0; i < columns; ++i) {
            auto type = head.varint();
            if (!type)
                return {};
            constexpr std::uint64_t widths[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
            bool text = *type >= 13 && *type % 2;
            if ((i == 0 && *type != 0) || (i == 2 && (*type < 1 || *type > 9 || *type == 7)) || (i != 0 && i != 2 && !text))
                return {};
            auto value = body.take(text ? (*type - 13) / 2 : widths[*type]);
            if (!value)
                return {};
            if (text) texts[i] = *value;
            else if (i == 2) seq = *type == 9 ? 1 : static_cast<std::int64_t>(big_endian(*value));
        }
        if (!head.left.empty() || !valid_id(texts[1]) || seq < 1 || texts[3].empty())
            return {};
        auto data = texts[9].empty() ? Result<Json>(Json()) : parse_json(texts[9]);
        return StoredEvent{texts[1], seq, texts[3], texts[8], data ? std::move(*data) : Json(), texts[4], texts[5], texts[6], texts[7]};
    }

    Fd file_;
    std::uint64_t size_ = 4096, usable_ = 4096;
};

}

Status scan_pages(const std::string& path, FunctionRef<Status(StoredEvent)> take)
{
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return file_error(Doing::opening, path);
    Pages pages(std::move(file));
    for (auto& cell : pages.cells())
        if (auto event = pages.event(cell))
            if (auto taken = take(std::move(*event)); !taken)
                return taken.error();
    return Done{};
}

}
