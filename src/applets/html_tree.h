// HTML tree: what a reader sees of a page, as one flat row of nodes in the order of the page.
// The only door to the HTML parser. Knows nothing of markdown and nothing of the page's address.
#pragma once

#include "applets/html_elements.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ik::html {

// A piece of Tree::text.
struct Piece {
    std::uint32_t from = 0, size = 0;
};

// An element comes before what is in it, which are the nodes up to `end`.
struct Node {
    Is is = Is::plain;
    bool flag = false;             // image: has an alt; list, item: number counts; checkbox: checked; pre: the parser took its first line end
    std::uint8_t level = 0;        // as in Element
    std::int8_t step = 1;          // list: -1 counts down
    std::uint32_t end = 0;
    Piece text = {};               // text; the address of a link or image
    Piece more = {};               // an image's alt; the language of code
    std::int32_t number = 0;       // list: its start; item: its value; cell: columns
    std::int32_t rows = 1;         // cell
    // how many of these come before the node in the page
    std::uint32_t words = 0, blocks = 0, structures = 0;
};

struct Tree {
    std::vector<Node> nodes;       // a last one stands behind the page
    std::string text;
    std::string title;             // of the first <title>
    std::string base;              // the first <base href>

    std::string_view operator[](Piece piece) const { return std::string_view(text).substr(piece.from, piece.size); }
    const Node& behind(const Node& node) const { return nodes[node.end]; }
    bool has_words(const Node& node) const { return behind(node).words > node.words; }
};

// page: UTF-8; what is none becomes U+FFFD. Scripts, navigation, hidden elements are not in the tree; <noscript> and
// <template> only where the page has no other text.
Tree read_page(std::string_view page);

}
