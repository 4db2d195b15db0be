// A page of the web as markdown.
#include "fuzz/fuzz.h"

#include "applets/html.h"
#include "base/text.h"

namespace ik::fuzz {

void html(std::string_view bytes)
{
    auto page = to_markdown(bytes, *parse_url("https://example.com/a/b?c"));
    claim(!page.markdown.ends_with('\n'), "markdown ends without a line end");
    if (valid_utf8(bytes))
        claim(valid_utf8(page.markdown) && valid_utf8(page.title), "UTF-8 stays UTF-8");
}

}
