#include "term/rows.h"

#include <algorithm>

namespace ik::term {
namespace {

constexpr std::string_view ellipsis = "…";

int ellipsis_width(Charset charset) { return charset == Charset::utf8 ? 1 : 3; }

enum class Tabs { sent, spaces };

// A piece in one style.
void append_piece(Bytes& out, std::string_view piece, Charset charset, Tabs tabs)
{
    while (!piece.empty()) {
        auto cluster = first_cluster(piece, out.width, charset);
        auto bytes = piece.substr(0, cluster.size);
        if (cluster.as_it_is || (bytes == "\t" && tabs == Tabs::sent)) out.text += bytes;
        else append_shown(out.text, bytes, out.width, charset);
        out.width += cluster.width;
        out.doubtful = out.doubtful || cluster.doubtful;
        piece.remove_prefix(cluster.size);
    }
}

Bytes draw_part(const Line& line, std::size_t begin, std::size_t end, const Look& look, Tabs tabs)
{
    Bytes out;
    out.text.reserve(end - begin + 16);
    std::string_view text = line.text;
    std::size_t at = 0;   // where the run begins
    bool styled = false;
    auto piece = [&](std::size_t from, std::size_t to, const Style& style) {
        from = std::max(from, begin);
        to = std::min(to, end);
        if (from >= to)
            return;
        if (style != Style{} || styled) out.text += sgr(style, look.palette);
        styled = style != Style{};
        append_piece(out, text.substr(from, to - from), look.charset, tabs);
    };
    for (auto& run : line.runs) {
        piece(at, at + run.size, run.style);
        at += run.size;
    }
    piece(std::min(at, text.size()), text.size(), {});
    if (styled) out.text += sgr({}, look.palette);
    return out;
}

}

void append_rows(std::vector<Row>& rows, const Line& line, int columns, Charset charset)
{
    if (line.cut) {
        auto whole = fitting(line.text, columns, charset).size();
        bool fits = whole == line.text.size();
        auto end = fits ? whole : fitting(line.text, std::max(columns - ellipsis_width(charset), 0), charset).size();
        rows.push_back({&line, 0, end, !fits});
        return;
    }
    auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F; };
    bool fits = line.text.size() <= static_cast<std::size_t>(columns) && std::all_of(line.text.begin(), line.text.end(), is_plain);
    if (fits) {   // as most do
        rows.push_back({&line, 0, line.text.size()});
        return;
    }
    auto begins = wrap(line.text, columns, charset);
    for (std::size_t i = 0; i < begins.size(); ++i)
        rows.push_back({&line, begins[i], i + 1 < begins.size() ? begins[i + 1] : line.text.size()});
}

Bytes draw(const Line& line, std::size_t begin, std::size_t end, const Look& look) { return draw_part(line, begin, end, look, Tabs::spaces); }

std::string draw_whole(const Line& line, const Look& look) { return draw_part(line, 0, line.text.size(), look, Tabs::sent).text; }

Bytes draw(const Row& row, const Look& look)
{
    auto out = draw(*row.line, row.begin, row.end, look);
    if (!row.cut)
        return out;
    if (look.charset == Charset::utf8) out.text += ellipsis;
    else out.text += "...";
    out.width += ellipsis_width(look.charset);
    return out;
}

}
