#include "applets/html_tree.h"

#include "applets/html_memory.h"
#include "applets/html_scan.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <gumbo.h>
#include <optional>
#include <ranges>
#include <utility>

namespace ik::html {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

const GumboVector* children(const GumboNode& node)
{
    switch (node.type) {
    case GUMBO_NODE_DOCUMENT: return &node.v.document.children;
    case GUMBO_NODE_ELEMENT:
    case GUMBO_NODE_TEMPLATE: return &node.v.element.children;
    default: return nullptr;
    }
}

const GumboNode& child(const GumboVector& of, std::size_t i) { return *static_cast<const GumboNode*>(of.data[i]); }

// The document of a page, and the page, which it points into.
class Parsed {
public:
    explicit Parsed(std::string_view page) : page_(tame(page)), output_(parse()) {}
    Parsed(const Parsed&) = delete;

    const GumboNode& document() const { return *output_->document; }
    const char* end() const { return page_.data() + page_.size(); }
    std::size_t size() const { return page_.size(); }
    std::size_t most_nodes() const   // an element for each tag and a text behind it
    {
        std::size_t tags = 0;
        for (std::size_t i = 0; i + 1 < page_.size(); ++i) tags += page_[i] == '<' && (page_[i + 1] == '/' || std::isalpha(static_cast<unsigned char>(page_[i + 1])));
        return 2 * tags + 2;
    }

private:
    const GumboOutput* parse()
    {
        auto options = kGumboDefaultOptions;
        options.max_errors = 0;
        options.userdata = &memory_;
        options.allocator = [](void* memory, std::size_t size) { return static_cast<Memory*>(memory)->allocate(size); };
        options.deallocator = [](void* memory, void* piece) { static_cast<Memory*>(memory)->free(piece); };
        return gumbo_parse_with_options(&options, page_.data(), page_.size());
    }

    std::string page_;
    Memory memory_;
    const GumboOutput* output_;
};

std::string_view piece(GumboStringPiece text) { return {text.data, text.length}; }

std::string_view attribute(const GumboNode& node, const char* name)
{
    auto* found = gumbo_get_attribute(&node.v.element.attributes, name);
    return found ? found->value : "";
}

bool has_attribute(const GumboNode& node, const char* name) { return gumbo_get_attribute(&node.v.element.attributes, name); }

// A whole number at the start of text, as HTML reads it.
std::optional<std::int32_t> number(std::string_view text)
{
    text = trim(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int32_t out = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() ? std::optional(out) : std::nullopt;
}

// A width or height that shows nothing.
bool is_dot(std::string_view size)
{
    size = trim(size);
    if (size.ends_with("px")) size.remove_suffix(2);
    return size == "0" || size == "1";
}

bool is_decoration(const GumboNode& image)
{
    auto source = trim(attribute(image, "src"));
    return source.empty() || starts_with_ignoring_case(source, "data:") || is_dot(attribute(image, "width")) || is_dot(attribute(image, "height"))
        || (has_attribute(image, "alt") && trim(attribute(image, "alt")).empty());
}

bool hides(std::string_view style)
{
    std::string plain;
    for (char c : lower(style))
        if (!is_space(c)) plain += c;
    return std::ranges::any_of(split(plain, ';'), [](auto rule) { return rule.starts_with("display:none") || rule.starts_with("visibility:hidden"); });
}

bool is_hidden(const GumboNode& node)
{
    return has_attribute(node, "hidden") || hides(attribute(node, "style")) || lower(trim(attribute(node, "aria-hidden"))) == "true"
        || lower(trim(attribute(node, "role"))) == "navigation";
}

// What class attributes say about the language of code.
constexpr std::string_view language_prefixes[] = {"language-", "lang-", "highlight-source-"};

std::string_view language(std::string_view classes)
{
    auto allowed = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("+-#._").find(c) != std::string_view::npos; };
    while (!classes.empty()) {
        auto size = static_cast<std::size_t>(std::ranges::find_if(classes, is_space) - classes.begin());
        for (auto prefix : language_prefixes)
            if (auto word = classes.substr(0, size); word.starts_with(prefix) && word.size() > prefix.size() && std::ranges::all_of(word, allowed))
                return word.substr(prefix.size());
        classes.remove_prefix(std::min(size + 1, classes.size()));
    }
    return {};
}

bool has_word(std::string_view text)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto next = text.substr(i, 2);
        if (next == "\u00A0" || next == "\u00AD") ++i;
        else if (!is_space(text[i])) return true;
    }
    return false;
}

// The text directly in an element.
std::string own_text(const GumboNode& node)
{
    std::string out;
    for (auto& list = *children(node); auto i : std::views::iota(0u, list.length))
        if (auto& part = child(list, i); !children(part) && part.type != GUMBO_NODE_COMMENT) out += part.v.text.text;
    return out;
}

class Reader {
public:
    Reader(const Parsed& page, bool all) : page_(page), all_(all)
    {
        for (unsigned tag = 0; tag < known_.size(); ++tag)
            known_[tag] = &element(gumbo_normalized_tagname(static_cast<GumboTag>(tag)));
    }

    Tree read();

private:
    const Element& element_of(const GumboNode&) const;
    bool enters(const GumboNode&, std::uint32_t& node);
    bool fill(Node&, const GumboNode&, const Element&);
    void add(Node);
    void add_text(std::string_view);
    void take_title(const GumboNode&);
    void take_svg(const GumboNode&);
    Piece keep(std::string_view);

    const Parsed& page_;
    bool all_, titled_ = false;
    std::array<const Element*, GUMBO_TAG_LAST> known_{};
    Tree tree_;
    Node counts_;   // so far
};

constexpr std::uint32_t no_node = UINT32_MAX;

