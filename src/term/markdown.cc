#include "term/markdown.h"

#include "base/text.h"
#include "term/table.h"
#include "term/width.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <memory>

namespace ik::term {
namespace {

constexpr int deepest = 40;   // what is nested deeper is shown as the text it is

using Node = cmark_node*;
struct Freed { void operator()(Node node) const { cmark_node_free(node); } };
using Document = std::unique_ptr<cmark_node, Freed>;

Document parse(std::string_view text)
{
    cmark_gfm_core_extensions_ensure_registered();
    auto* parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    for (auto* name : {"table", "strikethrough", "autolink", "tasklist"})
        cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(name));
    cmark_parser_feed(parser, text.data(), text.size());
    Document out(cmark_parser_finish(parser));
    cmark_parser_free(parser);
    return out;
}

// Of the kinds that extensions add.
bool is(Node node, std::string_view type) { return cmark_node_get_type_string(node) == type; }

std::string_view literal(Node node)
{
    auto* text = cmark_node_get_literal(node);
    return text ? text : "";
}

// What stands before the first line of a block, and before the others.
struct Margin {
    Line first = {}, rest = {};

    Margin with(std::string_view mark, std::string_view then, Style style = {}) const
    {
        Margin out = *this;
        out.first.add(mark, style);
        out.rest.add(then, style);
        return out;
    }
    Line take() { return std::exchange(first, rest); }
};

class Renderer {
public:
    explicit Renderer(const Markdown::Options& options) : options_(options) {}

    void block(Node, Margin&, int depth = 0);
    std::vector<Line> lines;

private:
    void emit(Margin&, const Line&);
    void blank(const Margin&);
    void children(Node, Margin&, int depth);
    void paragraph(Node, Margin&);
    void heading(Node, Margin&);
    void code(Node, Margin&);
    void list(Node, Margin&, int depth);
    void table(Node, Margin&);
    void verbatim(std::string_view text, Margin&, Style);
    std::vector<Line> inlines(Node) const;
    void inline_of(Node, Style, std::vector<Line>&, int depth) const;
    void link(Node, Style, std::vector<Line>&, int depth) const;

