// Family: the processes below this one, as /proc shows them, and ways to end them. Knows nothing of who started them, or why.
#pragma once

#include "base/function_ref.h"

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace ik {

struct Relative {
    pid_t id = 0, parent = 0, group = 0, session = 0;
    char state = 0;                   // as ps says it
    unsigned long long started = 0;   // in clock ticks since the machine started

    friend bool operator==(const Relative& a, const Relative& b) { return a.id == b.id && a.started == b.started; }
};

// Whether /proc is there and of our own PID namespace: another one's numbers would be those of strangers. Where it is not,
// there are no descendants to be seen.
bool sees_processes();

// The processes below that one, parents before their children. The dead, whom nobody has taken leave of, only if asked for.
std::vector<Relative> descendants(pid_t of = getpid(), bool with_dead = false);

// Whether it still is the same process, and lives.
bool lives(const Relative&);

std::chrono::milliseconds age(const Relative&);

// Its words with blanks between them, at most 4096 bytes; its name where it has no words.
std::string command_line(pid_t);

// A variable of the environment that it was started with. Empty where there is none, or it may not be read.
std::string variable_of(pid_t, std::string_view name);

// Ends descendants: stops them in rounds until no new one comes up, then kills them, until none is left. choose
// takes those that are to live from the list. At most limit; whether none is left. Waits; for what cannot be
// ended in any gentler way.
using Choice = FunctionRef<void(std::vector<Relative>&)>;
bool kill_in_rounds(Choice choose, std::chrono::milliseconds limit);

// How many threads there are on the machine; 0 where that cannot be known.
long threads_of_machine();

// Takes leave of processes that have ended and came to us because their parents had ended before: all but our own.
void reap_strangers(const std::vector<pid_t>& own);

}
