// The parts of the editor that find words for a person: completion, and search in the history.
#include "base/text.h"
#include "term/editor.h"
#include "term/width.h"

#include <algorithm>

namespace ik::term {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

std::size_t common_length(const std::vector<Candidate>& candidates)
{
    auto common = candidates.front().text.size();
    for (auto& candidate : candidates) {
        auto& first = candidates.front().text;
        auto differs = std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min(common, candidate.text.size())), candidate.text.begin());
        common = static_cast<std::size_t>(differs.first - first.begin());
    }
    return utf8_prefix(candidates.front().text, common).size();
}

std::vector<Candidate> beginning_with(const std::vector<Candidate>& candidates, std::string_view word)
{
    std::vector<Candidate> out;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(out), [&](const Candidate& c) { return c.text.starts_with(word); });
    return out;
}

}

// ---- completion

Wanted Editor::wanted() const
{
    auto begin = cursor_;
    auto escaped = [&](std::size_t at) { return at > 0 && text_[at - 1] == '\\'; };
    while (begin > 0 && (!is_blank(text_[begin - 1]) || (text_[begin - 1] == ' ' && escaped(begin - 1)))) --begin;
    Wanted out{.word = text_.substr(begin, cursor_ - begin), .begin = begin};
    bool is_command = text_.starts_with('/') && text_.find('\n') == std::string::npos;
    if (out.word.starts_with('@') || text_.starts_with('!'))
        out.kind = Wanted::path;
    else if (is_command && begin == 0)
        out.kind = Wanted::command;
    else if (is_command) {
        out.kind = Wanted::argument;
        out.of = text_.substr(0, text_.find(' '));
    }
    return out;
}

Outcome Editor::offer(std::vector<Candidate> candidates)
{
    auto at = wanted();
    offered_ = std::move(candidates);
    matching_ = beginning_with(offered_, at.word);
    chosen_.reset();
    word_at_ = at.begin;
    if (matching_.empty())
        return {};
    if (matching_.size() == 1) {
        choose(0);
        matching_.clear();
        return {Outcome::changed};
    }
    auto common = common_length(matching_);
    if (common > at.word.size()) {
        remember();
        replace(word_at_, cursor_, matching_.front().text.substr(0, common));
    }
    return {Outcome::changed};
}

// The word becomes the candidate; a space follows where it is complete.
void Editor::choose(std::size_t index)
{
    auto text = matching_[index].text;
    bool follows_space = cursor_ < text_.size() && text_[cursor_] == ' ';
    if (!text.ends_with('/') && !follows_space) text += ' ';
    remember();
    replace(word_at_, cursor_, text);
}

void Editor::narrow_menu()
{
    bool inside = cursor_ >= word_at_ && word_at_ <= text_.size();
    auto word = inside ? text_.substr(word_at_, cursor_ - word_at_) : "";
    matching_ = inside && !word.empty() ? beginning_with(offered_, word) : std::vector<Candidate>{};
    chosen_.reset();
}

Outcome Editor::tab()
{
    if (matching_.empty())
        return {wanted().kind == Wanted::nothing ? Outcome::nothing : Outcome::complete};
    if (matching_.size() == 1 && !chosen_) {   // what is left of them
        choose(0);
        matching_.clear();
        return {Outcome::changed};
    }
    chosen_ = chosen_ ? (*chosen_ + 1) % matching_.size() : 0;
    return {Outcome::changed};
}

Outcome Editor::back_tab()
{
    if (matching_.empty())
        return {};
    chosen_ = (chosen_.value_or(0) + matching_.size() - 1) % matching_.size();
    return {Outcome::changed};
}

std::vector<Line> Editor::menu(std::size_t rows) const
{
    std::vector<Line> out;
    auto chosen = chosen_.value_or(0);
    auto first = chosen < rows ? 0 : chosen - rows + 1;
    int widest = 14;   // names are padded to this, as in the list of tools
    for (auto& candidate : matching_) widest = std::min(std::max(widest, width(candidate.text)), 40);
    for (auto i = first; i < matching_.size() && i < first + rows; ++i) {
        auto& candidate = matching_[i];
        Line line(chosen_ == i ? "› " : "  ");   // also where there are no colours
        line.cut = true;
        line.add(candidate.text, {.reverse = chosen_ == i});
        if (auto pad = widest - width(candidate.text); !candidate.about.empty())
            line.add(std::string(static_cast<std::size_t>(std::max(pad, 0)) + 1, ' ')).add(candidate.about, {.ink = Ink::faint});
        out.push_back(std::move(line));
    }
    if (matching_.size() <= rows || rows == 0)
        return out;
    auto last = std::min(first + rows, matching_.size());
    auto where = std::to_string(first + 1) + " to " + std::to_string(last) + " of " + std::to_string(matching_.size());
    out.push_back(Line("  " + where, {.ink = Ink::faint}));
    return out;
}

// ---- search

Outcome Editor::search()
{
    search_ = Search{{}, {}, {text_, cursor_}};
    matching_.clear();
    chosen_.reset();
    return {Outcome::changed};
}

// The newest entry before `below` that has the query in it.
void Editor::look_for(std::size_t below)
{
    for (auto i = std::min(below, history_.size()); i-- > 0;) {
        auto at = history_[i].find(search_->query);
        if (at == std::string::npos)
            continue;
        text_ = unmarked(history_[i]);
        cursor_ = std::min(at, text_.size());
        search_->found = i;
        search_->failed = false;
        return;
    }
    search_->failed = true;
}

Outcome Editor::search_on(const Key& key)
{
    auto control = [&](char c) { return key.kind == Key::text && key.ctrl && !key.alt && key.words == std::string(1, c); };
    if (control('r')) {
        if (!search_->query.empty()) look_for(search_->found.value_or(history_.size()));
        return {Outcome::changed};
    }
    if (control('c') || control('g')) {
        text_ = search_->before.text;
        cursor_ = search_->before.cursor;
        search_.reset();
        return {Outcome::changed};
    }
    bool backspace = key.kind == Key::backspace || control('h');
    if (backspace && !search_->query.empty()) {
        search_->query.resize(previous_border(search_->query, search_->query.size()));
        if (search_->query.empty()) search_->failed = false;
        else look_for(history_.size());
        return {Outcome::changed};
    }
    if (key.kind == Key::text && !key.ctrl && !key.alt) {
        search_->query += clean_utf8(key.words);
        look_for(search_->found ? *search_->found + 1 : history_.size());
        return {Outcome::changed};
    }
    // Anything else takes what was found; Esc no more than that.
    if (text_ != search_->before.text) {
        undo_bytes_ += search_->before.text.size();
        undo_.push_back(search_->before);
        browsing_.reset();
    }
    search_.reset();
    return key.kind == Key::escape || backspace || key.kind == Key::reply ? Outcome{Outcome::changed} : act(key);
}

}