    const Markdown::Options& options_;
    bool drawn_ = options_.charset == Charset::utf8;
};

void Renderer::emit(Margin& margin, const Line& line)
{
    auto whole = margin.take();
    whole.add(line);
    lines.push_back(std::move(whole));
}

void Renderer::blank(const Margin& margin)
{
    auto size = margin.rest.text.find_last_not_of(' ') + 1;
    Line line;
    std::size_t at = 0;
    for (auto& piece : margin.rest.pieces()) {
        line.add(piece.text.substr(0, size - std::min(at, size)), piece.style);
        at += piece.text.size();
    }
    lines.push_back(std::move(line));
}

void Renderer::verbatim(std::string_view text, Margin& margin, Style style)
{
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (auto part : split(text, '\n')) {
        emit(margin, {part, style});
    }
}

// Whether there is an empty line in the source before it: lists are as loose as they were written.
bool apart(Node node)
{
    Node before = cmark_node_previous(node);
    for (Node inner = before; inner && (cmark_node_get_type(inner) & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK; inner = cmark_node_last_child(inner))
        before = inner;   // an item ends behind the empty line, what is in it does not
    return cmark_node_get_start_line(node) - cmark_node_get_end_line(before) > 1;
}

void Renderer::children(Node parent, Margin& margin, int depth)
{
    bool in_item = cmark_node_get_type(parent) == CMARK_NODE_ITEM;
    for (Node child = cmark_node_first_child(parent); child; child = cmark_node_next(child)) {
        if (cmark_node_previous(child) && (!in_item || apart(child))) blank(margin);
        block(child, margin, depth + 1);
    }
}

void Renderer::block(Node node, Margin& margin, int depth)
{
    auto type = cmark_node_get_type(node);
    if (depth > deepest) return emit(margin, {"…", {.ink = Ink::faint}});
    if (type == CMARK_NODE_PARAGRAPH) return paragraph(node, margin);
    if (type == CMARK_NODE_HEADING) return heading(node, margin);
    if (type == CMARK_NODE_CODE_BLOCK) return code(node, margin);
    if (type == CMARK_NODE_LIST) return list(node, margin, depth);
    if (type == CMARK_NODE_HTML_BLOCK) return verbatim(literal(node), margin, {.ink = Ink::faint});
    if (is(node, "table")) return table(node, margin);
    if (type == CMARK_NODE_BLOCK_QUOTE) {
        auto mark = drawn_ ? "│ " : "> ";
        auto inside = margin.with(mark, mark, {.ink = Ink::quote});
        children(node, inside, depth);
        margin.take();
    } else if (type == CMARK_NODE_THEMATIC_BREAK) {
        std::string rule;
        for (int i = 0; i < std::min(options_.columns, 40); ++i) rule += drawn_ ? "─" : "-";
        emit(margin, {rule, {.ink = Ink::faint}});
    }
}

void Renderer::paragraph(Node node, Margin& margin)
{
    for (auto& line : inlines(node)) emit(margin, line);
}

void Renderer::heading(Node node, Margin& margin)
{
    auto mark = std::string(static_cast<std::size_t>(cmark_node_get_heading_level(node)), '#') + " ";
    for (auto& line : inlines(node)) {
        Line whole(mark, {.ink = Ink::faint});
        for (auto [text, style] : line.pieces()) {
            style.bold = true;
            if (style.ink == Ink::plain) style.ink = Ink::heading;
            whole.add(text, style);
        }
        emit(margin, whole);
    }
}

Line fence_line(std::string_view info) { return {"```" + std::string(info), {.ink = Ink::faint}}; }

// The first word behind a fence.
std::string_view language_of(Node node)
{
    std::string_view info = cmark_node_get_fence_info(node) ? cmark_node_get_fence_info(node) : "";
    return info.substr(0, info.find_first_of(" \t{,"));
}

void Renderer::code(Node node, Margin& margin)
{
    Highlighter highlighter(language_named(language_of(node)));
    emit(margin, fence_line(language_of(node)));
    auto text = literal(node);
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (!literal(node).empty())
        for (auto line : split(text, '\n')) emit(margin, highlighter.line(line));
    emit(margin, fence_line(""));
}

void Renderer::list(Node node, Margin& margin, int depth)
{
    bool numbered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
    auto number = cmark_node_get_list_start(node);
    for (Node item = cmark_node_first_child(node); item; item = cmark_node_next(item)) {
        if (cmark_node_previous(item) && apart(item)) blank(margin);
        auto mark = numbered ? std::to_string(number++) + (cmark_node_get_list_delim(node) == CMARK_PAREN_DELIM ? ") " : ". ") : std::string("- ");
        auto spaces = std::string(mark.size(), ' ');
        if (is(item, "tasklist"))
            mark += cmark_gfm_extensions_get_tasklist_item_checked(item) ? "[x] " : "[ ] ";
        auto inside = margin.with(mark, spaces);
        if (cmark_node_first_child(item))
            children(item, inside, depth);
        else
            emit(inside, {});
        margin.take();
    }
}

void Renderer::table(Node node, Margin& margin)
{
    Table table;
    auto columns = cmark_gfm_extensions_get_table_columns(node);
    auto* align = cmark_gfm_extensions_get_table_alignments(node);
    for (int i = 0; i < columns; ++i) table.columns.push_back(align[i] == 'r' ? Align::right : align[i] == 'c' ? Align::center : Align::left);
    for (Node row = cmark_node_first_child(node); row; row = cmark_node_next(row)) {
        auto& cells = table.rows.emplace_back();
        for (Node cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell)) {
            Line whole;
            for (auto& line : inlines(cell)) whole.add(line);
            cells.push_back(std::move(whole));
        }
        cells.resize(table.columns.size());
    }
    auto used = width(margin.rest.text);
    for (auto& line : table_lines(table, options_.columns > used ? options_.columns - used : 1, options_.charset)) emit(margin, line);
}

std::vector<Line> Renderer::inlines(Node node) const
{
    std::vector<Line> out(1);
    for (Node child = cmark_node_first_child(node); child; child = cmark_node_next(child)) inline_of(child, {}, out, 0);
    return out;
}

void Renderer::inline_of(Node node, Style style, std::vector<Line>& out, int depth) const
{
    auto type = cmark_node_get_type(node);
    if (type == CMARK_NODE_SOFTBREAK) return static_cast<void>(out.back().add(" ", style));
    if (type == CMARK_NODE_LINEBREAK) return static_cast<void>(out.emplace_back());
    if (type == CMARK_NODE_CODE) return static_cast<void>(out.back().add(literal(node), {.ink = Ink::code, .bold = style.bold}));
    if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) return link(node, style, out, depth);
    if (!cmark_node_first_child(node)) return static_cast<void>(out.back().add(literal(node), style));
    style.italic |= type == CMARK_NODE_EMPH;
    style.bold |= type == CMARK_NODE_STRONG;
    style.strike |= is(node, "strikethrough");
    if (depth > deepest) return static_cast<void>(out.back().add("…", style));
    for (Node child = cmark_node_first_child(node); child; child = cmark_node_next(child)) inline_of(child, style, out, depth + 1);
}

// The words, and the address behind them where they are not the address.
void Renderer::link(Node node, Style style, std::vector<Line>& out, int depth) const
{
    std::vector<Line> words(1);
    if (depth <= deepest)
        for (Node child = cmark_node_first_child(node); child; child = cmark_node_next(child)) inline_of(child, style, words, depth + 1);
    std::string said, address = cmark_node_get_url(node) ? cmark_node_get_url(node) : "";
    for (auto& line : words) said += line.text;
    bool same = said == address || "mailto:" + said == address || "http://" + said == address;
    for (auto& line : words)
        for (auto& [text, meant] : line.pieces()) out.back().add(text, {.ink = Ink::link, .bold = meant.bold, .italic = meant.italic});
    if (!same && !address.empty()) out.back().add((said.empty() ? "<" : " <") + address + ">", {.ink = Ink::faint});
}

