// Automaton: says quickly which lines an expression may match: all that it does, and where the PatternTree is wider
// a few more. Built state by state while it reads, in bounded memory.
#pragma once

#include "applets/pattern_tree.h"

#include <array>
#include <map>
#include <string_view>

namespace ik {

class Automaton {
public:
    // Nothing where the expression is too large.
    static std::optional<Automaton> build(const PatternTree&);

    // A place in the first line of text that may match, or its end; npos where there is none. Lines end with a
    // newline, or with the text.
    std::size_t find(std::string_view text);

    bool accepts(std::string_view line);   // a line without its newline

    // It would need more states than are worth it: what it says now is nothing.
    bool exhausted() const { return rebuilt_ > most_rebuilds; }

private:
    struct Step {
        enum Kind : std::uint8_t { set, fork, line_begin, line_end, match } kind;
        std::uint16_t next = 0, other = 0, set_index = 0;   // other: of a fork
    };
    using Places = std::u16string;   // the steps that are reached, ascending
    using State = std::uint32_t;     // its row in moves_

    static constexpr int most_rebuilds = 20;

    Automaton() = default;
    std::uint16_t emit(const PatternTree&, std::size_t node, std::uint16_t next);
    std::uint16_t emit_repeat(const PatternTree&, const PatternTree::Node&, std::uint16_t next);
    std::uint16_t put(Step);
    void sort_bytes();

    const char* run(State& state, const char* at, const char* end);
    bool ends_well(State);
    State move(State, std::uint8_t byte_class);
    State state_of(Places);
    void follow(Places& out, std::uint16_t step, bool at_begin, bool at_end);
    bool matches(Places, bool at_end);
    void restart();

    std::vector<Step> steps_;
    std::vector<ByteSet> sets_;
    std::uint16_t start_ = 0;
    bool too_large_ = false;

    std::array<std::uint8_t, 256> class_of_{};   // bytes that no set tells apart are one class
    std::vector<std::uint8_t> sample_;           // a byte of each class
    std::vector<std::uint8_t> seen_;             // by step, while they are followed

    std::vector<State> moves_;                   // from state + class
    std::vector<Places> states_;
    std::map<Places, State> known_;
    State first_ = 0;                            // at the begin of a line
    std::size_t memory_ = 0;
    int rebuilt_ = 0;
};

}
