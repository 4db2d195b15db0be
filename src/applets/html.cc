#include "applets/html.h"

#include "applets/html_blocks.h"
#include "applets/html_inline.h"
#include "applets/html_tree.h"

namespace ik {

Page to_markdown(std::string_view html_utf8, const Url& page)
{
    if (html_utf8.starts_with("\uFEFF"))   // a byte order mark is no text
        html_utf8.remove_prefix(3);
    auto tree = html::read_page(html_utf8);
    auto base = parse_url(resolve(page, tree.base));
    auto blocks = html::blocks_of(tree, base ? *base : page);
    return {html::one_line(tree.title), html::write_blocks(blocks)};
}

}
