#include "base/diff.h"

#include <algorithm>
#include <span>

namespace ik {
namespace {

constexpr std::size_t most_edits = 1000;

using Lines = std::vector<std::string_view>;   // each with its line end, where it has one

Lines lines_of(std::string_view text)
{
    Lines out;
    while (!text.empty()) {
        auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        out.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return out;
}

struct Edit { DiffLine::Kind kind; std::size_t before, after; };   // the line's number on either side, from 0
using Edits = std::vector<Edit>;

// The furthest points of each round: row d has those of the diagonals -d … d, every second one.
using Rounds = std::vector<std::vector<std::size_t>>;

void block(Edits& out, std::size_t removed, std::size_t added, std::size_t offset)
{
    for (std::size_t i = 0; i < removed; ++i) out.push_back({DiffLine::Kind::removed, offset + i, offset});
    for (std::size_t i = 0; i < added; ++i) out.push_back({DiffLine::Kind::added, offset + removed, offset + i});
}

// Back from the end through the rounds (Myers, An O(ND) difference algorithm).
Edits walk_back(const Rounds& rounds, std::size_t x, std::size_t y, std::size_t offset)
{
    Edits out;
    auto same = [&] { --x, --y, out.push_back({DiffLine::Kind::same, offset + x, offset + y}); };
    for (auto d = rounds.size() - 1; d > 0; --d) {
        auto& before = rounds[d - 1];
        auto i = (x + d - y) / 2;   // of diagonal x - y in round d
        bool down = i == 0 || (i < d && before[i - 1] < before[i]);
        auto from = down ? before[i] : before[i - 1] + 1;   // x behind the edit
        while (x > from) same();
        if (down) out.push_back({DiffLine::Kind::added, offset + x, offset + --y});
        else --x, out.push_back({DiffLine::Kind::removed, offset + x, offset + y});
    }
    while (x > 0) same();
    std::ranges::reverse(out);
    return out;
}

Edits edits_between(std::span<const std::string_view> a, std::span<const std::string_view> b, std::size_t offset)
{
    Rounds rounds;
    for (std::size_t d = 0; d <= std::min(most_edits, a.size() + b.size()); ++d) {
        std::vector<std::size_t> here(d + 1);
        for (std::size_t i = 0; i <= d; ++i) {   // diagonal 2i - d
            std::size_t x = 0;
            if (d > 0) {
                auto& before = rounds.back();
                bool down = i == 0 || (i < d && before[i - 1] < before[i]);
                x = down ? before[i] : before[i - 1] + 1;
            }
            auto y = x + d - 2 * i;   // may be out of b, or below 0 where x was not reached
            while (x < a.size() && y < b.size() && a[x] == b[y]) ++x, ++y;
            here[i] = x;
            if (x >= a.size() && y >= b.size() && x == a.size() && y == b.size()) {
                rounds.push_back(std::move(here));
                return walk_back(rounds, x, y, offset);
            }
        }
        rounds.push_back(std::move(here));
    }
    Edits out;
    block(out, a.size(), b.size(), offset);
    return out;
}

Edits edits_of(const Lines& a, const Lines& b)
{
    std::size_t front = 0, back = 0, shorter = std::min(a.size(), b.size());
    while (front < shorter && a[front] == b[front]) ++front;
    while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
    Edits out;
    for (std::size_t i = 0; i < front; ++i) out.push_back({DiffLine::Kind::same, i, i});
    auto middle = edits_between(std::span(a).subspan(front, a.size() - front - back), std::span(b).subspan(front, b.size() - front - back), front);
    out.insert(out.end(), middle.begin(), middle.end());
    for (auto i = back; i > 0; --i) out.push_back({DiffLine::Kind::same, a.size() - i, b.size() - i});
    return out;
}

Hunk hunk_of(std::span<const Edit> edits, const Lines& a, const Lines& b)
{
    Hunk out;
    for (auto& edit : edits) {
        auto line = edit.kind == DiffLine::Kind::added ? b[edit.after] : a[edit.before];
        bool ended = line.ends_with('\n');
        if (ended) line.remove_suffix(1);
        out.lines.push_back({edit.kind, std::string(line), ended});
        out.old_count += edit.kind != DiffLine::Kind::added;
        out.new_count += edit.kind != DiffLine::Kind::removed;
    }
    out.old_line = edits[0].before + (out.old_count > 0);
    out.new_line = edits[0].after + (out.new_count > 0);
    return out;
}

std::string range(std::size_t line, std::size_t count) { return std::to_string(line) + (count == 1 ? "" : "," + std::to_string(count)); }

}

std::string Hunk::head() const { return "@@ -" + range(old_line, old_count) + " +" + range(new_line, new_count) + " @@"; }

std::vector<Hunk> diff(std::string_view before, std::string_view after, std::size_t context)
{
    auto a = lines_of(before), b = lines_of(after);
    auto edits = edits_of(a, b);
    std::vector<Hunk> out;
    auto changed = [&](std::size_t i) { return edits[i].kind != DiffLine::Kind::same; };
    for (std::size_t i = 0; i < edits.size(); ++i) {
        if (!changed(i))
            continue;
        auto begin = i - std::min(i, context), end = i + 1;   // end: behind the last change
        for (auto next = end; next < edits.size() && next < end + 2 * context + 1; ++next)
            if (changed(next)) end = next + 1;
        i = end - 1;
        end = std::min(end + context, edits.size());
        out.push_back(hunk_of(std::span(edits).subspan(begin, end - begin), a, b));
    }
    return out;
}

std::string unified(const std::vector<Hunk>& hunks)
{
    constexpr char marks[] = {' ', '-', '+'};
    std::string out;
    for (auto& hunk : hunks) {
        out += hunk.head() + "\n";
        for (auto& line : hunk.lines) {
            (out += marks[static_cast<int>(line.kind)]) += line.text + "\n";
            if (!line.ended) out += "\\ No newline at end of file\n";
        }
    }
    return out;
}

}
