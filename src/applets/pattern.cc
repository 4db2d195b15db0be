#include "applets/pattern.h"

#include "applets/pattern_token.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace ik {
namespace {

// What glibc's regcomp and regexec survive, in time, memory and stack.
constexpr std::size_t max_size = 256 << 10;
constexpr std::size_t max_depth = 1000;
constexpr double max_states = 20000;
constexpr double max_forks = 4000;   // what it needs grows with their square: 130 MB for so many
constexpr double max_loops = 1000;   // repetitions of repetitions; the time grows with their cube
constexpr double max_anchored_loops = 20;   // the same where there is an anchor: there with their fifth power,
constexpr double max_loops_by_anchors = 60; // and more where anchors stand one behind the other
constexpr double max_anchors = 16;   // one behind the other; each may double what is behind it

Error invalid(std::string_view why) { return {code::invalid_pattern, "Invalid pattern: " + std::string(why)}; }

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
    double anchors = 0;         // the most that can be passed without a byte

    void then(const Measure& next)
    {
        weight = std::max({weight, next.weight, (back + next.front).weight()});
        anchors = std::max(anchors, (back + next.front).anchors);
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
        anchors = std::max({anchors, front.anchors, back.anchors});
        may_be_empty = whole;
    }

private:
    void add(const Measure& other)
    {
        states += other.states;
        forks += other.forks;
        refers |= other.refers;
        loops = std::max(loops, other.loops);
        anchors = std::max(anchors, other.anchors);
    }
};

Measure byte() { return {.states = 1, .may_be_empty = false}; }
Measure nothing() { return {.states = 1, .forks = 1, .front = {0, 1}, .back = {0, 1}}; }
Measure anchor() { return {.states = 1, .forks = 1, .front = {1, 1}, .back = {1, 1}, .anchors = 1}; }

// Loops and anchors together cost what neither does alone.
bool anchored_loops(const Measure& m)
{
    return m.anchors > 0 && (m.loops > max_anchored_loops || m.loops * m.anchors > max_loops_by_anchors);
}

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
    if (whole.forks > max_forks || whole.weight > max_forks || whole.loops > max_loops || anchored_loops(whole))
        return invalid("it has too many alternatives, repetitions or anchors");
    if (expands_ && whole.states > max_states)
        return invalid("its repetitions expand to more than 20,000 states");
    return Done{};
}

}

std::string for_regcomp(std::string_view pattern)
{
    std::string out;
    char stars = 0;   // the repetition that out ends with
    while (!pattern.empty()) {
        auto token = take_token(pattern);
        char repeat = token.kind == Token::repeat && token.text.size() == 1 ? token.text[0] : '\0';
        if (repeat && stars)
            out.back() = repeat == stars ? stars : '*';
        else
            out += token.text == "\\d" ? "[0-9]" : token.text == "\\D" ? "[^0-9]" : token.text;
        stars = repeat ? out.back() : '\0';
    }
    return out;
}

Status survivable(std::string_view pattern) { return Survey().pattern(pattern); }

bool is_plain(std::string_view pattern)
{
    return !pattern.empty() && pattern.find_first_of("\\^$.[|()*+?{") == pattern.npos;
}

}
