#include "term/width.h"

#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <utf8proc.h>

namespace ik::term {
namespace {

constexpr int longest = 32;   // code points in a cluster; more marks than that stand alone

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

// The code point at the start of text, which is valid and size bytes long.
std::int32_t decode(std::string_view text, std::size_t size)
{
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (size == 1) return byte(0);
    if (size == 2) return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    if (size == 3) return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

struct Range { std::int32_t first, last; };

template <std::size_t N>
bool among(const Range (&ranges)[N], std::int32_t c)
{
    return std::any_of(std::begin(ranges), std::end(ranges), [&](const Range& r) { return c >= r.first && c <= r.last; });
}

// Directions of what follows, separators that some take for a new line, annotations.
constexpr Range unwanted[] = {{0x2028, 0x202E}, {0x2066, 0x2069}, {0xFFF9, 0xFFFB}};
constexpr Range tags[] = {{0xE0000, 0xE007F}};   // invisible letters; only flags have a use for them

constexpr std::int32_t black_flag = 0x1F3F4, joiner = 0x200D, emoji_style = 0xFE0F;

bool is_control(std::int32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }
bool is_mark(std::int32_t c)
{
    auto category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_MC;
}
bool is_flag_letter(std::int32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }
bool is_skin_tone(std::int32_t c) { return c >= 0x1F3FB && c <= 0x1F3FF; }

// The columns of characters that stand alone whenever another of them, ASCII or nothing follows; else 0.
int lonely_width(std::int32_t c)
{
    bool kana_or_han = (c >= 0x3041 && c <= 0x3096) || (c >= 0x30A1 && c <= 0x30FA) || (c >= 0x4E00 && c <= 0x9FFF);
    bool letter = (c >= 0xC0 && c <= 0x24F) || (c >= 0x391 && c <= 0x481);
    return kana_or_han ? 2 : letter ? 1 : 0;
}

bool stands_alone(std::string_view text)
{
    if (text.empty() || static_cast<unsigned char>(text[0]) < 0x80)
        return true;
    auto size = utf8_length(text);
    return size && lonely_width(decode(text, size));
}

int code_point_width(std::int32_t c)
{
    auto category = utf8proc_category(c);
    if (category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO)
        return 1;
    return utf8proc_charwidth(c);
}

// The product's own marks, and what people type most, where there is only ASCII.
struct Likeness { std::string_view of, is; };
constexpr Likeness likenesses[] = {
    {"❯", ">"}, {"●", "*"}, {"•", "*"}, {"→", "->"}, {"←", "<-"}, {"⚠", "!"}, {"✗", "x"}, {"✓", "+"}, {"…", "..."}, {"·", "-"},
    {"›", ">"}, {"│", "|"}, {"─", "-"}, {"┼", "+"}, {"▌", "|"}, {"“", "\""}, {"”", "\""}, {"‘", "'"}, {"’", "'"}, {"–", "-"}, {"—", "--"}, {"\u00A0", " "},
};

std::string_view likeness(std::string_view cluster)
{
    for (auto& row : likenesses)
        if (cluster == row.of)
            return row.is;
    return "?";
}

std::string hex(std::int32_t c, int digits)
{
    std::string out;
    for (int shift = 20; shift >= 0; shift -= 4)
        if (auto digit = static_cast<unsigned>(c) >> shift; digit || shift < digits * 4)
            out += "0123456789abcdef"[digit & 15];
    return out;
}

// How one code point that is not sent is written instead.
std::string in_words(std::int32_t c)
{
    if (c < 0x20) return {'^', static_cast<char>(c + 64)};
    if (c == 0x7F) return "^?";
    if (c < 0xA0) return "\\x" + hex(c, 2);
    auto digits = hex(c, 4);
    std::transform(digits.begin(), digits.end(), digits.begin(), [](char d) { return d >= 'a' ? static_cast<char>(d - 32) : d; });
    return "<U+" + digits + ">";
}

// Shown in words, alone.
bool is_worded(std::int32_t c) { return is_control(c) || among(unwanted, c) || among(tags, c); }

// The cluster's end: where the next one begins.
struct Extent {
    std::size_t size;
    int width;                // as a terminal would add it up
    bool emoji, doubtful;
};

Extent extent(std::string_view text, std::size_t first_size, std::int32_t first)
{
    Extent out{first_size, code_point_width(first), false, false};
    std::int32_t before = first, state = 0;
    bool joined = false;
    for (int points = 1; points < longest && out.size < text.size(); ++points) {
        auto rest = text.substr(out.size);
        auto size = utf8_length(rest);
        if (!size)
            break;
        auto c = decode(rest, size);
        if ((among(tags, c) && first != black_flag) || utf8proc_grapheme_break_stateful(before, c, &state))
            break;
        if (c == emoji_style || is_skin_tone(c) || (is_flag_letter(c) && is_flag_letter(first)) || among(tags, c)) out.emoji = true;
        if (joined && code_point_width(c) == 2) out.emoji = true;
        joined = c == joiner;
        out.width += code_point_width(c);
        out.doubtful = out.doubtful || out.emoji || joined || utf8proc_category(c) == UTF8PROC_CATEGORY_MC || is_flag_letter(c);
        out.size += size;
        before = c;
    }
    if (is_flag_letter(first)) out.doubtful = true;
    out.width = out.emoji ? 2 : std::min(out.width, 2);
    return out;
}

}

Charset charset_for(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang)
{
    auto locale = lower(!lc_all.empty() ? lc_all : !lc_ctype.empty() ? lc_ctype : lang);
    bool utf8 = locale.empty() || locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    return utf8 ? Charset::utf8 : Charset::ascii;
}

Cluster first_cluster(std::string_view text, int column, Charset charset)
{
    if (is_plain(text[0]) && (text.size() == 1 || static_cast<unsigned char>(text[1]) < 0x80))
        return {1, 1};
    if (text[0] == '\t')
        return {1, tab_stop(column) - column, false};
    auto size = utf8_length(text);
    if (!size)
        return {1, 1, false};   // U+FFFD, or ?
    auto c = decode(text, size);
    if (int columns = lonely_width(c); columns && charset == Charset::utf8 && stands_alone(text.substr(size)))
        return {size, columns};
    if (is_worded(c))
        return {size, static_cast<int>(in_words(c).size()), false};
    auto whole = extent(text, size, c);
    if (charset == Charset::ascii && !(whole.size == 1))
        return {whole.size, static_cast<int>(is_plain(text[0]) ? 1 : likeness(text.substr(0, whole.size)).size()), false};
    if (is_mark(c))
        return {whole.size, 1 + whole.width, false, true};
    return {whole.size, whole.width, true, whole.doubtful};
}

void append_shown(std::string& out, std::string_view cluster, int column, Charset charset)
{
    if (cluster == "\t") {
        out.append(static_cast<std::size_t>(tab_stop(column) - column), ' ');
        return;
    }
    auto size = utf8_length(cluster);
    if (!size) {
        out += charset == Charset::utf8 ? "\uFFFD" : "?";
        return;
    }
    auto c = decode(cluster, size);
    if (is_worded(c))
        out += in_words(c);
    else if (charset == Charset::ascii)
        out += is_plain(cluster[0]) ? cluster.substr(0, 1) : likeness(cluster);
    else
        (is_mark(c) ? out += "\u25CC" : out) += cluster;   // a mark gets something to stand on
}

std::size_t next_border(std::string_view text, std::size_t at)
{
    return at >= text.size() ? text.size() : at + first_cluster(text.substr(at)).size;
}

// Goes back to where a cluster surely begins, or far enough, and forward again.
std::size_t previous_border(std::string_view text, std::size_t at)
{
    at = std::min(at, text.size());
    if (at == 0)
        return 0;
    auto start = at - 1;
    for (int points = 0; start > 0; --start) {
        bool begins = (static_cast<unsigned char>(text[start]) & 0xC0) != 0x80;
        if (begins && (static_cast<unsigned char>(text[start]) < 0x80 || ++points == 2 * longest))
            break;
    }
    for (;;) {
        auto next = next_border(text, start);
        if (next >= at)
            return start;
        start = next;
    }
}

int width(std::string_view text, Charset charset, int column)
{
    int begin = column;
    while (!text.empty()) {
        auto cluster = first_cluster(text, column, charset);
        column += cluster.width;
        text.remove_prefix(cluster.size);
    }
    return column - begin;
}

std::vector<std::size_t> wrap(std::string_view text, int columns, Charset charset)
{
    std::vector<std::size_t> rows{0};
    int column = 0;
    for (std::size_t at = 0; at < text.size();) {
        auto cluster = first_cluster(text.substr(at), column, charset);
        if (column > 0 && column + cluster.width > columns) {
            if (text[at] == '\t' && column < columns)
                cluster.width = columns - column;   // a tab leads to the edge, not beyond it
            else {
                rows.push_back(at);
                column = 0;
                continue;
            }
        }
        column += cluster.width;
        at += cluster.size;
    }
    return rows;
}

std::string_view fitting(std::string_view text, int columns, Charset charset)
{
    int column = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        auto cluster = first_cluster(text.substr(at), column, charset);
        if (column + cluster.width > columns)
            break;
        column += cluster.width;
        at += cluster.size;
    }
    return text.substr(0, at);
}

std::string utf8proc_version_text() { return std::string("utf8proc ") + utf8proc_version(); }

}
