#include "applets/html_scan.h"

#include "applets/html_elements.h"
#include "base/text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ik::html {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool ends_name(char c) { return is_space(c) || c == '/' || c == '>'; }

struct Attribute {
    std::string_view name, value;
    char quote = 0;   // 0: none
};

// The attributes of a tag, one after the other, taken apart as the HTML standard says.
class Attributes {
public:
    Attributes(std::string_view page, std::size_t at) : page_(page), at_(at) {}

    std::optional<Attribute> next();
    bool complete() const { return complete_; }      // the tag's > has been seen
    bool self_closing() const { return slash_; }
    std::size_t end() const { return at_; }

private:
    bool over() const { return at_ >= page_.size(); }
    bool at(char c) const { return !over() && page_[at_] == c; }
    std::string_view until(auto stop);
    void take_value(Attribute&);

    std::string_view page_;
    std::size_t at_;
    bool complete_ = false, slash_ = false;
};

std::string_view Attributes::until(auto stop)
{
    auto from = at_;
    while (!over() && !stop(page_[at_])) ++at_;
    return page_.substr(from, at_ - from);
}

std::optional<Attribute> Attributes::next()
{
    auto between = until([](char c) { return !is_space(c) && c != '/'; });
    slash_ = between.ends_with('/');
    if (over())
        return {};
    auto from = at_++;   // an = may begin a name
    if (page_[from] == '>') {
        complete_ = true;
        return {};
    }
    until([](char c) { return ends_name(c) || c == '='; });
    Attribute out{page_.substr(from, at_ - from), {}};
    auto behind = at_;
    until([](char c) { return !is_space(c); });
    if (at('=')) take_value(out);
    else at_ = behind;
    return out;
}

void Attributes::take_value(Attribute& out)
{
    ++at_;
    until([](char c) { return !is_space(c); });
    if (!at('"') && !at('\'')) {
        out.value = until([](char c) { return is_space(c) || c == '>'; });
        return;
    }
    out.quote = page_[at_++];
    out.value = until([&](char c) { return c == out.quote; });
    if (!over()) ++at_;
}

// An attribute that may change the text; where `within` is not empty, only with a value that has it inside.
struct Wanted { std::string_view name, within; };
constexpr Wanted wanted[] = {
    {"href", ""}, {"src", ""}, {"alt", ""}, {"width", ""}, {"height", ""}, {"start", ""}, {"reversed", ""}, {"value", ""},
    {"type", ""}, {"checked", ""}, {"colspan", ""}, {"rowspan", ""}, {"hidden", ""}, {"open", ""}, {"class", "lang"},
    {"class", "highlight-source-"}, {"style", "none"}, {"style", "hidden"}, {"aria-hidden", "true"}, {"role", "navigation"},
};

const Wanted* find_wanted(const Attribute& attribute)
{
    auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    auto within = [&](std::string_view part) { return part.empty() || !std::ranges::search(attribute.value, part, same).empty(); };
    for (auto& w : wanted)
        if (std::ranges::equal(attribute.name, w.name, same) && within(w.within))
            return &w;
    return nullptr;
}

// What an end tag does not reach through: HTML's "scope".
constexpr std::string_view barriers[] = {"applet", "marquee", "math", "object", "svg", "table", "template"};

class Scanner {
public:
    explicit Scanner(std::string_view page) : page_(page) { out_.reserve(page.size()); }

    std::string scan();

private:
    struct Open { std::string name; bool block, barrier, kept; };

    void text(std::string_view);
    void declaration();
    void comment();
    void start_tag();
    void end_tag();
    void raw_text();
    void take_name();
    bool take_attributes();                // false: the page ends in the tag
    void open_element();
    void close_element();
    void push(const Element&, bool kept);
    void pop();
    std::size_t reach(const Element&) const;
    void put(std::string_view bytes, bool block = false);
    void put_tag(std::string_view begin);
    void put_up_to(std::string_view mark);
    std::string_view rest() const { return page_.substr(at_); }

    std::string_view page_;
    std::size_t at_ = 0;
    std::string out_;
    std::string_view waiting_;             // white space behind a block's tag: nothing when another block's follows
    bool behind_block_ = true;

    std::string name_, attributes_;        // of the tag at hand
    bool self_closing_ = false;

    std::vector<Open> open_;               // as far as can be told without a tree
    int foreign_ = 0, pre_ = 0;            // how many of them are svg or math, and pre
    std::map<std::string, int> formatting_, dropped_;
    std::size_t all_formatting_ = 0;
};

// block: a tag beside which no white space counts.
void Scanner::put(std::string_view bytes, bool block)
{
    if (!block) out_ += waiting_;
    waiting_ = {};
    out_ += bytes;
    behind_block_ = block;
}

void Scanner::text(std::string_view bytes)
{
    if (behind_block_ && waiting_.empty() && !pre_ && std::ranges::all_of(bytes, is_space))
        waiting_ = bytes;
    else
        put(bytes);
}

// From here to behind the mark, or to the end of the page, unchanged.
void Scanner::put_up_to(std::string_view mark)
{
    auto found = page_.find(mark, at_);
    auto size = found == page_.npos ? page_.size() - at_ : found + mark.size() - at_;
    put(page_.substr(at_, size));
    at_ += size;
}

// Comments go. <!--> and <!---> are whole ones, and --!> ends one too.
void Scanner::comment()
{
    auto from = at_ + 2;   // its own dashes may be those of its end
    for (;;) {
        auto dashes = page_.find("--", from);
        if (dashes == page_.npos) {
            at_ = page_.size();
            return;
        }
        auto behind = page_.substr(dashes + 2);
        bool ends = behind.starts_with('>') || (behind.starts_with("!>") && dashes > at_ + 3);
        if (ends) {
            at_ = dashes + (behind.starts_with('>') ? 3 : 4);
            return;
        }
        from = dashes + 1;
    }
}

