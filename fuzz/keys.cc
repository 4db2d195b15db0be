// Any bytes as what a terminal sends, in pieces, to an editor that is shown.
#include "fuzz/frame.h"

#include "base/text.h"
#include "term/editor.h"
#include "term/view.h"

namespace ik::fuzz {

void keys(std::string_view bytes)
{
    if (bytes.size() < 2)
        return;
    int columns = 1 + static_cast<unsigned char>(bytes[0]) % 100;
    auto piece = static_cast<std::size_t>(1 + static_cast<unsigned char>(bytes[1]) % 60);
    bytes.remove_prefix(2);

    term::Keys hears;
    term::Editor editor;
    term::View view({{term::Depth::many, false}, term::Charset::utf8}, {columns, 1 + columns % 30});
    std::vector<std::string> history{"one", "two\nlines", "漢字 👩‍👩‍👧"};
    Clock::time_point now{};
    auto obey = [&](const std::vector<term::Key>& all) {
        for (auto& key : all) {
            auto outcome = editor.on(key, history);
            if (outcome.kind == term::Outcome::complete) editor.offer({{"/help", "about"}, {"@src/", ""}, {"/hello", "\x1b[2J"}});
            claim(valid_utf8(editor.whole()), "what is typed is UTF-8");
            claim(editor.cursor() <= editor.text().size(), "the cursor is in it");
        }
        auto drawn = editor.draw(term::Line("> "));
        auto row = static_cast<long>(view.cursor_row());
        claim_tame(view.show({.text = {}, .status = {}, .input = std::move(drawn.lines), .below = editor.menu(), .cursor = drawn.cursor}), row);
    };
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
        now += std::chrono::milliseconds(10);
        obey(hears.on(bytes.substr(0, piece), now));
    }
    while (hears.until()) {
        now = *hears.until();
        obey(hears.late(now));
    }
}

}
