// owner: who can change what a path leads to. Reads modes, /etc/passwd and /etc/group; never asks a name service.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>

namespace ik {

// Why somebody else than root and we could change what is at path, or put something else in its place:
// "/x/y is writable by others", "/x belongs to bob (1001)". Nothing where nobody can.
//
// Every step of the way is looked at: each folder from / on, each link and where it leads. Writable by a group
// counts, unless the group is root's or has nobody but us in it. A sticky folder such as /tmp may be writable
// where it stands above what is ours, since others can rename and remove only their own there; as the last of
// the path it may not, since they can add to it. A path that cannot be followed is not ours.
std::optional<std::string> not_ours(const std::string& path);

// The same of one file or folder alone, without what is above it.
std::optional<std::string> not_ours(const std::string& path, const struct stat&);

// Whether path is there and belongs neither to root nor to us.
bool of_another_user(const std::string& path);

}