// <! or <?: what is no comment is for the parser to judge.
void Scanner::declaration()
{
    if (rest().starts_with("<!--"))
        return comment();
    put_up_to(foreign_ && rest().starts_with("<![CDATA[") ? "]]>" : ">");
}

void Scanner::take_name()
{
    auto from = at_;
    while (at_ < page_.size() && !ends_name(page_[at_])) ++at_;
    name_ = lower(page_.substr(from, at_ - from));
}

bool Scanner::take_attributes()
{
    Attributes all(page_, at_);
    attributes_.clear();
    unsigned seen = 0;
    while (auto attribute = all.next()) {
        auto* w = find_wanted(*attribute);
        if (!w || seen >> (w - wanted) & 1)
            continue;
        seen |= 1u << (w - wanted);
        attributes_.append(" ").append(w->name);
        if (attribute->value.empty())
            continue;
        std::string_view quote(&attribute->quote, attribute->quote ? 1 : 0);
        attributes_.append("=").append(quote).append(attribute->value).append(quote);
    }
    self_closing_ = all.self_closing();
    at_ = all.end();
    return all.complete();
}

void Scanner::put_tag(std::string_view begin)
{
    auto tag = std::string(begin) + name_ + attributes_ + (self_closing_ ? " />" : ">");
    put(tag, is_block(element(name_).is));
}

void Scanner::push(const Element& what, bool kept)
{
    bool barrier = std::ranges::find(barriers, name_) != std::end(barriers);
    open_.push_back({name_, is_block(what.is), barrier, kept});
    foreign_ += name_ == "svg" || name_ == "math";
    pre_ += what.is == Is::pre;
}

void Scanner::pop()
{
    auto& name = open_.back().name;
    foreign_ -= name == "svg" || name == "math";
    pre_ -= element(name).is == Is::pre;
    open_.pop_back();
}

void Scanner::open_element()
{
    auto& what = element(name_);
    bool alone = (what.traits & (empty | brief)) || name_ == "a" || (self_closing_ && foreign_);
    if (alone)
        return put_tag("<");
    bool shallow = what.traits & formatting ? all_formatting_ < max_open_formatting : open_.size() < max_open_elements;
    if (!shallow) {
        ++dropped_[name_];
        return is_block(what.is) ? put("<br>") : void();
    }
    bool kept = !(what.traits & idle) || !attributes_.empty() || foreign_;
    if (kept) put_tag("<");
    if (!(what.traits & formatting))
        return push(what, kept);
    ++formatting_[name_];
    ++all_formatting_;
}

void Scanner::close_element()
{
    auto& what = element(name_);
    if (!dropped_.empty())
        if (auto found = dropped_.find(name_); found != dropped_.end() && found->second > 0) {
            --found->second;
            return is_block(what.is) ? put("<br>") : void();
        }
    attributes_.clear();
    self_closing_ = false;
    if (what.traits & formatting) {
        if (auto found = formatting_.find(name_); found != formatting_.end() && found->second > 0) {
            --found->second;
            --all_formatting_;
        }
        return put_tag("</");
    }
    if (name_ == "form") put("<!---->");   // or gumbo puts the text behind the form into it
    auto size = reach(what);
    if (!size || open_[size - 1].kept) put_tag("</");
    while (size && open_.size() >= size) pop();
}

// How many elements are open up to and with the one that an end tag of this name closes; 0: none.
std::size_t Scanner::reach(const Element& what) const
{
    for (auto size = open_.size(); size > 0; --size) {
        auto& open = open_[size - 1];
        if (open.name == name_)
            return size;
        if (open.barrier || (open.block && !is_block(what.is)))
            return 0;
    }
    return 0;
}

// Up to its end tag, which is left for later. What nobody sees goes; but a script with a comment in it may
// hold end tags that are none, and only the parser knows.
void Scanner::raw_text()
{
    auto from = at_;
    for (;;) {
        at_ = page_.find("</", at_);
        if (at_ == page_.npos) {
            at_ = page_.size();
            break;
        }
        auto behind = page_.substr(at_ + 2);
        if (starts_with_ignoring_case(behind, name_) && behind.size() > name_.size() && ends_name(behind[name_.size()]))
            break;
        at_ += 2;
    }
    auto content = page_.substr(from, at_ - from);
    if (!(element(name_).traits & blank) || content.find("<!--") != content.npos)
        put(content);
}

void Scanner::start_tag()
{
    ++at_;
    take_name();
    if (!take_attributes())
        return;
    auto& what = element(name_);
    if (name_ == "plaintext") {
        put_tag("<");
        put(rest());
        at_ = page_.size();
        return;
    }
    if (!(what.traits & raw) || (self_closing_ && foreign_))
        return open_element();
    put_tag("<");
    raw_text();
}

void Scanner::end_tag()
{
    at_ += 2;
    take_name();
    if (take_attributes())
        close_element();
}

std::string Scanner::scan()
{
    while (at_ < page_.size()) {
        auto tag = std::min(page_.find('<', at_), page_.size());
        if (tag > at_) text(page_.substr(at_, tag - at_));
        at_ = tag;
        if (at_ + 1 >= page_.size()) {
            put(rest());
            break;
        }
        char first = page_[at_ + 1], second = at_ + 2 < page_.size() ? page_[at_ + 2] : '\0';
        if (is_letter(first)) start_tag();
        else if (first == '/' && is_letter(second)) end_tag();
        else if (first == '!' || first == '?') declaration();
        else if (first == '/') put_up_to(">");
        else put(page_.substr(at_++, 1));
    }
    return std::move(out_);
}

}

std::string tame(std::string_view page) { return Scanner(page).scan(); }

}
