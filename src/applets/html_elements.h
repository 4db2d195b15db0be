// HTML elements: what each is to a reader of text. Knows names only, no tree and no parser.
#pragma once

#include <string_view>

namespace ik::html {

enum class Is : unsigned char {
    text,
    plain,                                        // inline, of no meaning of its own; also whatever is not known
    emphasis, strong, deleted, code, quoted, ruby_text, link,
    image, line_break, checkbox, svg,
    block, heading, quote, list, item, term, definition, rule, pre, table, caption, row_group, row, cell,
    title, base,
    spare,                                        // shown where the page has nothing else
    dropped,
};

// How the parser treats an element: what a scanner must know that has no tree.
enum Trait : unsigned {
    empty = 1,        // has no end tag
    brief = 2,        // is closed by its own successor, so it does not nest by itself
    formatting = 4,   // is opened again in every block until it is closed
    raw = 8,          // no tags inside
    blank = 16,       // raw, and nobody sees what is in it
    idle = 32,        // changes nothing by itself
};

struct Element {
    std::string_view name;
    Is is = Is::plain;
    unsigned traits = 0;
    int level = 0;    // of a heading; 1: an ordered list, a th
};

// name: in lower case.
const Element& element(std::string_view name);

constexpr bool is_block(Is is) { return is >= Is::block && is <= Is::cell; }

// Blocks that no line of text can hold: where one is, a table's cell or a heading is more than its words.
constexpr bool is_structure(Is is) { return is >= Is::heading && is <= Is::table && is != Is::item; }

}