const Element& Reader::element_of(const GumboNode& node) const
{
    auto& e = node.v.element;
    if (e.tag != GUMBO_TAG_UNKNOWN)
        return *known_[e.tag];
    auto name = e.original_tag;
    gumbo_tag_from_original_text(&name);
    return element(lower(piece(name)));
}

Piece Reader::keep(std::string_view text)
{
    Piece out{static_cast<std::uint32_t>(tree_.text.size()), static_cast<std::uint32_t>(text.size())};
    tree_.text += text;
    return out;
}

void Reader::add(Node node)
{
    node.words = counts_.words;
    node.blocks = counts_.blocks;
    node.structures = counts_.structures;
    node.end = static_cast<std::uint32_t>(tree_.nodes.size()) + 1;
    counts_.blocks += is_block(node.is);
    counts_.structures += is_structure(node.is);
    tree_.nodes.push_back(node);
}

void Reader::add_text(std::string_view text)
{
    add({.is = Is::text, .text = keep(text)});
    counts_.words += has_word(text);
}

void Reader::take_title(const GumboNode& node)
{
    if (node.v.element.tag_namespace == GUMBO_NAMESPACE_HTML && !std::exchange(titled_, true))
        tree_.title = own_text(node);
}

// Of a picture that is drawn in the page: its title.
void Reader::take_svg(const GumboNode& node)
{
    for (auto& list = *children(node); auto i : std::views::iota(0u, list.length)) {
        auto& title = child(list, i);
        if (title.type == GUMBO_NODE_ELEMENT && title.v.element.tag == GUMBO_TAG_TITLE)
            return add_text(own_text(title));
    }
}

// False when there is nothing to show, so that the element itself is no node.
bool Reader::fill(Node& out, const GumboNode& node, const Element& what)
{
    auto named = [&](std::string_view name) { return what.name == name; };
    switch (what.is) {
    case Is::link:
        out.text = keep(attribute(node, "href"));
        return has_attribute(node, "href");
    case Is::image:
        out.flag = has_attribute(node, "alt");
        out.text = keep(attribute(node, "src"));
        out.more = keep(attribute(node, "alt"));
        return true;
    case Is::list:
        out.number = number(attribute(node, "start")).value_or(1);
        out.flag = number(attribute(node, "start")).has_value();
        out.step = has_attribute(node, "reversed") ? -1 : 1;
        return true;
    case Is::item:
        out.number = number(attribute(node, "value")).value_or(0);
        out.flag = number(attribute(node, "value")).has_value();
        return true;
    case Is::pre: {
        auto& tag = node.v.element.original_tag;
        auto* behind = tag.data ? tag.data + tag.length : page_.end();
        out.flag = !named("xmp") && behind < page_.end() && (*behind == '\n' || *behind == '\r');
        out.more = keep(language(attribute(node, "class")));
        return true;
    }
    case Is::code:
        out.more = keep(language(attribute(node, "class")));
        return true;
    case Is::block:
        if (named("div") || named("figure")) out.more = keep(language(attribute(node, "class")));
        return true;
    case Is::cell:
        out.number = std::clamp(number(attribute(node, "colspan")).value_or(1), 1, 1000);
        out.rows = std::clamp(number(attribute(node, "rowspan")).value_or(1), 0, 65534);
        return true;
    case Is::checkbox: out.flag = has_attribute(node, "checked"); return true;
    default: return what.is != Is::plain && what.is != Is::spare;
    }
}

// Whether what is in an element is of interest. node: the element's own, where it has one.
bool Reader::enters(const GumboNode& from, std::uint32_t& node)
{
    if (!children(from)) {
        if (from.type != GUMBO_NODE_COMMENT) add_text(from.v.text.text);
        return false;
    }
    auto& what = element_of(from);
    bool whole_page = from.v.element.tag == GUMBO_TAG_HTML || from.v.element.tag == GUMBO_TAG_BODY;
    if (what.is == Is::title)
        take_title(from);
    if (what.is == Is::base && tree_.base.empty())
        tree_.base = attribute(from, "href");
    bool drop = what.is == Is::dropped || what.is == Is::title || what.is == Is::base || (what.is == Is::spare && !all_)
             || (what.is == Is::image && is_decoration(from)) || (what.is == Is::checkbox && lower(attribute(from, "type")) != "checkbox")
             || (what.name == "dialog" && !has_attribute(from, "open")) || (!whole_page && is_hidden(from));
    if (drop)
        return false;
    if (what.is == Is::svg) {
        take_svg(from);
        return false;
    }
    Node out{.is = what.is, .level = static_cast<std::uint8_t>(what.level)};
    if (fill(out, from, what)) {
        node = static_cast<std::uint32_t>(tree_.nodes.size());
        add(out);
    }
    return true;
}

Tree Reader::read()
{
    struct Level { const GumboVector* list; unsigned next; std::uint32_t node; };
    tree_.text.reserve(page_.size());
    tree_.nodes.reserve(page_.most_nodes());   // address space; what is not used costs nothing
    std::vector<Level> levels{{children(page_.document()), 0, no_node}};
    while (!levels.empty()) {
        auto& level = levels.back();
        if (level.next == level.list->length) {
            if (level.node != no_node) tree_.nodes[level.node].end = static_cast<std::uint32_t>(tree_.nodes.size());
            levels.pop_back();
            continue;
        }
        auto& next = child(*level.list, level.next++);
        auto node = no_node;
        if (enters(next, node))
            levels.push_back({children(next), 0, node});
    }
    add({});
    return std::move(tree_);
}

}

Tree read_page(std::string_view page)
{
    Parsed parsed(page);
    auto tree = Reader(parsed, false).read();
    if (!tree.nodes.back().words) tree = Reader(parsed, true).read();
    return tree;
}

}
