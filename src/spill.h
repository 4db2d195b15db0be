// spill: an envelope that is too long for the model. Its longest strings are cut in the middle and kept
// whole in files; the JSON stays whole.
#pragma once

#include "printed.h"

namespace ik {

// The envelope, encoded in at most max bytes: its longest strings are cut in the middle, with a line
// that says how much is missing and where it is. out: what the tool printed; of
// the files that it has, those stay that the envelope speaks of.
Json capped(Report report, Printed& out, std::size_t max = 51200);

}
