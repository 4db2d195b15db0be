// supervise: the outer process. It starts the program inside, hands signals on, and when the
// program has ended in any way, ends every process that is left of it and puts the terminal back.
#pragma once

namespace ik {

// Splits this process in two. The inner one returns from here; the outer one never does: it
// ends with the inner one's status, or of the same signal.
void supervise();

// Ends every descendant of this process: SIGTERM, 2 s, then stops and kills them in rounds, until none is left
// that can be killed; 10 s at most. Needs /proc.
void end_descendants();

// For the inner process, before it ends: does the outer one's work where that was killed.
void end_what_is_left();

}