// Where the numbered line begins, from 1.
std::size_t line_start(std::string_view text, int line)
{
    std::size_t at = 0;
    for (; line > 1 && at < text.size(); --line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
    return at;
}

std::vector<Line> rendered(Node node, const Markdown::Options& options)
{
    Renderer renderer(options);
    Margin margin;
    renderer.block(node, margin);
    return std::move(renderer.lines);
}

}

std::string cmark_version_text() { return std::string("cmark-gfm ") + cmark_version_string(); }

void Markdown::feed(std::string_view text)
{
    pending_ += text;
    parsed_ = false;
}

void Markdown::settle(bool ended)
{
    if (std::exchange(parsed_, true) && !ended)
        return;
    while (fence_.mark ? take_code(ended) : take_blocks(ended))
        ;
}

void Markdown::end()
{
    settle(true);
    blank_before_ = true;
}

std::vector<Line> Markdown::take_final()
{
    settle(false);
    return std::exchange(final_, {});
}

void Markdown::finish(std::vector<Line> block)
{
    if (blank_before_ && something_before_) final_.emplace_back();
    blank_before_ = something_before_ = true;
    std::ranges::move(block, std::back_inserter(final_));
}

// The lines of code that are whole. False when there is nothing more to take.
bool Markdown::take_code(bool ended)
{
    auto end = pending_.find('\n');
    if (end == pending_.npos && !ended)
        return false;
    std::string_view line = std::string_view(pending_).substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto indent = std::min(line.find_first_not_of(' '), line.size());
    auto mark = line.substr(indent);
    auto marks = std::min(mark.find_first_not_of(fence_.mark), mark.size());
    bool closes = indent <= 3 && marks >= fence_.size && trim(mark.substr(marks)).empty();
    bool more = end != pending_.npos;
    if (!closes && (more || !line.empty())) final_.push_back(code_.line(line.substr(std::min(indent, fence_.indent))));
    if (closes || !more) {
        final_.push_back(fence_line(""));
        fence_ = {};
    }
    pending_.erase(0, more ? end + 1 : pending_.size());
    return true;
}

// The blocks that another block follows are final, of a list the items; code is from its first line on.
bool Markdown::take_blocks(bool ended)
{
    if (pending_.empty() || (!ended && pending_.find('\n') == pending_.npos))
        return false;
    // A line that is not whole may still prove to go on with what is before it.
    auto whole = ended ? pending_.size() : pending_.rfind('\n') + 1;
    auto document = parse(std::string_view(pending_).substr(0, whole));
    Node last = cmark_node_last_child(document.get());
    if (!last)
        return pending_.erase(0, whole), false;
    for (Node node = cmark_node_first_child(document.get()); node != last; node = cmark_node_next(node)) finish(rendered(node, options_));

    int length = 0, offset = 0;
    char mark = 0;
    if (cmark_node_get_type(last) == CMARK_NODE_CODE_BLOCK && cmark_node_get_fenced(last, &length, &offset, &mark)) {
        auto from = line_start(pending_, cmark_node_get_start_line(last));
        auto end = pending_.find('\n', from);
        if (end != pending_.npos || ended) {
            finish({fence_line(language_of(last))});
            code_ = Highlighter(language_named(language_of(last)));
            fence_ = {mark, static_cast<std::size_t>(length), static_cast<std::size_t>(offset)};
            pending_.erase(0, end == pending_.npos ? end : end + 1);
            return true;
        }
    }
    if (ended) {
        finish(rendered(last, options_));
        return pending_.clear(), false;
    }
    Node item = cmark_node_get_type(last) == CMARK_NODE_LIST ? cmark_node_last_child(last) : nullptr;
    if (!item || !cmark_node_previous(item)) {
        pending_.erase(0, line_start(pending_, cmark_node_get_start_line(last)));
        return false;
    }
    auto from = line_start(pending_, cmark_node_get_start_line(item));
    auto before = line_start(pending_, cmark_node_get_start_line(item) - 1);
    bool gap = trim(std::string_view(pending_).substr(before, from - before)).empty();
    cmark_node_unlink(item);
    Document kept(item);
    finish(rendered(last, options_));
    blank_before_ = gap;
    pending_.erase(0, from);
    return false;
}

std::vector<Line> Markdown::live() const
{
    std::vector<Line> out;
    if (fence_.mark) {
        auto code = code_;
        if (!pending_.empty()) out.push_back(code.line(pending_));
        return out;
    }
    auto document = parse(pending_);
    for (Node node = cmark_node_first_child(document.get()); node; node = cmark_node_next(node)) {
        if (node != cmark_node_first_child(document.get()) || (blank_before_ && something_before_)) out.emplace_back();
        for (auto& line : rendered(node, options_)) out.push_back(std::move(line));
    }
    return out;
}

}
