#include "applets/html_inline.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ik::html {
namespace {

struct Delimiters { Is is; std::string_view begin, end; };
constexpr Delimiters delimiters[] = {
    {Is::emphasis, "*", "*"}, {Is::strong, "**", "**"}, {Is::deleted, "~~", "~~"},
    {Is::quoted, "\"", "\""}, {Is::ruby_text, "(", ")"}, {Is::link, "[", "]"}, {Is::code, "", ""},
};

const Delimiters& delimiter(Is is) { return *std::ranges::find(delimiters, is, &Delimiters::is); }

bool is_emphasis(Is is) { return is == Is::emphasis || is == Is::strong || is == Is::deleted; }
bool is_once(Is is) { return is_emphasis(is) || is == Is::code || is == Is::link; }

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

// Bytes at which a run of text may end: white space and the first byte of U+00A0 and U+00AD.
constexpr auto stops = [] {
    std::array<bool, 256> out{};
    for (unsigned char c : {' ', '\n', '\t', '\r', '\f', '\xC2'}) out[c] = true;
    return out;
}();

// How many bytes of white space begin text; none: 0.
std::size_t space_size(std::string_view text) { return is_space(text[0]) ? 1 : text.starts_with("\u00A0") ? 2 : 0; }

// The words of text and the spaces between them, piece by piece.
void for_each_run(std::string_view text, auto word, auto space)
{
    while (!text.empty()) {
        if (auto size = space_size(text)) {
            space();
            text.remove_prefix(size);
            continue;
        }
        if (text.starts_with("\u00AD")) {
            text.remove_prefix(2);
            continue;
        }
        std::size_t size = 1;
        while (size < text.size() && !stops[static_cast<unsigned char>(text[size])]) ++size;
        word(text.substr(0, size));
        text.remove_prefix(size);
    }
}

// How many characters of `of` begin the line.
std::size_t leading(std::string_view line, std::string_view of)
{
    return std::min(line.find_first_not_of(of), line.size());
}

// Where a line needs a backslash so that it is no block; npos: nowhere.
std::size_t danger(std::string_view line)
{
    if (line.empty())
        return line.npos;
    auto followed_by_space = [&](std::size_t at) { return at < line.size() && line[at] == ' '; };
    if (line[0] == '>' || line.starts_with("```") || line.starts_with("~~~"))
        return 0;
    if (auto size = leading(line, "#"); size >= 1 && size <= 6 && followed_by_space(size))
        return 0;
    if (std::string_view("-+*").find(line[0]) != line.npos && followed_by_space(1))
        return 0;
    if (std::string_view("-=_*").find(line[0]) != line.npos && line.size() >= 3 && leading(line, line.substr(0, 1)) == line.size())
        return 0;
    if (auto size = leading(line, "0123456789"); size > 0 && line.substr(size).starts_with(". "))
        return size;
    return line.npos;
}

}

std::size_t longest_run(std::string_view text, char of)
{
    std::size_t longest = 0, run = 0;
    for (char c : text) {
        run = c == of ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return longest;
}

std::string one_line(std::string_view text)
{
    std::string out;
    bool between = false;
    auto word = [&](std::string_view run) {
        if (std::exchange(between, false) && !out.empty()) out += ' ';
        out += run;
    };
    for_each_run(text, word, [&] { between = true; });
    return out;
}

std::string escaped_lines(std::string_view paragraph)
{
    std::string out;
    for (auto line : split(paragraph, '\n')) {
        if (!out.empty()) out += '\n';
        auto at = danger(line);
        out += line.substr(0, at);
        if (at != line.npos) out.append("\\").append(line.substr(at));
    }
    return out;
}

void Inline::open(Is mark, std::string address)
{
    bool again = is_once(mark) && std::ranges::find(marks_, mark, &Mark::is) != marks_.end();
    marks_.push_back({.is = mark, .address = std::move(address), .over = again});
    settled_ = false;
}

void Inline::close()
{
    if (marks_.back().open) {
        while (written_.back() != marks_.size() - 1) end_mark();
        end_mark();
    }
    marks_.pop_back();
    settled_ = false;
}

// Whether a mark is written at all.
bool Inline::counts(const Mark& mark, bool in_code) const { return !mark.over && !(is_emphasis(mark.is) && (plain_ || in_code)); }

// The mark that was begun last.
void Inline::end_mark()
{
    auto& mark = marks_[written_.back()];
    written_.pop_back();
    mark.open = false;
    settled_ = false;
    out_ += delimiter(mark.is).end;
    if (mark.is == Is::link)
        out_.append("(").append(mark.address).append(")");
    if (mark.is == Is::code) {
        auto run = longest_run(std::string_view(out_).substr(mark.from), '`');
        auto fence = std::string(run ? std::max<std::size_t>(run + 1, 2) : 1, '`');
        auto pad = run ? " " : "";
        out_.insert(mark.from, fence + pad);
        out_ += pad + fence;
    }
    closed_ = mark.is;
    closed_at_ = out_.size();
}

void Inline::begin_mark(std::size_t index)
{
    auto& mark = marks_[index];
    mark.open = true;
    written_.push_back(index);
    auto& with = delimiter(mark.is);
    bool goes_on = is_emphasis(mark.is) && closed_ == mark.is && closed_at_ == out_.size() && !out_.empty();
    if (goes_on) out_.resize(out_.size() - with.end.size());   // **a****b** would be read otherwise
    else out_ += with.begin;
    closed_ = Is::plain;
    mark.from = out_.size();
}

void Inline::end_code()
{
    if (!written_.empty() && marks_[written_.back()].is == Is::code) end_mark();
}

// Code is inside all other marks: nothing is marked within it.
void Inline::open_marks()
{
    if (settled_)
        return;
    bool in_code = false;
    auto code = marks_.size();
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        auto& mark = marks_[i];
        if (mark.is == Is::code && !mark.over) {
            in_code = true;
            code = i;
        } else if (!mark.open && counts(mark, in_code)) {
            end_code();
            begin_mark(i);
        }
    }
    if (in_code && !marks_[code].open) begin_mark(code);
    settled_ = true;
}

// The white space before something that is seen.
void Inline::begin()
{
    if (!out_.empty()) {
        if (breaks_ > 0) out_.append(static_cast<std::size_t>(std::min(breaks_, 2)), '\n');
        else if (space_) out_ += ' ';
    }
    space_ = false;
    breaks_ = 0;
}

void Inline::text(std::string_view text)
{
    auto word = [this](std::string_view run) {
        begin();
        open_marks();
        out_ += run;
    };
    for_each_run(text, word, [this] { space_ = true; });
}

void Inline::image(std::string_view alt, std::string_view address, bool in_link)
{
    end_code();
    begin();
    for (std::size_t i = 0; in_link && i < marks_.size(); ++i)
        if (marks_[i].is == Is::link && !marks_[i].open && !marks_[i].over) begin_mark(i);
    out_.append("![").append(one_line(alt)).append("](").append(address).append(")");
}

std::string Inline::take()
{
    while (!written_.empty()) {
        auto& mark = marks_[written_.back()];
        end_mark();
        mark.over = mark.is == Is::link;
    }
    space_ = false;
    breaks_ = 0;
    closed_ = Is::plain;
    return std::exchange(out_, {});
}

}
