#include "term/view.h"

#include <algorithm>
#include <utility>

namespace ik::term {
namespace {

// Synchronized update: https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036 ; the others are DEC's.
constexpr std::string_view frame_begin = "\x1b[?2026h\x1b[?25l", frame_end = "\x1b[?2026l";
constexpr std::string_view show_cursor = "\x1b[?25h", wrap_off = "\x1b[?7l", wrap_on = "\x1b[?7h";
constexpr std::string_view erase_to_end = "\x1b[K", erase_below = "\x1b[J";

std::string csi(std::size_t n, char what) { return n == 0 ? "" : n == 1 ? std::string("\x1b[") + what : "\x1b[" + std::to_string(n) + what; }

// From the begin of one row to the begin of another, none of them below the last one on the screen.
std::string move(std::size_t from, std::size_t to)
{
    return "\r" + (to < from ? csi(from - to, 'A') : csi(to - from, 'B'));
}

}

void View::resize(Size size)
{
    size = {std::clamp(size.columns, 1, 10'000), std::clamp(size.rows, 1, 10'000)};
    if (size == size_)
        return;
    size_ = size;
    stale_ = true;
}

void View::look(Look look)
{
    stale_ = stale_ || look != look_;
    look_ = plain_ ? Look{{}, look.charset} : look;
}

void View::forget()
{
    drawn_.clear();
    at_ = {};
    stale_ = true;
    visible_ = true;
    open_.clear();
    asked_.clear();
}

// To the first live row, with everything from there on erased. Not by one "erase below" from there: some terminals
// take that for clearing the screen when the row is the topmost, and keep a copy.
std::string View::erase_live() const
{
    auto out = move(at_.row, 0) + std::string(erase_to_end);
    if (drawn_.size() > 1) out += csi(1, 'B') + std::string(erase_below) + csi(1, 'A');
    return out;
}

void View::append_finished(std::string& out)
{
    for (auto& line : finished_) {
        out += draw_whole(line, look_);
        out += "\r\n";
    }
    finished_.clear();
}

// Where a byte of a line is, whose rows are those from `first` on. At the edge it is the begin of the next row.
View::Spot View::spot(const Line& line, std::size_t byte, const std::vector<Row>& rows, std::size_t first) const
{
    byte = std::min(byte, line.text.size());
    auto row = first;
    while (row + 1 < rows.size() && rows[row + 1].line == &line && rows[row + 1].begin <= byte) ++row;
    auto before = draw(line, rows[row].begin, std::min(byte, rows[row].end), look_);
    return {row, before.width, std::move(before.text), before.doubtful};
}

// The rows of the live lines that fit on the screen: the last ones, but always the one with the cursor.
std::vector<Row> View::window(const Live& live, std::optional<Spot>& cursor) const
{
    static const Line empty;
    std::vector<Row> rows;
    for (auto* part : {&live.text, &live.status, &live.input, &live.below})
        for (std::size_t i = 0; i < part->size(); ++i) {
            auto& line = (*part)[i];
            auto first = rows.size();
            append_rows(rows, line, size_.columns, look_.charset);
            if (part != &live.input || !live.cursor || live.cursor->line != i)
                continue;
            cursor = spot(line, live.cursor->byte, rows, first);
            if (cursor->column >= size_.columns) {
                cursor = Spot{cursor->row + 1, 0, {}, false};
                if (cursor->row == rows.size()) rows.push_back({&empty});
            }
        }
    auto most = static_cast<std::size_t>(size_.rows);
    if (rows.size() <= most)
        return rows;
    auto first = rows.size() - most;
    if (cursor) {
        first = std::min(first, cursor->row);
        cursor->row -= first;
    }
    auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(most)};
}

