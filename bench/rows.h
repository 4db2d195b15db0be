// Rows: what is measured. Each is something of ours beside a reference, and most have a goal.
#pragma once

#include "measure.h"

#include <optional>
#include <span>
#include <string_view>

namespace ik::bench {

// Where things are. All paths are absolute and without links.
struct Place {
    std::string bin, libexec;   // bin/ikigai, and the folder of its links
    std::string parts;          // the folder of the bench's own small programs
    std::string busybox, curl, ripgrep, fd;   // empty: not there
    std::string corpus;         // many source files; empty: not there
    std::string folder;         // a new one, and the current one
    std::string home;           // beside it: $HOME of everything that is run
};

struct Line {
    std::string row, ours, reference;
    std::optional<Cost> our_cost = {}, reference_cost = {};
    std::optional<Memory> our_memory = {};
    std::string figure, goal = "-";
    std::optional<bool> met = {};
};

struct Row {
    std::string_view name;
    std::vector<Line> (*measure)(const Place&);
};

std::span<const Row> all_rows();

std::vector<Line> decode_streams(const Place&);   // in decode.cc
std::vector<Line> pages_to_markdown(const Place&);   // in pages.cc
std::vector<Line> calls_of_the_host(const Place&, const Command& alone);   // in host.cc
std::vector<Line> grep_lines(const Place&);   // in search.cc
std::vector<Line> glob_lines(const Place&);
std::vector<Line> kept_conversations(const Place&);   // in kept.cc

}
