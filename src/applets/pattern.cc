#include "applets/pattern.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

namespace ik {
namespace {

// What glibc's regcomp and regexec survive, in time, memory and stack.
constexpr std::size_t max_size = 256 << 10;
constexpr std::size_t max_depth = 1000;
constexpr double max_states = 20000;
constexpr double max_forks = 4000;   // what it needs grows with their square: 130 MB for so many
constexpr double max_loops = 1000;   // repetitions of repetitions; the time grows with their cube
constexpr double max_anchors = 16;   // one behind the other; each may double what is behind it

Error invalid(std::string_view why) { return {code::invalid_pattern, "Invalid pattern: " + std::string(why)}; }

struct Token {
    enum Kind { plain, escape, bracket, any, anchor, open, close, bar, repeat };
    Kind kind;
    std::string_view text;
};

// The length of the bracket expression at the start of text; all of it where it is not closed.
std::size_t bracket_size(std::string_view text)
{
    std::size_t at = 1;
    at += text.substr(at).starts_with('^');
    at += text.substr(at).starts_with(']');
    while (at < text.size() && text[at] != ']') {
        char kind = text[at] == '[' && at + 1 < text.size() ? text[at + 1] : ' ';
        if (!std::strchr(":.=", kind)) {
            ++at;
            continue;
        }
        const char end[] = {kind, ']'};
        auto closed = text.find(std::string_view(end, 2), at + 2);
        at = closed == text.npos ? text.size() : closed + 2;
    }
    return std::min(at + 1, text.size());
}

Token take_token(std::string_view& pattern)
{
    auto take = [&](Token::Kind kind, std::size_t size) {
        auto text = pattern.substr(0, size);
        pattern.remove_prefix(text.size());
        return Token{kind, text};
    };
    switch (pattern[0]) {
    case '\\': return take(Token::escape, 2);
    case '[': return take(Token::bracket, bracket_size(pattern));
    case '.': return take(Token::any, 1);
    case '^': case '$': return take(Token::anchor, 1);
    case '(': return take(Token::open, 1);
    case ')': return take(Token::close, 1);
    case '|': return take(Token::bar, 1);
    case '*': case '+': case '?': return take(Token::repeat, 1);
    case '{': return take(Token::repeat, std::min(pattern.find('}'), pattern.size() - 1) + 1);
    default: return take(Token::plain, 1);
    }
}


// How often: at least and at most; what is no interval may be anything.
struct Times { double least, most; bool open; };

Times times(std::string_view token)
{
    if (token == "*") return {0, 0, true};
    if (token == "+") return {1, 1, true};
    if (token == "?") return {0, 1, false};
    std::string numbers(token.substr(1));
    char* end = nullptr;
    double least = static_cast<double>(std::strtoul(numbers.c_str(), &end, 10));
    if (*end != ',')
        return {least, least, false};
    char* start = end + 1;
    double most = static_cast<double>(std::strtoul(start, &end, 10));
    return {least, end == start ? least : most, end == start};
}

// A stretch that can be passed without a byte.
struct Stretch {
    double anchors = 0, forks = 0;

    Stretch operator+(const Stretch& next) const { return {anchors + next.anchors, forks + next.forks}; }
    double weight() const { return anchors > max_anchors ? max_forks + 1 : std::max(1.0, anchors) * forks; }
};

// What regcomp will make of a part of a pattern.
struct Measure {
    double states = 0;
    double forks = 0;           // places where more than one way leads on without a byte
    bool may_be_empty = true;
    bool refers = false;        // it holds a back-reference
    Stretch front = {}, back = {};
    double weight = 0;          // of its heaviest stretch
    double loops = 0;           // repetitions within repetitions

    void then(const Measure& next)
    {
        weight = std::max({weight, next.weight, (back + next.front).weight()});
        front = may_be_empty ? front + next.front : front;
        back = next.may_be_empty ? back + next.back : next.back;
        add(next);
        may_be_empty &= next.may_be_empty;
    }
    void otherwise(const Measure& other)
    {
        auto either = [](const Stretch& a, const Stretch& b) { return Stretch{std::max(a.anchors, b.anchors), a.forks + b.forks + 1}; };
        front = either(front, other.front);
        back = either(back, other.back);
        weight = std::max({weight, other.weight, front.weight(), back.weight()});
        add(other);
        may_be_empty |= other.may_be_empty;
        states += 1;
        forks += 1;
    }
    void repeat(const Times& n)
    {
        double copies = std::max(1.0, n.most + n.open), choices = n.most - n.least + n.open;
        if (copies > 1 || n.open)
            weight = std::max(weight, (back + front).weight());
        bool whole = may_be_empty || n.least == 0;
        auto all = [&](Stretch& one) { one = whole ? Stretch{one.anchors * copies, one.forks * copies + choices} : one; };
        all(front);
        all(back);
        weight = std::max({weight, front.weight(), back.weight()});
        states = states * copies + choices;
        forks = forks * copies + choices;
        loops += n.open;
        may_be_empty = whole;
    }

private:
    void add(const Measure& other)
    {
        states += other.states;
        forks += other.forks;
        refers |= other.refers;
        loops = std::max(loops, other.loops);
    }
};

Measure byte() { return {.states = 1, .may_be_empty = false}; }
Measure nothing() { return {.states = 1, .forks = 1, .front = {0, 1}, .back = {0, 1}}; }
Measure anchor() { return {.states = 1, .forks = 1, .front = {1, 1}, .back = {1, 1}}; }

// Measures a pattern without taking any memory but for the open groups.
class Survey {
public:
    Status pattern(std::string_view);

private:
    struct Group {
        Measure before, branch, atom;   // the alternatives that are complete, what is complete of the last, its last part
        bool alternatives = false;
        std::size_t number = 0;
    };

