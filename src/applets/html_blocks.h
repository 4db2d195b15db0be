// HTML blocks: a page as paragraphs and what holds them, from its tree.
#pragma once

#include "applets/html_tree.h"

#include "base/url.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ik::html {

// Like the nodes of a tree: a block comes before what is in it, which are the blocks up to `end`.
struct Block {
    enum Kind : unsigned char {
        paragraph, other,              // lines of text: paragraph, or heading, rule, code, table
        list, item, quote, definition,
    };
    Kind kind;
    std::uint32_t end = 0;
    std::string text = {};             // item, definition: the marker before the first line
};

// base: the page's address, which relative ones in it are taken against.
std::vector<Block> blocks_of(const Tree&, const Url& base);

std::string write_blocks(const std::vector<Block>&);

}
