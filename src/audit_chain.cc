#include "audit_chain.h"

#include "base/hash.h"

#include <charconv>

namespace ik::audit {
namespace {

constexpr std::string_view before_hash = R"(,"hash":")";
constexpr std::size_t hash_size = 64, seal_size = before_hash.size() + hash_size + 2;   // "}
constexpr std::size_t longest_line = 1 << 20;

std::string counted(std::int64_t n, const char* one, const char* many) { return std::to_string(n) + " " + (n == 1 ? one : many); }

// getline, with an end to a line that has none.
bool next_line(std::istream& in, std::string& line)
{
    line.clear();
    auto* buffer = in.rdbuf();
    for (int c = buffer->sbumpc(); c != std::istream::traits_type::eof(); c = buffer->sbumpc()) {
        if (c == '\n')
            return true;
        if (line.size() <= longest_line) line += static_cast<char>(c);
    }
    return !line.empty();
}

std::string place(std::int64_t line) { return "line " + std::to_string(line) + ": "; }

}

std::pair<std::string, Head> sealed(Json::Object entry, const Head& before)
{
    Head head{before.seq + 1, {}};
    entry.insert(entry.begin(), {"seq", head.seq});
    entry.emplace_back("prev", before.hash);
    auto line = Json(std::move(entry)).dump();
    head.hash = sha256(line);
    line.pop_back();
    line += std::string(before_hash) + head.hash + "\"}";
    return {std::move(line), std::move(head)};
}

// By its ends alone: what is between them is what the hash is of.
Line read_line(std::string_view line)
{
    constexpr std::string_view begin = R"({"seq":)", before_prev = R"(,"prev":")";
    if (line.size() <= seal_size || !line.starts_with(begin) || !line.ends_with("\"}") || line.substr(line.size() - seal_size, before_hash.size()) != before_hash)
        return {};
    auto inside = line.substr(0, line.size() - seal_size);
    auto prev = inside.rfind(before_prev);
    std::int64_t seq = 0;
    std::from_chars(line.data() + begin.size(), line.data() + line.size(), seq);
    if (prev == line.npos || seq < 1)
        return {};
    Line out{Line::changed, {seq, std::string(line.substr(line.size() - 2 - hash_size, hash_size))}, {}};
    out.prev = inside.substr(prev + before_prev.size());
    if (!out.prev.empty()) out.prev.pop_back();   // its quote
    if (sha256(std::string(inside) + "}") == out.head.hash)
        out.what = Line::entry;
    return out;
}

Head last_entry(std::string_view end)
{
    while (!end.empty()) {
        auto newline = end.rfind('\n');
        auto line = newline == end.npos ? end : end.substr(newline + 1);
        if (auto read = read_line(line); read.what == Line::entry)
            return read.head;
        end = newline == end.npos ? "" : end.substr(0, newline);
    }
    return {};
}

Verdict verify(std::istream& log)
{
    Verdict out;
    std::string text;
    for (std::int64_t number = 1; next_line(log, text); ++number) {
        auto line = read_line(text);
        if (line.what == Line::none) {
            if (!text.empty() && out.torn++ == 0) out.first_torn = number;
            continue;
        }
        if (line.what == Line::changed)
            out.broken = place(number) + "the entry was changed: its hash is not that of its text";
        else if (line.head.seq != out.last.seq + 1)
            out.broken = place(number) + "entry " + std::to_string(line.head.seq) + " stands where entry " + std::to_string(out.last.seq + 1) + " should";
        else if (line.prev != out.last.hash)
            out.broken = place(number) + "entry " + std::to_string(line.head.seq) + " does not follow on the entry before it: prev is not its hash";
        if (!out.broken.empty())
            return out;
        ++out.entries;
        out.last = line.head;
    }
    return out;
}

std::string Verdict::sentence() const
{
    if (!broken.empty())
        return broken;
    auto out = counted(entries, "entry", "entries") + ", chain whole";
    if (torn)
        out += "; " + counted(torn, "torn line", "torn lines") + ", the first is line " + std::to_string(first_torn);
    return out;
}

}
