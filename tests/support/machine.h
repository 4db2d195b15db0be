// A machine to run examples on: a root folder with this machine's /usr, and everything else new. Mounts are those of a
// namespace of the process that is started; it needs root.
#pragma once

#include "support/world.h"

#include <functional>

namespace ik::test {

class Machine {
public:
    Machine();
    void write(const std::string& path, std::string_view content, int mode = 0644) const { folder_.write(inside(path), content, mode); }
    std::string read(const std::string& path) const { return folder_.read(inside(path)); }
    bool exists(const std::string& path) const { return folder_.exists(inside(path)); }
    void install(const std::string& program, const std::string& path) const;   // a copy
    const std::string& root() const { return folder_.path; }

private:
    static std::string inside(const std::string& path);   // what is in /usr/local is in local/
    Folder folder_;
};

// A program on the machine, as root, or as that user with nothing else taken from it.
Ran run_on(const Machine&, const std::vector<std::string>& argv, const std::vector<std::string>& env, unsigned user = 0, const std::string& folder = "/");

// The same in any folder that is to be all there is, as in a container: with /dev and /proc.
Ran run_in(const std::string& root, const std::vector<std::string>& argv, const std::vector<std::string>& env, unsigned user, const std::string& folder);

// The same after these steps, which are done within the root, by the process that becomes the program.
struct Means { std::vector<std::string> argv, env; std::string folder = "/"; };
Ran run_after(const std::string& root, const Means&, const std::function<void()>& steps);

// Steps. One that fails ends the process with status 97 and says which.
namespace step {
void must(bool done, const std::string& what);
void bind_mount(const std::string& from, const std::string& to, bool below = true);
void temporary(const std::string& at, const char* mode);
void read_only(const std::string& path, bool below = true);
void become(unsigned user);
}

// Why nothing of this can be done here; empty where it can.
std::string no_machine();

}