    void atom(const Measure&);
    void end_branch();
    void close();
    Status repeat(std::string_view token);
    Measure escape(char) const;

    std::vector<Group> open_{1};
    std::vector<bool> group_may_be_empty_;
    bool expands_ = false;
};

void Survey::atom(const Measure& next)
{
    auto& group = open_.back();
    group.branch.then(std::exchange(group.atom, next));
}

void Survey::end_branch()
{
    auto& group = open_.back();
    atom({});
    if (group.branch.states == 0)
        group.branch = nothing();
    if (std::exchange(group.alternatives, true))
        group.before.otherwise(group.branch);
    else
        group.before = group.branch;
    group.branch = {};
}

void Survey::close()
{
    if (open_.size() == 1)
        return atom(byte());   // a parenthesis like other bytes
    end_branch();
    auto whole = open_.back().before;
    group_may_be_empty_[open_.back().number] = whole.may_be_empty;
    open_.pop_back();
    atom(whole);
}

Status Survey::repeat(std::string_view token)
{
    auto& last = open_.back().atom;
    auto n = times(token);
    // glibc's regexec follows such a reference for ever (CVE-2018-20796).
    if (n.open && last.refers && last.may_be_empty && last.states > 1)
        return invalid("a repeated group that may be empty must not hold a back-reference");
    expands_ |= n.most + n.open > 1;
    last.repeat(n);
    return Done{};
}

Measure Survey::escape(char c) const
{
    if (c >= '1' && c <= '9') {
        auto number = static_cast<std::size_t>(c - '1');
        bool empty = number >= group_may_be_empty_.size() || group_may_be_empty_[number];
        auto out = empty ? nothing() : byte();
        out.refers = true;
        return out;
    }
    return std::strchr("bB<>`'", c) ? anchor() : byte();
}

Status Survey::pattern(std::string_view pattern)
{
    if (pattern.size() > max_size)
        return invalid("it is longer than 256 KB");
    while (!pattern.empty()) {
        auto token = take_token(pattern);
        switch (token.kind) {
        case Token::open:
            if (open_.size() > max_depth)
                return invalid("groups are nested more than 1,000 deep");
            open_.emplace_back().number = group_may_be_empty_.size();
            group_may_be_empty_.push_back(true);
            break;
        case Token::repeat:
            if (auto done = repeat(token.text); !done)
                return done;
            break;
        case Token::close: close(); break;
        case Token::bar: end_branch(); break;
        case Token::anchor: atom(anchor()); break;
        case Token::escape: atom(escape(token.text.back())); break;
        default: atom(byte());
        }
    }
    while (open_.size() > 1)
        close();
    end_branch();
    auto& whole = open_.back().before;
    if (whole.forks > max_forks || whole.weight > max_forks || whole.loops > max_loops)
        return invalid("it has too many alternatives, repetitions or anchors");
    if (expands_ && whole.states > max_states)
        return invalid("its repetitions expand to more than 20,000 states");
    return Done{};
}

// The byte that a token stands for, where it stands for one alone.
std::optional<char> byte_of(const Token& token)
{
    if (token.kind == Token::plain)
        return token.text[0];
    bool sign = token.kind == Token::escape && token.text.size() == 2 && std::strchr("\\^$.[]|()*+?{}/-\"#%&,:;=@!~", token.text[1]);
    return sign ? std::optional(token.text[1]) : std::nullopt;
}

struct PlainText {
    std::string longest, run;
    bool ended = false;   // the run goes no further, but its last byte may still prove to be optional

    void end_run()
    {
        if (run.size() > longest.size())
            longest = run;
        run.clear();
        ended = false;
    }
};

}

std::string with_digit_classes(std::string_view pattern)
{
    std::string out;
    while (!pattern.empty()) {
        auto token = take_token(pattern);
        out += token.text == "\\d" ? "[0-9]" : token.text == "\\D" ? "[^0-9]" : token.text;
    }
    return out;
}

Status survivable(std::string_view pattern) { return Survey().pattern(pattern); }

std::string plain_text(std::string_view pattern)
{
    PlainText text;
    std::size_t depth = 0;
    while (!pattern.empty()) {
        auto token = take_token(pattern);
        if (token.kind == Token::bar && depth == 0)
            return "";
        if (token.kind == Token::close)
            depth -= depth > 0;
        if (token.kind == Token::repeat) {
            if (depth == 0 && !text.run.empty() && !(times(token.text).least > 0))
                text.run.pop_back();
            text.ended = true;
            continue;
        }
        auto byte = depth == 0 ? byte_of(token) : std::nullopt;
        if (text.ended || !byte)
            text.end_run();
        if (byte)
            text.run += *byte;
        if (token.kind == Token::open)
            ++depth;
    }
    text.end_run();
    return text.longest;
}

bool is_plain(std::string_view pattern)
{
    return !pattern.empty() && pattern.find_first_of("\\^$.[|()*+?{") == pattern.npos;
}

}
