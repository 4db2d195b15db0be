// Markdown as it streams: text of a model comes in pieces, lines for a reader come out. What is final never changes; the block
// that is still being written is live. The only door to the Markdown parser. Knows no terminal: a line is as long as it is.
#pragma once

#include "term/highlight.h"
#include "term/width.h"

#include <utility>

namespace ik::term {

class Markdown {
public:
    struct Options {
        int columns = 80;                  // that tables and rules fit into
        Charset charset = Charset::utf8;   // of box drawing; else it is done in ASCII
    };
    explicit Markdown(Options options) : options_(options) {}

    void feed(std::string_view text);
    void end();                          // of a text: all of it is final; another may begin
    std::vector<Line> take_final();
    std::vector<Line> live() const;      // of what is not final
    void resize(int columns) { options_.columns = columns; }

private:
    struct Fence { char mark = 0; std::size_t size = 0, indent = 0; };

    void settle(bool ended);
    bool take_code(bool ended);
    bool take_blocks(bool ended);
    void finish(std::vector<Line> block);

    Options options_;
    std::string pending_;                // the source of what is not final
    bool parsed_ = true;                 // it has been looked at
    Fence fence_;                        // of the code that we are in
    Highlighter code_;
    std::vector<Line> final_;
    bool something_before_ = false, blank_before_ = true;
};

std::string cmark_version_text();

}
