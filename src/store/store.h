// store: `ikigai store`, the child that owns the database of sessions: lines in, lines out (ikigai-hacking.7).
// An event that has been answered with `stored` survives the death of every process of ours; the disk has it
// at the end of the turn, and a second after it was written at the latest.
#pragma once

#include <string>

namespace ik {

// argv[0] is "store". otherwise: the file without --file; empty when there is none.
int store(int argc, char** argv, const std::string& otherwise);

}
