#include "applets/html_blocks.h"

#include "applets/html_inline.h"
#include "applets/html_table.h"
#include "base/text.h"

#include <algorithm>
#include <utility>

namespace ik::html {
namespace {

// Quotes and lists in one another beyond this are one: each puts something before every line.
constexpr std::size_t max_indented = 48;

bool is_indented(Block::Kind kind) { return kind == Block::item || kind == Block::quote || kind == Block::definition; }

// What an href may say that leads nowhere a reader could follow.
constexpr std::string_view no_links[] = {"#", "javascript:", "vbscript:", "data:"};

bool leads_somewhere(const std::string& address)
{
    return std::ranges::none_of(no_links, [&](auto start) { return starts_with_ignoring_case(address, start); });
}

std::string one_line(std::string text)
{
    std::ranges::replace(text, '\n', ' ');
    return text;
}

// One that shows nothing but its lines.
bool is_bare(std::string_view table) { return table.find_first_not_of("|- \n") == table.npos; }

class Builder {
public:
    Builder(const Tree& tree, const Url& base) : tree_(tree), base_(base) {}

    std::vector<Block> build();

private:
    // An element whose end matters.
    struct Frame {
        std::size_t node;
        std::size_t depth;             // of the containers before it
    };
    struct Container {
        Block::Kind kind;
        std::size_t block = 0;
        bool implied = false;          // has no element of its own
        bool ordered = false;          // list: so, from here:
        std::int64_t number = 1;
        int step = 1;
        std::size_t last_item = 0;     // list: a block; 0 before the first
    };

    void walk(std::size_t from, std::size_t to);
    std::size_t enter(std::size_t);
    void leave();
    std::size_t descend(std::size_t);

    std::size_t open_link(std::size_t);
    std::size_t open_heading(std::size_t);
    std::size_t open_term(std::size_t);
    std::size_t open_list(std::size_t);
    std::size_t open_item(std::size_t);
    std::size_t open_quote(std::size_t, Block::Kind, std::string marker = {});
    std::size_t add_code(std::size_t);
    std::size_t add_table(std::size_t);
    void add_image(const Node&);
    void add_checkbox(const Node&);
    void line_break() { one_line_ ? inline_.space() : inline_.line_break(); }
    std::string cell_text(std::size_t);
    std::string code_text(std::size_t) const;
    std::string_view code_language(std::size_t) const;

    void boundary();
    void add(Block::Kind, std::string text);
    void open(Container, std::string marker = {});
    void close();
    void close_to(std::size_t depth);
    void make_place(bool for_list = false);
    void begin_item(bool implied);
    bool is_top(Block::Kind kind) const { return !containers_.empty() && containers_.back().kind == kind; }

