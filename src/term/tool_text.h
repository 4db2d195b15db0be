// Tool text: what a program printed, as lines. Of its escape sequences the colours count (SGR, but nothing that blinks
// or hides), to the end of their line; everything else is text like any other, and shown.
#pragma once

#include "term/style.h"

namespace ik::term {

// The lines of bytes; what ends with a newline has no empty line behind it. base: what plain text looks like.
std::vector<Line> tool_lines(std::string_view bytes, Style base = {});

}
