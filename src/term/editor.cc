#include "term/editor.h"

#include "base/text.h"
#include "term/width.h"

#include <algorithm>

namespace ik::term {

// What a key does. letter: of Key::text; 0 for the other kinds.
struct Binding {
    Key::Kind kind;
    char letter;
    bool ctrl, alt, shift;
    Outcome (Editor::*does)();

    static const Binding* find(const Key&);
    static const Binding table[];
};

constexpr Binding Binding::table[] = {
    {Key::enter, 0, false, false, false, &Editor::enter},
    {Key::enter, 0, false, true, false, &Editor::newline},
    {Key::enter, 0, false, false, true, &Editor::newline},
    {Key::enter, 0, true, false, false, &Editor::newline},
    {Key::tab, 0, false, false, false, &Editor::tab},
    {Key::tab, 0, false, false, true, &Editor::back_tab},
    {Key::escape, 0, false, false, false, &Editor::escape},
    {Key::backspace, 0, false, false, false, &Editor::erase_left},
    {Key::backspace, 0, false, false, true, &Editor::erase_left},
    {Key::backspace, 0, true, false, false, &Editor::kill_word_left},
    {Key::backspace, 0, false, true, false, &Editor::kill_word_left},
    {Key::erase, 0, false, false, false, &Editor::erase_right},
    {Key::erase, 0, true, false, false, &Editor::kill_word_right},
    {Key::up, 0, false, false, false, &Editor::up},
    {Key::down, 0, false, false, false, &Editor::down},
    {Key::left, 0, false, false, false, &Editor::left},
    {Key::left, 0, true, false, false, &Editor::word_left},
    {Key::left, 0, false, true, false, &Editor::word_left},
    {Key::right, 0, false, false, false, &Editor::right},
    {Key::right, 0, true, false, false, &Editor::word_right},
    {Key::right, 0, false, true, false, &Editor::word_right},
    {Key::home, 0, false, false, false, &Editor::line_begin},
    {Key::end, 0, false, false, false, &Editor::line_end},
    {Key::text, 'a', true, false, false, &Editor::line_begin},
    {Key::text, 'b', true, false, false, &Editor::left},
    {Key::text, 'c', true, false, false, &Editor::interrupt},
    {Key::text, 'd', true, false, false, &Editor::end_of_input},
    {Key::text, 'e', true, false, false, &Editor::line_end},
    {Key::text, 'f', true, false, false, &Editor::right},
    {Key::text, 'g', true, false, false, &Editor::outside},
    {Key::text, 'h', true, false, false, &Editor::erase_left},
    {Key::text, 'i', true, false, false, &Editor::tab},
    {Key::text, 'j', true, false, false, &Editor::newline},
    {Key::text, 'k', true, false, false, &Editor::kill_to_end},
    {Key::text, 'l', true, false, false, &Editor::clear_screen},
    {Key::text, 'm', true, false, false, &Editor::enter},
    {Key::text, 'n', true, false, false, &Editor::down},
    {Key::text, 'p', true, false, false, &Editor::up},
    {Key::text, 'r', true, false, false, &Editor::search},
    {Key::text, 't', true, false, false, &Editor::background},
    {Key::text, 'u', true, false, false, &Editor::kill_to_begin},
    {Key::text, 'w', true, false, false, &Editor::kill_blank_word_left},
    {Key::text, 'y', true, false, false, &Editor::yank},
    {Key::text, 'z', true, false, false, &Editor::suspend},
    {Key::text, '[', true, false, false, &Editor::escape},
    {Key::text, '_', true, false, false, &Editor::undo},
    {Key::text, '_', true, false, true, &Editor::undo},
    {Key::text, '-', true, false, true, &Editor::undo},
    {Key::text, '/', true, false, false, &Editor::undo},   // some terminals say Ctrl+/ for it
    {Key::text, 'b', false, true, false, &Editor::word_left},
    {Key::text, 'd', false, true, false, &Editor::kill_word_right},
    {Key::text, 'f', false, true, false, &Editor::word_right},
};

const Binding* Binding::find(const Key& key)
{
    if (key.kind == Key::text && key.words.size() != 1)
        return nullptr;
    char letter = key.kind == Key::text ? key.words[0] : '\0';
    for (auto& row : table)
        if (row.kind == key.kind && row.letter == letter && row.ctrl == key.ctrl && row.alt == key.alt && row.shift == key.shift)
            return &row;
    return nullptr;
}

namespace {

// Folded pastes are the characters from U+10F000 on, four bytes each; of those that somebody types none is kept.
constexpr std::string_view mark_begin = "\xF4\x8F";
constexpr std::size_t mark_size = 4, most_folds = 4000;
constexpr std::size_t longest_unfolded_lines = 10, longest_unfolded = 16 << 10;
constexpr std::size_t most_undo = 500, most_undo_bytes = 8 << 20;

std::string mark(std::size_t fold)
{
    return std::string(mark_begin) + static_cast<char>(0x80 | (fold >> 6)) + static_cast<char>(0x80 | (fold & 0x3F));
}

std::size_t fold_of(std::string_view text, std::size_t at)
{
    return static_cast<std::size_t>((text[at + 2] & 0x3F) << 6 | (text[at + 3] & 0x3F));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

std::size_t lines_of(std::string_view text)
{
    auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return ends + (text.empty() || text.back() != '\n');
}

std::string one_kind_of_newline(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r')
            out += text[i];
        else if (i + 1 == text.size() || text[i + 1] != '\n')
            out += '\n';
    }
    return out;
}

}

Outcome Editor::on(const Key& key, std::span<const std::string> history)
{
    history_ = history;
    does_ = Did::other;
    auto before = text_.size();
    auto outcome = search_ ? search_on(key) : act(key);
    did_ = does_;
    history_ = {};
    bool keeps_menu = outcome.kind == Outcome::changed && text_.size() != before && key.kind != Key::tab;
    if (!matching_.empty() && keeps_menu)
        narrow_menu();
    else if (!matching_.empty() && key.kind != Key::tab && key.kind != Key::up && key.kind != Key::down && outcome.kind != Outcome::nothing)
        matching_.clear(), chosen_.reset();
    return outcome;
}

Outcome Editor::act(const Key& key)
{
    if (key.kind == Key::paste)
        return pasted(key.words);
    if (auto* binding = Binding::find(key))
        return (this->*binding->does)();
    if (key.kind == Key::text && !key.ctrl && !key.alt)
        return typed(key.words);
    return {};
}

// ---- text and its undo

std::string Editor::unmarked(std::string_view text) const
{
    std::string out = clean_utf8(text);
    for (auto at = out.find(mark_begin); at != std::string::npos; at = out.find(mark_begin, at))
        out.replace(at, mark_size, "\uFFFD");
    return out;
}

void Editor::remember()
{
    undo_bytes_ += text_.size();
    undo_.push_back({text_, cursor_});
    while (undo_.size() > most_undo || (undo_bytes_ > most_undo_bytes && undo_.size() > 1)) {
        undo_bytes_ -= undo_.front().text.size();
        undo_.erase(undo_.begin());
    }
}

void Editor::replace(std::size_t begin, std::size_t end, std::string_view by)
{
    text_.replace(begin, end - begin, by);
    cursor_ = begin + by.size();
}

Outcome Editor::undo()
{
    if (undo_.empty())
        return {};
    undo_bytes_ -= undo_.back().text.size();
    text_ = std::move(undo_.back().text);
    cursor_ = undo_.back().cursor;
    undo_.pop_back();
    return {Outcome::changed};
}

// One undo takes back a word and the space behind it.
Outcome Editor::typed(std::string_view text)
{
    auto clean = unmarked(text);
    if (clean.empty())
        return {};
    bool after_blank = cursor_ > 0 && is_blank(text_[cursor_ - 1]) && !is_blank(clean[0]);
    if (did_ != Did::typing || after_blank) remember();
    does_ = Did::typing;
    replace(cursor_, cursor_, clean);
    return {Outcome::changed};
}

Outcome Editor::pasted(std::string text)
{
    text = one_kind_of_newline(text);
    if (text.empty())
        return {};
    remember();
    auto lines = lines_of(text);
    bool folded = (lines > longest_unfolded_lines || text.size() > longest_unfolded) && folds_.size() < most_folds;
    if (!folded) {
        replace(cursor_, cursor_, unmarked(text));
        return {Outcome::changed};
    }
    std::string label = "pasted " + std::to_string(lines) + (lines == 1 ? " line" : " lines");
    if (lines <= longest_unfolded_lines) label += ", " + std::to_string(text.size() >> 10) + " KB";
    auto same = std::count_if(folds_.begin(), folds_.end(), [&](const Fold& f) { return f.label.starts_with(label + "]") || f.label.starts_with(label + " #"); });
    if (same) label += " #" + std::to_string(same + 1);
    folds_.push_back({clean_utf8(text), label + "]"});
    replace(cursor_, cursor_, mark(folds_.size() - 1));
    return {Outcome::changed};
}

std::string Editor::whole() const
{
    std::string out;
    std::size_t from = 0;
    for (auto at = text_.find(mark_begin); at != std::string::npos; at = text_.find(mark_begin, from)) {
        out.append(text_, from, at - from);
        if (auto fold = fold_of(text_, at); fold < folds_.size()) out += folds_[fold].text;
        from = at + mark_size;
    }
    return out.append(text_, from);
}

void Editor::set_text(std::string_view text)
{
    remember();
    text_ = unmarked(one_kind_of_newline(text));
    cursor_ = text_.size();
    browsing_.reset();
}

void Editor::reset()
{
    text_.clear();
    cursor_ = 0;
    folds_.clear();
    undo_.clear();
    undo_bytes_ = 0;
    browsing_.reset();
    draft_.clear();
    matching_.clear();
    chosen_.reset();
}

// ---- ending

Outcome Editor::newline() { return typed("\n"); }

Outcome Editor::enter()
{
    if (chosen_) {
        choose(*chosen_);
        matching_.clear();
        chosen_.reset();
        return {Outcome::changed};
    }
    auto solid = text_.find_last_not_of('\\');
    bool continued = cursor_ == text_.size() && (text_.size() - (solid == std::string::npos ? 0 : solid + 1)) % 2 == 1;
    if (continued) {
        remember();
        replace(cursor_ - 1, cursor_, "\n");
        return {Outcome::changed};
    }
    if (trim(text_).empty())
        return {};
    auto text = whole();
    reset();
    return {Outcome::send, std::move(text)};
}

Outcome Editor::escape()
{
    if (matching_.empty())
        return {Outcome::stop};
    matching_.clear();
    chosen_.reset();
    return {Outcome::changed};
}

Outcome Editor::interrupt()
{
    if (!text_.empty()) {
        remember();
        text_.clear();
        cursor_ = 0;
        browsing_.reset();
        return {Outcome::cleared};
    }
    if (did_ == Did::asking_to_leave)
        return {Outcome::quit};
    does_ = Did::asking_to_leave;
    return {Outcome::leave_asked};
}

Outcome Editor::end_of_input()
{
    if (text_.empty())
        return {Outcome::quit};
    return erase_right();
}

Outcome Editor::outside() { return {Outcome::outside, whole()}; }
Outcome Editor::background() { return {Outcome::background}; }
Outcome Editor::clear_screen() { return {Outcome::clear_screen}; }
Outcome Editor::suspend() { return {Outcome::suspend}; }

// ---- how it looks

Editor::Drawn Editor::draw(const Line& label) const
{
    Drawn out;
    Line line = label;
    if (search_) {
        line = Line(search_->failed ? "(not found) " : "(search) ", {.ink = Ink::faint});
        line.add(search_->query, {.bold = true}).add(": ", {.ink = Ink::faint});
    }
    std::string indent(static_cast<std::size_t>(width(label.text)), ' ');
    std::size_t at = 0, next_mark = text_.find(mark_begin);
    for (;;) {
        if (next_mark < at) next_mark = text_.find(mark_begin, at);
        auto stop = std::min({text_.find('\n', at), next_mark, text_.size()});
        if (cursor_ >= at && cursor_ <= stop) out.cursor = {out.lines.size(), line.text.size() + cursor_ - at};
        line.add(std::string_view(text_).substr(at, stop - at));
        if (stop == text_.size())
            break;
        at = stop + (text_[stop] == '\n' ? 1 : mark_size);
        if (text_[stop] == '\n') {
            out.lines.push_back(std::move(line));
            line = Line(indent);
        } else if (auto fold = fold_of(text_, stop); fold < folds_.size())
            line.add("[" + folds_[fold].label, {.ink = Ink::code});
    }
    out.lines.push_back(std::move(line));
    return out;
}

}
