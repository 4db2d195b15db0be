// Any bytes as the text of a model, in pieces, on a terminal of any size.
#include "fuzz/frame.h"

#include "term/markdown.h"
#include "term/view.h"

namespace ik::fuzz {

void markdown(std::string_view bytes)
{
    if (bytes.size() < 3)
        return;
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    int columns = 1 + byte(0) % 100;
    auto piece = static_cast<std::size_t>(1 + byte(1) % 60);
    auto charset = byte(2) % 2 ? term::Charset::utf8 : term::Charset::ascii;
    bytes.remove_prefix(3);

    term::Markdown text({.columns = columns, .charset = charset});
    term::View view({{term::Depth::many, false}, charset}, {columns, 1 + columns % 30});
    auto show = [&](bool live) {
        for (auto& line : text.take_final()) {
            claim(line.text.find('\n') == std::string::npos, "a line is one line");
            view.print(std::move(line));
        }
        auto row = static_cast<long>(view.cursor_row());
        claim_tame(view.show({.text = live ? text.live() : std::vector<term::Line>(), .status = {}, .input = {term::Line("> ")}, .below = {}, .cursor = term::Place{0, 2}}), row);
    };
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
        text.feed(bytes.substr(0, piece));
        show(true);
    }
    text.end();
    show(false);
    claim(text.live().empty(), "nothing is left after the end");
}

}
