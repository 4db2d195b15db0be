// doctor: looks at everything that a conversation needs and says how it is, a line for each. Changes
// nothing and prints no key; every wait has its end.
#pragma once

#include "chat.h"
#include "settings.h"

namespace ik {

// Exit status: 0; 1 when a conversation would fail.
int doctor(const Settings&, bool json, const ProjectTrust&, const World&);

}
