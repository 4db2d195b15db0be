// places: where things are on this machine. Names only; nothing is made or read here but
// the environment, /proc/self/exe, /etc/passwd, whether a folder is there and to whom it belongs.
#pragma once

#include <string>

namespace ik {

std::string variable(const char* name);   // of the environment; empty when unset

// $HOME, else the home in /etc/passwd, else empty. Never by the name service: a static
// program would have to load libraries for that. A $HOME (or a folder that a variable below names) which belongs
// to another user does not count: sudo may leave it as it was, and what lies in there would command us.
std::string home_folder();
std::string passwd_home();     // the one in /etc/passwd, whatever $HOME says

std::string state_folder();    // $XDG_STATE_HOME/ikigai or ~/.local/state/ikigai; empty without a home that is there
std::string config_folder();   // $XDG_CONFIG_HOME/ikigai or ~/.config/ikigai; the same
std::string temporary_folder();   // of $TMPDIR, /tmp, /var/tmp and /dev/shm the first that can be written; /tmp where none can

// This executable: /proc/self/exe, else argv[0] as a path or found in $PATH.
std::string own_path(const char* argv0);

std::string in_path(const std::string& name);   // the program of that name; name itself with a /, or where there is none

std::string current_folder();  // empty where it is removed
std::string host_name();
std::string user_name();       // $USER, else from /etc/passwd, else the number

}
