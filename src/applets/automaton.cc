#include "applets/automaton.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ik {
namespace {

constexpr std::size_t max_steps = 2000, max_memory = 1 << 20;

// What a move can say beside a state. The largest are no states.
constexpr std::uint32_t unknown = 0xFFFFFFFF, matched = 0xFFFFFFFE, hopeless = 0xFFFFFFFD, special = hopeless;

}

std::optional<Automaton> Automaton::build(const PatternTree& tree)
{
    Automaton out;
    out.sets_ = tree.sets;
    auto any = ~ByteSet();
    any['\n'] = false;
    out.sets_.push_back(any);
    if (out.sets_.size() > 1000)
        return {};
    out.start_ = out.emit(tree, tree.root, out.put({Step::match}));
    if (out.too_large_)
        return {};
    out.sort_bytes();
    out.seen_.resize(out.steps_.size());
    out.restart();
    return out;
}

std::uint16_t Automaton::put(Step step)
{
    too_large_ |= steps_.size() >= max_steps;
    if (!too_large_)
        steps_.push_back(step);
    return static_cast<std::uint16_t>(steps_.size() - 1);
}

// From the end to the begin: each step knows what comes next.
std::uint16_t Automaton::emit(const PatternTree& tree, std::size_t index, std::uint16_t next)
{
    auto& node = tree.nodes[index];
    if (too_large_)
        return 0;
    switch (node.kind) {
    case PatternTree::set: return put({Step::set, next, 0, static_cast<std::uint16_t>(node.set)});
    case PatternTree::line_begin: return put({Step::line_begin, next});
    case PatternTree::line_end: return put({Step::line_end, next});
    case PatternTree::repeat: return emit_repeat(tree, node, next);
    case PatternTree::sequence:
        for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part)
            next = emit(tree, *part, next);
        return next;
    case PatternTree::choice: {
        auto out = emit(tree, node.parts.back(), next);
        for (auto part = node.parts.rbegin() + 1; part != node.parts.rend(); ++part)
            out = put({Step::fork, emit(tree, *part, next), out});
        return out;
    }
    case PatternTree::anything: {
        auto loop = put({Step::fork, 0, next});
        auto body = put({Step::set, loop, 0, static_cast<std::uint16_t>(sets_.size() - 1)});
        steps_[loop].next = body;
        return loop;
    }
    }
    return next;
}

std::uint16_t Automaton::emit_repeat(const PatternTree& tree, const PatternTree::Node& node, std::uint16_t next)
{
    auto part = node.parts[0];
    if (node.most < 0) {
        auto loop = put({Step::fork, 0, next});
        auto body = emit(tree, part, loop);
        steps_[loop].next = body;
        next = loop;
    }
    auto end = next;
    for (int i = node.least; i < node.most && !too_large_; ++i)
        next = put({Step::fork, emit(tree, part, next), end});
    for (int i = 0; i < node.least && !too_large_; ++i)
        next = emit(tree, part, next);
    return next;
}

void Automaton::sort_bytes()
{
    ByteSet newline;
    newline['\n'] = true;
    auto sets = sets_;
    sets.push_back(newline);
    for (auto& set : sets) {
        std::map<std::pair<unsigned, bool>, std::uint8_t> classes;
        for (std::size_t i = 0; i < 256; ++i)
            class_of_[i] = classes.try_emplace({class_of_[i], set[i]}, static_cast<std::uint8_t>(classes.size())).first->second;
    }
    sample_.resize(*std::ranges::max_element(class_of_) + 1u);
    for (std::size_t i = 0; i < 256; ++i)
        sample_[class_of_[i]] = static_cast<std::uint8_t>(i);
}

void Automaton::restart()
{
    moves_.clear();
    states_.clear();
    known_.clear();
    memory_ = 0;
    Places begin;
    follow(begin, start_, true, false);
    std::ranges::fill(seen_, 0);
    first_ = state_of(std::move(begin));
}