std::string View::show(const Live& live)
{
    if (plain_)
        return show_plain(live);
    if (finished_.empty() && !stale_ && live == last_)
        return {};
    std::optional<Spot> cursor;
    auto rows = window(live, cursor);
    std::vector<Bytes> fresh;
    for (auto& row : rows) fresh.push_back(draw(row, look_));

    std::string out;
    bool anew = stale_ || !finished_.empty();
    if (anew) {
        out = erase_live();
        append_finished(out);
        drawn_.clear();
        at_ = {};
    }
    auto at = at_.row;   // where the cursor is while we draw
    out += wrap_off;
    bool any = append_changed(out, fresh, at) || anew;
    last_ = live;
    stale_ = false;
    drawn_.clear();
    for (auto& row : fresh) drawn_.push_back(std::move(row.text));

    auto before = std::exchange(at_, cursor.value_or(Spot{drawn_.empty() ? 0 : drawn_.size() - 1, 0, {}, false}));
    bool moved = at_.row != before.row || at_.column != before.column || at_.before != before.before;
    bool seen = cursor.has_value();
    if (!any && !moved && seen == visible_)
        return {};
    // Where the terminal may count otherwise, what stands before the cursor is written once more.
    out += move(at, at_.row);
    out += at_.doubtful ? at_.before : csi(static_cast<std::size_t>(at_.column), 'C');
    out += wrap_on;
    visible_ = seen;
    return std::string(frame_begin) + out + (seen ? std::string(show_cursor) : "") + std::string(frame_end);
}

// Draws the rows that are different from those on the screen, with the cursor in row `at`; whether there are any.
bool View::append_changed(std::string& out, const std::vector<Bytes>& fresh, std::size_t& at) const
{
    bool any = false;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        bool is_new = i >= drawn_.size();
        if (!is_new && drawn_[i] == fresh[i].text)
            continue;
        any = true;
        if (is_new && i > 0) out += move(at, i - 1) + "\n";   // which scrolls where it must
        else out += move(at, i);
        bool may_reach_edge = fresh[i].width >= size_.columns || fresh[i].doubtful;   // erasing there would take the last character
        if (may_reach_edge) out += erase_to_end;
        out += fresh[i].text;
        if (!may_reach_edge) out += erase_to_end;
        at = i;
    }
    if (fresh.size() >= drawn_.size())
        return any;
    if (fresh.empty())
        out += erase_live();
    else
        out += move(at, fresh.size()) + std::string(erase_below);
    at = fresh.size();
    return true;
}

std::string View::leave()
{
    std::string out;
    if (plain_) {
        if (!open_.empty() || !asked_.empty()) out = "\n";
        append_finished(out);
    } else {
        out = erase_live();
        append_finished(out);
        out += show_cursor;
    }
    forget();
    last_ = {};
    return out;
}

std::string View::clear_screen()
{
    if (plain_)
        return {};
    auto out = leave();
    out += std::string(static_cast<std::size_t>(size_.rows - 1), '\n');
    return out + "\x1b[H";
}

std::string row_begin(Size size) { return std::string(static_cast<std::size_t>(std::max(size.columns - 1, 0)), ' ') + "\r\x1b[K"; }

// Lines only: what has been written of an unfinished line is added to as long as it grows; a prompt is written once.
std::string View::show_plain(const Live& live)
{
    std::string out;
    auto text_of = [&](const Line& line) { return draw_whole(line, look_); };
    auto close = [&] {
        if (!open_.empty() || !asked_.empty()) out += "\n";
        open_.clear();
        asked_.clear();
    };
    for (auto& line : finished_) {
        auto text = text_of(line);
        if (open_.empty() || !text.starts_with(open_)) close();
        out += text.substr(open_.size());
        out += "\n";
        open_.clear();
    }
    finished_.clear();
    // Several unfinished lines may still change their shape (a table): they wait.
    auto unfinished = live.text.size() == 1 ? text_of(live.text[0]) : "";
    if (!unfinished.empty() && asked_.empty() && unfinished.starts_with(open_)) {
        out += unfinished.substr(open_.size());
        open_ = unfinished;
    }
    auto asks = live.cursor && !live.input.empty() ? text_of(live.input[0]) : "";
    if (!asks.empty() && asked_.empty()) {
        close();
        for (std::size_t i = 0; i < live.input.size(); ++i) out += (i ? "\n" : "") + text_of(live.input[i]);
        asked_ = asks;
    }
    return out;
}

}
