#include "agent/rule.h"

#include "agent/shell_risk.h"
#include "base/file.h"
#include "base/text.h"

#include <algorithm>
#include <span>

namespace ik {
namespace {

constexpr int deepest_look = 3;

bool is_tool_name(std::string_view text)
{
    return text == "*" || (!text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; }));
}

// The words of one plain command; nothing where the text is anything else.
std::vector<std::string> plain_words(std::string_view text)
{
    auto split = split_shell(text);
    if (!split.unclear.empty() || split.commands.size() != 1)
        return {};
    auto& command = split.commands[0];
    std::vector<std::string> out;
    if (!command.assignments.empty() || !command.redirections.empty())
        return {};
    for (auto& word : command.words) {
        if (!word.known)
            return {};
        out.push_back(word.text);
    }
    return out;
}

Status read_command_pattern(Rule& rule)
{
    std::string_view pattern = rule.pattern;
    bool prefix = pattern.ends_with(":*");
    if (pattern == "*" || pattern == ":*") {
        rule.kind = Rule::Kind::all;
        return Done{};
    }
    if (!prefix && pattern.ends_with(" *"))
        return Error{code::invalid_arg, rule.text + ": write " + rule.tool + "(" + std::string(pattern.substr(0, pattern.size() - 2)) + ":*) for a command with any arguments"};
    rule.kind = prefix ? Rule::Kind::prefix : Rule::Kind::exact;
    rule.words = plain_words(prefix ? pattern.substr(0, pattern.size() - 2) : pattern);
    if (prefix && rule.words.empty())
        return Error{code::invalid_arg, rule.text + ": in front of :* must be one plain command"};
    return Done{};
}

Status read_pattern(Rule& rule)
{
    if (rule.pattern.empty())
        return Error{code::invalid_arg, rule.text + ": nothing between the parentheses"};
    if (rule.tool == "bash")
        return read_command_pattern(rule);
    if (rule.tool == "file_read" || rule.tool == "file_write" || rule.tool == "file_edit") {
        rule.kind = Rule::Kind::path;
        auto names = split(rule.pattern, '/');
        if (std::ranges::count(names, ".."))
            return Error{code::invalid_arg, rule.text + ": a path of a rule has no .."};
        return Done{};
    }
    if (rule.tool == "web_fetch" && rule.pattern.starts_with("domain:") && rule.pattern.size() > 7) {
        rule.kind = Rule::Kind::domain;
        rule.pattern = lower(rule.pattern.substr(7));
        if (rule.pattern.find_first_of("/*@ ") != std::string::npos)
            return Error{code::invalid_arg, rule.text + ": a domain is a name as example.com"};
        return Done{};
    }
    if (rule.tool == "web_fetch")
        return Error{code::invalid_arg, rule.text + ": a pattern of web_fetch begins with domain:"};
    return Error{code::invalid_arg, rule.text + ": " + rule.tool + " takes no pattern"};
}

// The words behind the first, where options may stand in between, each with a value.
bool words_follow(std::span<const ShellWord> words, std::span<const std::string> wanted, bool& unknown)
{
    std::size_t at = 0;
    bool after_option = false;
    for (auto& want : wanted)
        for (;; ++at) {
            if (at == words.size())
                return false;
            if (!words[at].known) {
                unknown = true;
                return false;
            }
            if (words[at].text == want) {
                ++at;
                after_option = false;
                break;
            }
            bool option = words[at].text.starts_with('-');
            if (!option && !after_option)
                return false;
            after_option = option;
        }
    return true;
}

Match touches(const Rule&, std::string_view line, const ShellSplit&, int depth);

Match touches_at(const Rule& rule, std::span<const ShellWord> words)
{
    if (!words[0].known)
        return Match::maybe;
    if (base_name(words[0].text) != base_name(rule.words[0]))
        return Match::no;
    bool unknown = false;
    if (words_follow(words.subspan(1), std::span(rule.words).subspan(1), unknown))
        return Match::yes;
    return unknown ? Match::maybe : Match::no;
}

