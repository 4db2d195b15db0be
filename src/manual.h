// manual: `ikigai man` and `ikigai --licenses`: the pages in the binary, for machines without man.
#pragma once

#include <string>
#include <vector>

namespace ik {

// "ikigai", "tools", … and the built-in tools: what show_page takes, besides "ikigai-tools" and "ikigai-tools.7".
std::vector<std::string> page_names();

// On a terminal through $PAGER, else `less`, else `more`; as plain text where there is none of them or standard output is no terminal.
// Exit status: 0, 1 when it could not be shown, 2 when there is no such page.
int show_page(const std::string& name);

int show_licences();

}
