// spoken: what the model says, as lines while it streams: Markdown behind a bullet; or, for a terminal whose cursor is
// never moved, its source line by line.
#pragma once

#include "term/markdown.h"

namespace ik {

class Spoken {
public:
    Spoken(term::Markdown::Options options, bool source) : markdown_(options), source_(source) {}

    void feed(std::string_view text);
    void end();                               // what comes next is another text
    bool running() const { return running_; }

    std::vector<term::Line> take_final();
    std::vector<term::Line> live() const;     // of what is not final
    void resize(int columns) { markdown_.resize(columns); }

private:
    std::vector<term::Line> marked(std::vector<term::Line>, bool& marked) const;

    term::Markdown markdown_;
    bool source_;
    std::string pending_;           // of the source: a line that is not whole
    std::vector<term::Line> lines_; // of the source: those that are
    bool running_ = false;
    bool alone_ = false;            // the bullet has a line of its own, so that a table stays straight
    bool marked_ = false;           // the bullet is said
};

}
