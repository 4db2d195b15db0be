#include "applets/pattern_tree.h"

#include "applets/pattern_token.h"
#include "applets/posix_regex.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace ik {
namespace {

constexpr std::size_t max_nodes = 4000, max_brackets = 64;

// What a bracket, a dot or a class is, the judge says himself.
std::optional<ByteSet> bytes_that_match(std::string_view token)
{
    auto regex = Regex::compile(std::string(token));
    if (!regex)
        return {};
    ByteSet out;
    for (int i = 0; i < 256; ++i) {
        const char byte[] = {static_cast<char>(i), '\0'};   // the sanitizer's regexec looks for an end
        out[static_cast<std::size_t>(i)] = byte[0] != '\n' && regex->matches({byte, 1});
    }
    return out;
}

class Parser {
public:
    std::optional<PatternTree> parse(std::string_view);

private:
    struct Group { std::vector<std::size_t> branches, sequence; };

    bool take(const Token&);
    bool escape(const Token&);
    bool repeat(std::string_view token);
    void end_branch();
    std::size_t end_group();
    bool judged(std::string_view token);
    void byte(char);
    void put(PatternTree::Node node) { open_.back().sequence.push_back(add(std::move(node))); }
    std::size_t add(PatternTree::Node);
    std::size_t set_index(const ByteSet&);

    PatternTree tree_;
    std::vector<Group> open_{1};
    std::map<std::string, std::size_t, std::less<>> known_;   // the sets of tokens
};

std::optional<PatternTree> Parser::parse(std::string_view pattern)
{
    while (!pattern.empty())
        if (!take(take_token(pattern)) || tree_.nodes.size() > max_nodes)
            return {};
    if (open_.size() > 1)
        return {};
    tree_.root = end_group();
    return std::move(tree_);
}

bool Parser::take(const Token& token)
{
    switch (token.kind) {
    case Token::plain: byte(token.text[0]); return true;
    case Token::escape: return escape(token);
    case Token::bracket: case Token::any: return judged(token.text);
    case Token::repeat: return repeat(token.text);
    case Token::bar: end_branch(); return true;
    case Token::open: open_.emplace_back(); return true;
    case Token::anchor:
        tree_.places = true;
        put({token.text == "^" ? PatternTree::line_begin : PatternTree::line_end, 0, 0, 0, {}});
        return true;
    case Token::close:
        if (open_.size() == 1) {
            byte(')');   // a byte like others
            return true;
        }
        auto group = end_group();
        open_.pop_back();
        open_.back().sequence.push_back(group);
        return true;
    }
    return false;
}

bool Parser::escape(const Token& token)
{
    if (token.text.size() != 2)
        return false;
    char c = token.text[1];
    if (std::strchr("wWsS", c))
        return judged(token.text);
    bool refers = c >= '1' && c <= '9', begin = c == '`', end = c == '\'';
    if (!refers && !begin && !end && !std::strchr("bB<>", c)) {
        byte(c);
        return true;
    }
    tree_.places = true;
    put({refers ? PatternTree::anything : begin ? PatternTree::line_begin : end ? PatternTree::line_end : PatternTree::sequence, 0, 0, 0, {}});
    return true;
}

bool Parser::repeat(std::string_view token)
{
    auto& sequence = open_.back().sequence;
    auto n = times(token);
    if (sequence.empty() || n.least > 1e6 || n.most > 1e6)
        return false;
    auto part = sequence.back();
    sequence.back() = add({PatternTree::repeat, 0, static_cast<int>(n.least), n.open ? -1 : static_cast<int>(n.most), {part}});
    return true;
}

void Parser::end_branch()
{
    auto& group = open_.back();
    group.branches.push_back(add({PatternTree::sequence, 0, 0, 0, std::exchange(group.sequence, {})}));
}

std::size_t Parser::end_group()
{
    end_branch();
    auto& branches = open_.back().branches;
    return branches.size() == 1 ? branches[0] : add({PatternTree::choice, 0, 0, 0, std::move(branches)});
}

bool Parser::judged(std::string_view token)
{
    auto found = known_.find(token);
    if (found == known_.end()) {
        auto bytes = known_.size() < max_brackets ? bytes_that_match(token) : std::nullopt;
        if (!bytes)
            return false;
        found = known_.emplace(token, set_index(*bytes)).first;
    }
    put({PatternTree::set, found->second, 0, 0, {}});
    return true;
}

void Parser::byte(char c)
{
    ByteSet one;
    one[static_cast<unsigned char>(c)] = c != '\n';
    put({PatternTree::set, set_index(one), 0, 0, {}});
}

std::size_t Parser::add(PatternTree::Node node)
{
    tree_.nodes.push_back(std::move(node));
    return tree_.nodes.size() - 1;
}

std::size_t Parser::set_index(const ByteSet& set)
{
    auto found = std::ranges::find(tree_.sets, set);
    if (found == tree_.sets.end())
        found = tree_.sets.insert(found, set);
    return static_cast<std::size_t>(found - tree_.sets.begin());
}

}

std::optional<PatternTree> take_apart(const std::string& expression)
{
    return Parser().parse(expression.c_str());   // up to a NUL, as regcomp
}

}
