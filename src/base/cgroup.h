// Cgroup: control groups of our own, below or beside the one that we are in: what one call may use, whether it
// wanted more, and its end as a whole. Version 2 and version 1 of the kernel's interface, whichever has the
// controllers. Often there is none to be had: in a container /sys/fs/cgroup can usually not be written.
// Knows nothing of tools.
#pragma once

#include "base/fd.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ik {

struct CgroupLimits {
    std::uint64_t memory = 0;      // bytes; 0: none
    std::uint64_t processes = 0;   // and threads; 0: none

    friend bool operator==(const CgroupLimits&, const CgroupLimits&) = default;
};

// One group. It goes with this object, unless somebody still lives in it: see remove().
class Cgroup {
public:
    Cgroup() = default;
    Cgroup(Cgroup&&) noexcept = default;
    Cgroup& operator=(Cgroup&&) noexcept = default;
    ~Cgroup() { remove(); }

    // A process that writes "0" to each of them is in the group.
    std::vector<int> doors() const;

    bool limits_memory() const { return !memory_.empty(); }
    bool limits_processes() const { return !pids_.empty(); }
    bool memory_exceeded() const;      // the kernel has killed somebody for it
    bool processes_exceeded() const;   // one more was wanted
    bool tells() const { return tells_; }          // events() is urgent to poll(2) when that changes; version 1 does not tell
    const Fd& events() const { return events_; }

    std::vector<pid_t> members() const;

    // All but one, who may be nobody; until they are gone, a second at most. Nothing can be started in it after.
    void kill(pid_t except = 0);

    // Nobody lives in it, and nothing stays of those who did: it can serve once more.
    bool as_new() const;

    bool remove();   // false: somebody lives in it

private:
    friend class Cgroups;
    std::vector<std::string> folders_;
    std::vector<Fd> doors_;
    std::string memory_, pids_;   // the folders with these controllers
    Fd events_;
    bool tells_ = false, killed_ = false;
    CgroupLimits limits_;
};

// The place for them: a folder of the given name in each hierarchy, made when it is first needed. While there are
// groups in it, a process of its own waits for the end of this one, then for what it leaves to be ended as usual,
// and kills what still lives in them: also where this process and its supervisor were killed in one instant.
class Cgroups {
public:
    // root is put in front of /proc and /sys: for tests.
    explicit Cgroups(std::string name, std::string root = "") : name_(std::move(name)), root_(std::move(root)) {}
    Cgroups(const Cgroups&) = delete;
    ~Cgroups();

    // Nothing where no group can be made here. It may not hold every limit: ask it.
    std::optional<Cgroup> make(const std::string& name, const CgroupLimits&);

    // Takes a group that is as new, for the next who wants one with its limits. False: it is not, and stays where it is.
    bool take_back(Cgroup&);

    pid_t guard() const { return guard_; }   // the process that waits; 0: none

private:
    struct Hierarchy { std::string folder; bool v2 = false, memory = false, pids = false; };
    void look();
    void add(const std::string& place, Hierarchy);
    void start_guard();
    bool remove();

    std::string name_, root_;
    bool looked_ = false;
    std::vector<Hierarchy> hierarchies_;   // folder: our own in it
    std::vector<Cgroup> spare_;            // making one and removing it takes a tenth of a short call
    Fd life_;                              // closed when we end: the guard reads its other end
    pid_t guard_ = 0;
};

}