    const Tree& tree_;
    const Url& base_;
    Inline inline_;
    std::vector<Frame> frames_;
    std::vector<Container> containers_;
    std::vector<Block> blocks_;
    std::size_t indented_ = 0;         // containers that put something before their lines
    int heading_ = 0;                  // the level of the heading whose words come next
    bool term_ = false;
    bool one_line_ = false;            // block boundaries and line breaks are spaces
    bool images_in_link_ = false;
};

std::vector<Block> Builder::build()
{
    walk(0, tree_.nodes.size() - 1);
    boundary();
    close_to(0);
    return std::move(blocks_);
}

void Builder::walk(std::size_t from, std::size_t to)
{
    auto outer = frames_.size();
    for (auto i = from; i < to;) {
        while (frames_.size() > outer && tree_.nodes[frames_.back().node].end <= i) leave();
        i = enter(i);
    }
    while (frames_.size() > outer) leave();
}

// ---- Elements, each with the node that comes next.

std::size_t Builder::descend(std::size_t i)
{
    frames_.push_back({i, containers_.size()});
    return i + 1;
}

std::size_t Builder::enter(std::size_t i)
{
    auto& node = tree_.nodes[i];
    switch (node.is) {
    case Is::text: inline_.text(tree_[node.text]); return i + 1;
    case Is::image: add_image(node); return i + 1;
    case Is::line_break: line_break(); return i + 1;
    case Is::checkbox: add_checkbox(node); return i + 1;
    case Is::emphasis:
    case Is::strong:
    case Is::deleted:
    case Is::code:
    case Is::quoted:
    case Is::ruby_text: inline_.open(node.is); return descend(i);
    case Is::link: return open_link(i);
    case Is::heading: return open_heading(i);
    case Is::term: return open_term(i);
    case Is::list: return open_list(i);
    case Is::item: return open_item(i);
    case Is::quote: return open_quote(i, Block::quote);
    case Is::definition: return open_quote(i, Block::definition, ": ");
    case Is::pre: return add_code(i);
    case Is::table: return add_table(i);
    case Is::rule:
        boundary();
        add(Block::other, "---");
        return i + 1;
    default: boundary(); return descend(i);
    }
}

void Builder::leave()
{
    auto [index, depth] = frames_.back();
    frames_.pop_back();
    auto is = tree_.nodes[index].is;
    if (!is_block(is))
        return inline_.close();
    if (is == Is::heading) one_line_ = false;
    boundary();
    if (is == Is::heading || is == Is::term) {
        heading_ = 0;
        term_ = false;
        inline_.plain(false);
    }
    close_to(depth);
}

std::size_t Builder::open_link(std::size_t i)
{
    auto& node = tree_.nodes[i];
    auto address = clean_reference(tree_[node.text]);
    if (!leads_somewhere(address))
        return i + 1;
    bool card = tree_.behind(node).blocks > node.blocks && tree_.has_words(node);
    images_in_link_ = !card;   // the link of a card belongs to its words
    inline_.open(Is::link, resolve(base_, address));
    return descend(i);
}

void Builder::add_image(const Node& node)
{
    inline_.image(tree_[node.more], resolve(base_, tree_[node.text]), images_in_link_);
}

void Builder::add_checkbox(const Node& node)
{
    bool first = is_top(Block::item) && blocks_.size() == containers_.back().block + 1 && inline_.empty();
    if (!first)
        return;
    inline_.text(node.flag ? "[x]" : "[ ]");
    inline_.space();
}

// With structure in it (an end tag may be missing) only the first words are the heading.
std::size_t Builder::open_heading(std::size_t i)
{
    boundary();
    auto& node = tree_.nodes[i];
    heading_ = node.level;
    one_line_ = tree_.behind(node).structures == node.structures + 1;
    inline_.plain(true);
    return descend(i);
}

std::size_t Builder::open_term(std::size_t i)
{
    boundary();
    term_ = true;
    inline_.plain(true);
    return descend(i);
}

std::size_t Builder::open_quote(std::size_t i, Block::Kind kind, std::string marker)
{
    boundary();
    auto next = descend(i);
    make_place();
    open({.kind = kind}, std::move(marker));
    return next;
}

std::size_t Builder::open_list(std::size_t i)
{
    boundary();
    auto& node = tree_.nodes[i];
    Container list{.kind = Block::list, .ordered = node.level == 1, .number = node.number, .step = node.step};
    if (node.step < 0 && !node.flag) {
        list.number = 0;
        for (auto child = i + 1; child < node.end; child = tree_.nodes[child].end) list.number += tree_.nodes[child].is == Is::item;
    }
    auto next = descend(i);
    make_place(true);
    open(list);
    return next;
}

std::size_t Builder::open_item(std::size_t i)
{
    boundary();
    if (is_top(Block::item) && containers_.back().implied) close();
    if (!is_top(Block::list)) open({.kind = Block::list, .implied = true});
    auto& node = tree_.nodes[i];
    if (node.flag) containers_.back().number = node.number;
    auto next = descend(i);
    begin_item(false);
    return next;
}

void Builder::begin_item(bool implied)
{
    auto& list = containers_.back();
    auto marker = list.ordered ? std::to_string(list.number) + ". " : "- ";
    list.number += list.step;
    open({.kind = Block::item, .implied = implied}, marker);
}

std::string Builder::code_text(std::size_t i) const
{
    auto& pre = tree_.nodes[i];
    std::string out;
    std::vector<std::uint32_t> ends;   // of blocks, which have lines of their own
    auto fresh_line = [&] {
        if (!out.empty() && out.back() != '\n') out += '\n';
    };
    for (auto j = i + 1; j < pre.end; ++j) {
        auto& node = tree_.nodes[j];
        for (; !ends.empty() && ends.back() <= j; ends.pop_back()) fresh_line();
        if (node.is == Is::text) out += tree_[node.text];
        if (node.is == Is::line_break) out += '\n';
        if (is_block(node.is)) {
            fresh_line();
            ends.push_back(node.end);
        }
    }
    if (!pre.flag && out.starts_with('\n')) out.erase(0, 1);
    out.resize(out.find_last_not_of('\n') + 1);
    return out;
}

// What the element says, or its code, or the element around it.
std::string_view Builder::code_language(std::size_t i) const
{
    auto& pre = tree_.nodes[i];
    if (pre.more.size)
        return tree_[pre.more];
    for (auto child = i + 1; child < pre.end; child = tree_.nodes[child].end)
        if (tree_.nodes[child].is == Is::code && tree_.nodes[child].more.size)
            return tree_[tree_.nodes[child].more];
    if (frames_.empty() || tree_.nodes[frames_.back().node].is != Is::block)
        return {};
    return tree_[tree_.nodes[frames_.back().node].more];
}

std::size_t Builder::add_code(std::size_t i)
{
    boundary();
    auto text = code_text(i);
    if (text.find_first_not_of(" \t\n") != text.npos) {
        std::string fence(std::max<std::size_t>(3, longest_run(text, '`') + 1), '`');
        add(Block::other, fence + std::string(code_language(i)) + "\n" + text + "\n" + fence);
    }
    return tree_.nodes[i].end;
}

std::string Builder::cell_text(std::size_t i)
{
    one_line_ = true;
    walk(i + 1, tree_.nodes[i].end);
    one_line_ = false;
    return inline_.take();
}

std::size_t Builder::add_table(std::size_t i)
{
    boundary();
    auto lines = table_lines(tree_, i, [this](std::size_t cell) { return cell_text(cell); });
    if (!lines)
        return descend(i);
    auto end = tree_.nodes[i].end;
    for (auto child = i + 1; child < end; child = tree_.nodes[child].end)
        if (tree_.nodes[child].is == Is::caption) walk(child, tree_.nodes[child].end);
    if (!is_bare(*lines)) add(Block::other, std::move(*lines));
    return end;
}

// ---- Blocks.

// The words so far are a block.
void Builder::boundary()
{
    if (one_line_)
        return inline_.space();
    auto text = inline_.take();
    if (text.empty())
        return;
    if (heading_) {
        add(Block::other, std::string(static_cast<std::size_t>(std::exchange(heading_, 0)), '#') + " " + one_line(std::move(text)));
        return inline_.plain(false);
    }
    add(Block::paragraph, term_ ? "**" + text + "**" : escaped_lines(text));
}

void Builder::add(Block::Kind kind, std::string text)
{
    make_place();
    blocks_.push_back({kind, static_cast<std::uint32_t>(blocks_.size() + 1), std::move(text)});
}

// Whatever comes directly in a list is in an item of it; a list, in the one before.
void Builder::make_place(bool for_list)
{
    if (is_top(Block::list) && containers_.back().implied)   // items without a list: here they end
        close();
    if (!is_top(Block::list))
        return;
    auto last = containers_.back().last_item;
    if (!for_list || !last)
        return begin_item(true);
    containers_.push_back({.kind = Block::item, .block = last, .implied = true});
    ++indented_;
}

void Builder::open(Container container, std::string marker)
{
    if (is_indented(container.kind) && indented_ >= max_indented)
        return;
    indented_ += is_indented(container.kind);
    container.block = blocks_.size();
    blocks_.push_back({container.kind, 0, std::move(marker)});
    containers_.push_back(container);
}

// An empty one is none.
void Builder::close()
{
    auto container = containers_.back();
    containers_.pop_back();
    indented_ -= is_indented(container.kind);
    if (blocks_.size() == container.block + 1)
        return blocks_.pop_back();
    blocks_[container.block].end = static_cast<std::uint32_t>(blocks_.size());
    if (container.kind == Block::item) containers_.back().last_item = container.block;
}

void Builder::close_to(std::size_t depth)
{
    while (containers_.size() > depth) close();
}

}

std::vector<Block> blocks_of(const Tree& tree, const Url& base) { return Builder(tree, base).build(); }

}
