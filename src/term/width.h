// Width: what of a text goes together as one character that a person sees (a grapheme cluster),
// how many columns of a terminal it takes, and how it is shown where it may not be sent as it is.
// The door to libutf8proc. Knows nothing of colours, rows on a screen or the cursor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ik::term {

// What the terminal can show: where it is not UTF-8, what is not ASCII becomes a likeness or '?'.
enum class Charset { utf8, ascii };

// From $LC_ALL, $LC_CTYPE and $LANG, each may be empty. Where nothing is said, as in most containers, it is UTF-8.
Charset charset_for(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang);

struct Cluster {
    std::size_t size = 0;     // bytes of the text; 1 to about 130
    int width = 0;            // columns, of what is shown for it
    bool as_it_is = true;     // may be sent as it is; else see append_shown
    bool doubtful = false;    // terminals disagree about the width
};

// The first cluster of text, which is not empty. column: where it will stand, which a tab wants to know.
// Control characters (`^X`, `\x9b`), bytes that are not UTF-8 (U+FFFD), characters that turn the direction of
// what follows or hide in others (`<U+202E>`) and marks without a base are not sent as they are.
Cluster first_cluster(std::string_view text, int column = 0, Charset = Charset::utf8);

// What is shown for a cluster that may not be sent as it is.
void append_shown(std::string& out, std::string_view cluster, int column, Charset);

// The borders of the clusters around a border.
std::size_t next_border(std::string_view text, std::size_t at);
std::size_t previous_border(std::string_view text, std::size_t at);

// The columns of a text that begins at `column` and is not wrapped.
int width(std::string_view text, Charset = Charset::utf8, int column = 0);

// Where the rows of a text begin when it is wrapped at `columns`: offsets, the first is 0. A row has at least one
// cluster, and no more columns than there are unless a single cluster is wider.
std::vector<std::size_t> wrap(std::string_view text, int columns, Charset = Charset::utf8);

// The longest beginning of a text that fits.
std::string_view fitting(std::string_view text, int columns, Charset = Charset::utf8);

// The next column after `column` that a tab leads to.
constexpr int tab_stop(int column) { return (column / 8 + 1) * 8; }

std::string utf8proc_version_text();

}