// The commands that stand in the words of another: every word may be the beginning of one, or hold a line.
Match touches_inside(const Rule& rule, const ShellCommand& command, int depth)
{
    auto worst = reads_commands(base_name(command.words[0].text)) ? Match::maybe : Match::no;
    std::string joined;
    for (std::size_t i = 1; i < command.words.size(); ++i) {
        worst = std::max(worst, touches_at(rule, std::span(command.words).subspan(i)));
        auto& text = command.words[i].text;
        joined += text + " ";
        if (depth < deepest_look && text.find_first_of(" \t\n;&|<>()$`\\'\"") != std::string::npos)
            worst = std::max(worst, touches(rule, text, split_shell(text), depth + 1));
    }
    if (depth < deepest_look && command.words[0].text == "eval")
        worst = std::max(worst, touches(rule, joined, split_shell(joined), depth + 1));
    return worst;
}

// Whether the words of a rule stand in a line that cannot be taken apart, as far as one can see.
bool stand_in(std::string_view line, const std::vector<std::string>& wanted)
{
    std::vector<std::string> words(1);
    for (char c : line)
        if (std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_./+-").find(c) != std::string_view::npos) words.back() += c;
        else if (c != '\'' && c != '"' && c != '\\' && !words.back().empty()) words.emplace_back();
    auto same = [](const std::string& a, const std::string& b) { return base_name(a) == base_name(b); };
    return std::ranges::search(words, wanted, same).begin() != words.end();
}

Match touches(const Rule& rule, std::string_view line, const ShellSplit& split, int depth)
{
    if (rule.kind == Rule::Kind::all || (rule.kind == Rule::Kind::exact && trim(line) == trim(rule.pattern)))
        return Match::yes;
    if (rule.words.empty())
        return split.unclear.empty() ? Match::no : Match::maybe;
    auto worst = split.unclear.empty() ? Match::no : stand_in(line, rule.words) ? Match::yes : Match::maybe;
    for (auto& command : split.commands) {
        if (command.words.empty() || command.loop)
            continue;
        worst = std::max(worst, touches_at(rule, command.words));
        auto name = base_name(command.words[0].text);
        if (command.words[0].known && (runs_others(name) || name == "find"))
            worst = std::max(worst, touches_inside(rule, command, depth));
    }
    return worst;
}

bool begins(const std::vector<ShellWord>& words, const std::vector<std::string>& wanted)
{
    return words.size() >= wanted.size() && std::ranges::equal(wanted, std::span(words).first(wanted.size()), {}, {}, [](auto& word) { return word.known ? word.text : "\n"; });
}

// `for` with a name that no program looks at.
std::string loop_risk(const ShellCommand& head)
{
    auto& name = head.assignments[0].name;
    bool plain = std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
    return plain ? "" : "it sets the variable " + name;
}

// cd within folder; what follows must not look at settings that lie in a folder.
std::string cd_risk(const ShellCommand& command, const ShellSplit& split, std::string_view folder)
{
    auto inside = command.words.size() == 2 && command.words[1].known && !command.words[1].text.empty() && command.words[1].text[0] != '-'
        && !path_from(folder, command.words[1].text).starts_with('/');
    auto calm = [](auto& other) { return other.words.empty() || other.loop || other.words[0].text == "cd" || harmless(other.words[0].text); };
    if (!inside || command.words[1].text.find("..") != std::string::npos)
        return "it leaves the folder";
    return std::ranges::all_of(split.commands, calm) ? "" : "a command in another folder may follow what it finds there";
}

std::string uncovered_command(const std::vector<Rule>& rules, const ShellCommand& command, const ShellSplit& split, std::string_view folder)
{
    for (auto& redirection : command.redirections)
        if (auto why = risk(redirection); !why.empty()) return why;
    if (command.loop)
        return loop_risk(command);
    if (!command.assignments.empty())
        return "it sets the variable " + command.assignments[0].name;
    if (command.words.empty())
        return "";
    auto& first = command.words[0];
    if (!first.known)
        return "the command's name is known only when it runs";
    if (changes_nothing(first.text))
        return "";
    std::string why = "no rule allows " + first.text;
    for (auto& rule : rules) {
        if (rule.words.empty() || !begins(command.words, rule.words))
            continue;
        bool whole = command.words.size() == rule.words.size();
        if (rule.kind == Rule::Kind::exact) {
            if (whole && !changes_shell(first.text)) return "";
            continue;
        }
        if (runs_others(first.text)) why = first.text + " runs other commands";
        else if (first.text == "cd") why = cd_risk(command, split, folder);
        else if (changes_shell(first.text)) why = first.text + " changes what follows";
        else why = risk(command, rule.words.size());
        if (why.empty())
            return "";
    }
    return why;
}

// The names of a pattern against those of a path, each pair looked at once.
bool names_match(std::span<const std::string_view> pattern, std::span<const std::string_view> path, bool hidden)
{
    auto name_matches = [&](std::string_view want, std::string_view name) {
        if (!hidden && name.starts_with('.') && !want.starts_with('.'))
            return false;
        std::size_t p = 0, n = 0, star = want.npos, from = 0;
        while (n < name.size())
            if (p < want.size() && want[p] == '*') star = p++, from = n;
            else if (p < want.size() && (want[p] == '?' || want[p] == name[n])) ++p, ++n;
            else if (star != want.npos) p = star + 1, n = ++from;
            else return false;
        return want.find_first_not_of('*', p) == want.npos;
    };
    std::vector<char> row(path.size() + 1, 0);
    row[0] = 1;   // row[i]: the pattern so far covers the first i names
    for (auto& want : pattern) {
        std::vector<char> next(path.size() + 1, 0);
        bool rest = want == "**";
        bool last = &want == &pattern.back();
        if (rest) next[0] = row[0] && !last;   // a/** is below a
        for (std::size_t i = 0; i < path.size(); ++i) {
            bool may = hidden || !path[i].starts_with('.');
            if (rest) next[i + 1] = static_cast<char>((may && (row[i] || next[i])) || (!last && row[i + 1]));
            else next[i + 1] = static_cast<char>(row[i] && name_matches(want, path[i]));
        }
        row = std::move(next);
    }
    return row.back();
}

}

