// Rule: TOOL or TOOL(pattern), and what it covers. Knows nothing of the order in which rules are asked.
#pragma once

#include "agent/shell_split.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ik {

struct Rule {
    enum class Kind { all, prefix, exact, path, domain };
    std::string text;                 // as it is written
    std::string tool;                 // a name, or *
    Kind kind = Kind::all;
    std::string pattern = {};
    std::vector<std::string> words = {};   // of prefix; of exact where it is one plain command
};

// Error: INVALID_ARG, "TEXT: why it is no rule".
Result<Rule> parse_rule(std::string_view text);

bool names_tool(const Rule&, std::string_view tool);

// Whether the line surely does what rule says, surely does not, or cannot be seen to: for rules that deny or ask.
enum class Match { no, maybe, yes };
Match touches(const Rule&, std::string_view line, const ShellSplit&);

// Why these rules do not cover every part of the line; empty when they do. folder: where it would run.
std::string uncovered(const std::vector<Rule>&, std::string_view line, const ShellSplit&, std::string_view folder);

// pattern as a path with * and ? within a name, ** for any number of names; path without . and .., both absolute or
// both not. hidden: wildcards cover names that begin with a dot too.
bool path_matches(std::string_view pattern, std::string_view path, bool hidden);

// path seen from folder, without . and ..: relative where it is below folder, otherwise absolute.
std::string path_from(std::string_view folder, std::string_view path);

// Whether host is domain or below it.
bool in_domain(std::string_view host, std::string_view domain);

}
