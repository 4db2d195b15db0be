// Measure: what a command costs, and two commands run in turn. A machine is never quiet: figures
// of one moment are compared with figures of the same moment, pair by pair.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ik::bench {

struct Command {
    std::vector<std::string> argv;        // argv[0] with its path
    std::string input = "/dev/null";      // a file
    std::string output = "/dev/null";     // a file, written anew
    std::vector<std::string> env = {};    // all of it
    int status = 0;                       // its exit status; with another one there is no figure
};

struct Cost {
    double wall_ms = 0;
    double cpu_ms = 0;    // with those children that it waited for
};

struct Memory {
    double rss_mb = 0;    // the sum over processes, at its highest
    double pss_mb = 0;    // the same, with shared pages divided among those who share them
};

// Throws std::runtime_error when the command cannot be started or ends otherwise than it should.
Cost run(const Command&);

// What work in this process costs, and what it starts and waits for.
Cost cost_of(const std::function<void()>& work);

// The peak over the command and the processes below it, of those that run program (a path without links):
// not of the shells and tools around it. The highest of several times.
// It is looked at without pause, so the same run cannot be timed.
Memory memory_of(const Command&, const std::string& program, int times = 1);

struct Pairs {
    std::vector<Cost> ours, reference;

    Cost median_of_ours() const;
    Cost median_of_reference() const;
    double ratio() const;           // the median over the pairs, wall time
    double difference_ms() const;
};

// Both in turn, ours first; what is run before the first pair is not counted.
Pairs in_turn(int pairs, const std::function<Cost()>& ours, const std::function<Cost()>& reference);
Pairs in_turn(int pairs, const Command& ours, const Command& reference);

double median(std::vector<double>);

// This process and what it starts stay on so many processors: short runs are steadier on one.
class Processors {
public:
    explicit Processors(int count);
    Processors(const Processors&) = delete;
    ~Processors();

    static int allowed();   // how many there are

private:
    std::vector<unsigned char> before_;
};

}