Result<Rule> parse_rule(std::string_view written)
{
    auto text = trim(written);
    Rule rule{.text = std::string(text), .tool = replace(text.substr(0, text.find('(')), '-', '_')};
    if (!is_tool_name(rule.tool))
        return Error{code::invalid_arg, rule.text + ": a rule is TOOL or TOOL(pattern)"};
    if (text.find('(') == text.npos)
        return rule;
    if (!text.ends_with(')'))
        return Error{code::invalid_arg, rule.text + ": the closing parenthesis is missing"};
    rule.pattern = text.substr(rule.tool.size() + 1, text.size() - rule.tool.size() - 2);
    if (auto read = read_pattern(rule); !read)
        return read.error();
    return rule;
}

bool names_tool(const Rule& rule, std::string_view tool) { return rule.tool == "*" || rule.tool == tool; }

Match touches(const Rule& rule, std::string_view line, const ShellSplit& split) { return touches(rule, line, split, 0); }

std::string uncovered(const std::vector<Rule>& rules, std::string_view line, const ShellSplit& split, std::string_view folder)
{
    for (auto& rule : rules)
        if (rule.kind == Rule::Kind::all || (rule.kind == Rule::Kind::exact && trim(line) == trim(rule.pattern)))
            return "";
    if (!split.unclear.empty())
        return "the command cannot be taken apart: " + split.unclear;
    if (split.commands.empty())
        return "there is no command";
    for (auto& command : split.commands)
        if (auto why = uncovered_command(rules, command, split, folder); !why.empty())
            return why;
    return "";
}

bool path_matches(std::string_view pattern, std::string_view path, bool hidden)
{
    if (pattern.starts_with("./")) pattern.remove_prefix(2);
    if (pattern.starts_with('/') != path.starts_with('/') || path.empty() || path == "/")
        return false;
    auto want = split(pattern, '/'), names = split(path, '/');
    return names_match(want, names, hidden);
}

std::string path_from(std::string_view folder, std::string_view path)
{
    auto whole = path.starts_with('/') ? std::string(path) : std::string(folder) + "/" + std::string(path);
    std::vector<std::string_view> names;
    for (auto name : split(whole, '/'))
        if (name == "..") names.empty() ? void() : names.pop_back();
        else if (!name.empty() && name != ".") names.push_back(name);
    std::string out;
    for (auto name : names) out.append("/").append(name);
    auto below = std::string(folder == "/" ? "" : folder) + "/";
    return out.starts_with(below) ? out.substr(below.size()) : out.empty() ? "/" : out;
}

bool in_domain(std::string_view host, std::string_view domain)
{
    if (host.ends_with('.')) host.remove_suffix(1);
    if (domain.ends_with('.')) domain.remove_suffix(1);
    return !domain.empty() && (host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.'));
}

}
