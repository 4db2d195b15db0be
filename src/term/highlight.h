// Highlight: the words of a program in the tones of what they are, line by line. One table row a language; what is
// marked is what a reader's eye looks for, not what a compiler would say.
#pragma once

#include "term/style.h"

namespace ik::term {

struct Language;

// By any of its names, whatever the case; none where it is not known.
const Language* language_named(std::string_view name);

class Highlighter {
public:
    explicit Highlighter(const Language* language = nullptr) : language_(language) {}

    // The bytes of the line, all of them, in order. Goes on where the line before ended: in a comment, in a string.
    Line line(std::string_view);

private:
    Line diff(std::string_view) const;
    std::size_t step(std::string_view line, std::size_t at, Line& out);
    std::size_t quoted(std::string_view line, std::size_t at, std::string_view quote, Line& out);

    const Language* language_;
    std::string_view until_;      // what ends the comment or string that we are in
    Ink inside_ = Ink::plain;
};

}
