// suggest: the answer to a shell that completes a command line: `ikigai completion --of WORD...`.
// Looks up the tools, sessions and pages that there are; what is expected where is completion's.
#pragma once

#include "completion.h"
#include "world.h"

namespace ik {

// A line for each word that fits: the word, a tab, what it is. Or one of the lines :files, :folders, :commands, where the
// shell knows better. Exit status: 0, 1 when it could not be written.
int suggest(const Expected&, const World&);

}
