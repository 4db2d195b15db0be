// HTML to markdown: html_scan (bytes) -> html_tree (what is seen) -> html_blocks, html_inline, html_table -> html_write (lines).
// What becomes of each element is said in ikigai-web-fetch(1).
#pragma once

#include "base/url.h"

#include <string>
#include <string_view>

namespace ik {

struct Page {
    std::string title;      // of its <title>; empty where there is none
    std::string markdown;   // no line end at its end
};

// Any bytes, in time and memory linear in their number: nothing is recursive. base: the page's address.
Page to_markdown(std::string_view html_utf8, const Url& base);

}
