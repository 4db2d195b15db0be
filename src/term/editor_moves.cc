// The parts of the editor that move the cursor, through the text and through the history, and that erase.
#include "term/editor.h"
#include "term/width.h"

#include <algorithm>
#include <utility>

namespace ik::term {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool in_word(char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
    return letter || (c >= '0' && c <= '9') || c == '_';
}

}

// ---- moving

std::size_t Editor::begin_of_line(std::size_t at) const
{
    auto end = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return end == std::string::npos ? 0 : end + 1;
}

std::size_t Editor::end_of_line(std::size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

std::size_t Editor::word_begin(std::size_t at) const
{
    while (at > 0 && !in_word(text_[at - 1])) --at;
    while (at > 0 && in_word(text_[at - 1])) --at;
    return at;
}

std::size_t Editor::word_end(std::size_t at) const
{
    while (at < text_.size() && !in_word(text_[at])) ++at;
    while (at < text_.size() && in_word(text_[at])) ++at;
    return at;
}

Outcome Editor::move_to(std::size_t cursor)
{
    bool same = cursor == cursor_;
    cursor_ = cursor;
    return {same ? Outcome::nothing : Outcome::changed};
}

Outcome Editor::left() { return move_to(previous_border(text_, cursor_)); }
Outcome Editor::right() { return move_to(next_border(text_, cursor_)); }
Outcome Editor::word_left() { return move_to(word_begin(cursor_)); }
Outcome Editor::word_right() { return move_to(word_end(cursor_)); }
Outcome Editor::line_begin() { return move_to(begin_of_line(cursor_)); }
Outcome Editor::line_end() { return move_to(end_of_line(cursor_)); }

Outcome Editor::move_vertically(std::size_t begin, std::size_t end)
{
    auto line = begin_of_line(cursor_);
    if (did_ != Did::vertical) goal_ = width(std::string_view(text_).substr(line, cursor_ - line));
    does_ = Did::vertical;
    return move_to(begin + fitting(std::string_view(text_).substr(begin, end - begin), goal_).size());
}

Outcome Editor::up()
{
    if (!matching_.empty())
        return back_tab();
    if (auto line = begin_of_line(cursor_); line > 0)
        return move_vertically(begin_of_line(line - 1), line - 1);
    auto newest = std::min(browsing_.value_or(history_.size()), history_.size());
    return newest == 0 ? Outcome{} : recall(newest - 1);
}

Outcome Editor::down()
{
    if (!matching_.empty())
        return tab();
    if (auto end = end_of_line(cursor_); end < text_.size())
        return move_vertically(end + 1, end_of_line(end + 1));
    return browsing_ ? recall(*browsing_ + 1) : Outcome{};
}

// The entry of the history; behind the newest is what was typed before.
Outcome Editor::recall(std::size_t index)
{
    if (!browsing_) draft_ = text_;
    bool typed_one = index >= history_.size();
    text_ = typed_one ? std::exchange(draft_, {}) : unmarked(history_[index]);
    cursor_ = text_.size();
    browsing_ = typed_one ? std::nullopt : std::optional(index);
    return {Outcome::changed};
}

// ---- erasing

Outcome Editor::kill(std::size_t begin, std::size_t end, bool leftwards)
{
    if (begin == end)
        return {};
    remember();
    auto piece = text_.substr(begin, end - begin);
    if (did_ != Did::killing) killed_.clear();
    killed_ = leftwards ? piece + killed_ : killed_ + piece;
    does_ = Did::killing;
    replace(begin, end, "");
    return {Outcome::changed};
}

Outcome Editor::erase_left()
{
    if (cursor_ == 0)
        return {};
    if (did_ != Did::typing) remember();
    does_ = Did::typing;
    replace(previous_border(text_, cursor_), cursor_, "");
    return {Outcome::changed};
}

Outcome Editor::erase_right()
{
    if (cursor_ == text_.size())
        return {};
    remember();
    replace(cursor_, next_border(text_, cursor_), "");
    return {Outcome::changed};
}

// At the end of a line, the end itself.
Outcome Editor::kill_to_end()
{
    auto end = end_of_line(cursor_);
    return kill(cursor_, end == cursor_ && end < text_.size() ? end + 1 : end, false);
}

Outcome Editor::kill_to_begin()
{
    auto begin = begin_of_line(cursor_);
    return kill(begin == cursor_ && begin > 0 ? begin - 1 : begin, cursor_, true);
}

Outcome Editor::kill_word_left() { return kill(word_begin(cursor_), cursor_, true); }
Outcome Editor::kill_word_right() { return kill(cursor_, word_end(cursor_), false); }

Outcome Editor::kill_blank_word_left()
{
    auto begin = cursor_;
    while (begin > 0 && is_blank(text_[begin - 1])) --begin;
    while (begin > 0 && !is_blank(text_[begin - 1])) --begin;
    return kill(begin, cursor_, true);
}

Outcome Editor::yank()
{
    if (killed_.empty())
        return {};
    remember();
    replace(cursor_, cursor_, killed_);
    return {Outcome::changed};
}

}
