// Say: the words of a subcommand: its answer on standard output, one sentence on standard error.
#pragma once

#include <string>
#include <string_view>

namespace ik {

// "ikigai: SENTENCE", without what could drive a terminal. Returns status.
int fail(std::string_view sentence, int status);

void warn(std::string_view sentence);

// 0, or 1 and a sentence where standard output takes no more.
int print(std::string_view text);

}
