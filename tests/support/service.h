// A service of a machine run as systemd would run it: the options of a unit that confine a process, done by hand.
#pragma once

#include "support/machine.h"

#include <map>

namespace ik::test {

// The options of a unit's [Service], each with what stands behind every = of that name.
using Unit = std::map<std::string, std::vector<std::string>>;
Unit service_of(const std::vector<std::string>& lines);

// Every option of a unit that run_as_service() plays.
const std::vector<std::string>& played_options();

// The numbers of the system calls that SystemCallFilter= allows; empty where there is no systemd-analyze to ask.
std::vector<unsigned> allowed_calls(const Unit&);

// ExecStart on the machine. env: entries for EnvironmentFile. An error of the means is exit status 97.
Ran run_as_service(const Machine&, const Unit&, const std::vector<std::string>& env);

}
