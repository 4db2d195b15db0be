// A program and all that it starts, run under ptrace: its system calls are counted, one of them is made to fail,
// and the clock on the wall is made to jump. Only the calls that are asked for stop the program, so it runs about
// as fast as alone.
//
//     auto clean = trace({.program = {.argv = {tool("file-write")}, .input = arguments}, .count = true});
//     auto ran = trace({.program = …, .fault = Fault{"file-write", SYS_fsync, 1, EIO}});
//     CHECK(ran.injected); CHECK(ran.crashes.empty()); CHECK(ran.left.empty());
//
// Whose call it is, is told by a process' label: the program's name, for ikigai with its first word, and a ' for
// each fork since the last exec: "ikigai chat" is the outer process, "ikigai chat'" the inner one, "ikigai store".
// Calls count from main() on, and only those of ikigai's own executable.
#pragma once

#include "support/world.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ik::test {

struct Fault {
    enum Kind { error, cut_short, kill };
    std::string process;
    long call = 0;
    int nth = 1;              // 1 is the first call of its kind of all processes with the label
    int number = 0;           // what errno becomes
    Kind kind = error;

    std::string words() const;   // "file-write: fsync 1: EIO"
};

struct Trace {
    Run program;
    bool count = false;                          // every call stops, and is counted
    std::optional<Fault> fault = {};
    std::function<std::int64_t()> clock = {};    // how many seconds the wall's clock is off; the vdso is taken away for it
};

using CallCounts = std::map<std::pair<std::string, long>, int>;

struct Traced {
    Ran ran{};
    CallCounts calls;                    // by label and number
    bool injected = false;               // the fault's call was made
    std::vector<std::string> crashes;    // "ikigai llm: SIGSEGV"
    std::vector<std::string> left;       // what still ran 5 s after the program's end; it is killed
};
Traced trace(const Trace&);

bool can_trace();   // otherwise the test has to be skipped: another processor, or ptrace is not allowed

std::string call_name(long number);          // "fsync"
std::vector<Fault> faults_of(long number);   // what may become of such a call: kind and errno are set; none where it cannot fail

}
