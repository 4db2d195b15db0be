// A machine to run examples on, and a service of it run as systemd would run it: the options of a unit that confine a
// process, done by hand. Mounts are those of a namespace of the process that is started; it needs root.
#pragma once

#include "support/world.h"

#include <map>

namespace ik::test {

// A root folder: /usr is this machine's, all else is new. What is put into local/ is found in /usr/local.
class Machine {
public:
    Machine();
    void write(const std::string& path, std::string_view content, int mode = 0644) const { folder_.write(inside(path), content, mode); }
    std::string read(const std::string& path) const { return folder_.read(inside(path)); }
    bool exists(const std::string& path) const { return folder_.exists(inside(path)); }
    void install(const std::string& program, const std::string& path) const;   // a copy
    const std::string& root() const { return folder_.path; }

private:
    static std::string inside(const std::string& path);
    Folder folder_;
};

// The options of a unit's [Service], each with what stands behind every = of that name.
using Unit = std::map<std::string, std::vector<std::string>>;
Unit service_of(const std::vector<std::string>& lines);

// Every option of a unit that run_as_service() plays.
const std::vector<std::string>& played_options();

// The numbers of the system calls that SystemCallFilter= allows; empty where there is no systemd-analyze to ask.
std::vector<unsigned> allowed_calls(const Unit&);

// ExecStart on the machine. env: entries for EnvironmentFile. An error of the means is exit status 97.
Ran run_as_service(const Machine&, const Unit&, const std::vector<std::string>& env);

// A program on the machine, as root, or as that user with nothing else taken from it.
Ran run_on(const Machine&, const std::vector<std::string>& argv, const std::vector<std::string>& env, unsigned user = 0, const std::string& folder = "/");

// The same in any folder that is to be all there is, as in a container: with /dev and /proc.
Ran run_in(const std::string& root, const std::vector<std::string>& argv, const std::vector<std::string>& env, unsigned user, const std::string& folder);

// Why nothing of this can be done here; empty where it can.
std::string no_machine();

}