// Adds what is reached from a step without a byte. seen_ must be cleared behind the last of several.
void Automaton::follow(Places& out, std::uint16_t from, bool at_begin, bool at_end)
{
    std::vector<std::uint16_t> open{from};
    while (!open.empty()) {
        auto at = open.back();
        open.pop_back();
        if (std::exchange(seen_[at], 1))
            continue;
        auto& step = steps_[at];
        if (step.kind == Step::fork)
            open.push_back(step.other);
        if (step.kind == Step::fork || (step.kind == Step::line_begin && at_begin) || (step.kind == Step::line_end && at_end))
            open.push_back(step.next);
        if (step.kind == Step::set || step.kind == Step::match || step.kind == Step::line_end)
            out.push_back(at);
    }
}

bool Automaton::matches(Places places, bool at_end)
{
    Places reached;
    if (at_end) {
        bool at_begin = !states_.empty() && places == states_[0];
        for (auto place : places)
            follow(reached, static_cast<std::uint16_t>(place), at_begin, true);
        std::ranges::fill(seen_, 0);
    } else {
        reached = std::move(places);
    }
    return std::ranges::any_of(reached, [&](auto place) { return steps_[place].kind == Step::match; });
}

Automaton::State Automaton::state_of(Places places)
{
    if (matches(places, false))
        return matched;
    std::ranges::sort(places);
    auto [found, is_new] = known_.try_emplace(std::move(places), static_cast<State>(moves_.size()));
    if (!is_new)
        return found->second;
    states_.push_back(found->first);
    moves_.resize(moves_.size() + sample_.size(), unknown);
    memory_ += sample_.size() * sizeof(State) + found->first.size() * 2 * sizeof(char16_t) + 100;
    return found->second;
}

// Where a byte leads. The rows of all states may be others afterwards.
Automaton::State Automaton::move(State state, std::uint8_t byte_class)
{
    auto& places = states_[state / sample_.size()];
    auto byte = sample_[byte_class];
    if (byte == '\n')
        return moves_[state + byte_class] = matches(places, true) ? matched : first_;
    Places next;
    for (auto place : places)
        if (auto& step = steps_[place]; step.kind == Step::set && sets_[step.set_index][byte])
            follow(next, step.next, false, false);
    follow(next, start_, false, false);   // a match may begin anywhere
    std::ranges::fill(seen_, 0);
    if (next.empty())
        return moves_[state + byte_class] = hopeless;
    if (memory_ > max_memory) {
        ++rebuilt_;
        restart();
        return exhausted() ? matched : state_of(std::move(next));
    }
    auto out = state_of(std::move(next));
    return moves_[state + byte_class] = out;
}

// Up to the place where a match is certain, with state `matched`, or to the end.
const char* Automaton::run(State& state, const char* at, const char* end)
{
    const auto* moves = moves_.data();
    while (at < end) {
        auto byte_class = class_of_[static_cast<unsigned char>(*at)];
        auto next = moves[state + byte_class];
        if (next == unknown) {
            next = move(state, byte_class);
            moves = moves_.data();
        }
        if (next == matched || next == hopeless) {
            state = next;
            if (next == matched)
                return at;
            at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
            if (!at)
                return end;
            next = first_;
        }
        state = next;
        ++at;
    }
    return end;
}

bool Automaton::ends_well(State state)
{
    return state == matched || (state != hopeless && move(state, class_of_['\n']) == matched);
}

std::size_t Automaton::find(std::string_view text)
{
    if (text.empty() || first_ == matched)
        return text.empty() ? text.npos : 0;
    auto state = first_;
    auto* at = run(state, text.data(), text.data() + text.size());
    if (state == matched || (text.back() != '\n' && ends_well(state)))
        return static_cast<std::size_t>(at - text.data());
    return text.npos;
}

bool Automaton::accepts(std::string_view line)
{
    auto state = first_;
    if (state != matched)
        run(state, line.data(), line.data() + line.size());
    return ends_well(state);
}

}
