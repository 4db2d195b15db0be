// shell_split: a command line for /bin/sh taken apart as the shell would do it, into the commands that it would run.
// Runs nothing and expands nothing. What it cannot take apart for sure, or what sh, bash and busybox read
// differently, is "unclear": the caller must take it for anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ik {

struct ShellWord {
    std::string text;       // without its quotes; only what stands before the first expansion or wildcard, where !known
    bool known = true;      // text is the whole word
    bool splits = false;    // it may become several words, or none, of any text; a wildcard's words begin with text
    bool quoted = false;    // some of it
};

struct ShellAssignment {
    std::string name;
    ShellWord value;
};

struct ShellRedirection {
    std::string operation;   // < > >> >| <> <& >& << <<-
    std::string descriptor;  // the digit in front, or nothing
    ShellWord target;        // of a here-document: its delimiter
};

// A simple command; without words where only assignments or redirections are there (those of a group too).
struct ShellCommand {
    std::vector<ShellAssignment> assignments;   // `for NAME in` is one as well, with an unknown value
    std::vector<ShellWord> words;
    std::vector<ShellRedirection> redirections;
    bool loop = false;       // is the head of a `for`
};

struct ShellSplit {
    std::vector<ShellCommand> commands;   // in the order they begin; those in $( ) and backquotes before the one they stand in
    std::string unclear;                  // why the line cannot be taken apart; commands are those found until then
};

// Bounds: 64 KB, 2,000 commands, 40 levels of nesting; beyond them it is unclear.
ShellSplit split_shell(std::string_view line);

}
