// transcript: a stored conversation for people: as it looked in the terminal, as Markdown, as a page that
// stands alone, and as lines that can be read in again.
#pragma once

#include "mouth.h"
#include "store/event.h"

#include <span>

namespace ik {

// Says it again as it looked.
void retell(Mouth&, std::span<const StoredEvent>);

std::string as_lines(std::span<const StoredEvent>);
std::string as_markdown(const SessionRow&, std::span<const StoredEvent>);
std::string as_html(const SessionRow&, std::span<const StoredEvent>);   // no script, nothing from elsewhere

}
