// completion: what could come next in a command line of ikigai, and the scripts by which shells ask for that.
// Knows command lines only as an outline; of machines, tools and sessions nothing: it names what belongs there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ik {

// What a command line may be made of, as the parser has it.
struct Outline {
    struct Option {
        std::vector<std::string> names;   // "-p", "--print"
        std::string help;
        std::string takes;                // nothing for a flag; what a help text calls its value: "FILE", "POLICY:{workspace,off}"
    };
    struct Operand {
        std::string takes;
        bool many;                        // it and all that follow
    };
    std::string name, help;
    std::vector<Option> options;
    std::vector<Operand> operands;
    std::vector<Outline> commands;
};

struct Candidate {
    std::string word, help;
    friend bool operator==(const Candidate&, const Candidate&) = default;
};

// What belongs at the place of the last word.
struct Expected {
    std::vector<Candidate> words;         // those that are known, and begin as it does
    std::string takes;                    // else the name of what it is: "FILE", "ID"; empty where nothing can be said
    std::string prefix, typed;            // of the last word: what stays ("--sandbox="), what is to be completed
    std::vector<std::string> operands;    // those before it
};

// words: those behind `ikigai`, the last being typed (it may be empty). default_command: whose options may come without its name.
Expected expected(const Outline&, std::string_view default_command, std::span<const std::string> words);

std::vector<std::string> completion_shells();
std::string_view completion_script(std::string_view shell);   // empty for a shell that is not known

}
