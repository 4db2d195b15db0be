// Text without secrets, and a log as audit verify reads it.
#include "fuzz/fuzz.h"

#include "audit.h"
#include "redact.h"

#include <sstream>

namespace ik::fuzz {

void redact(std::string_view bytes)
{
    auto known = std::string(take(bytes));
    if (known.size() >= 8 && known.find("redacted") == known.npos)
        claim(redacted(bytes, {known}).find(known) == std::string::npos || redaction.find(known) != redaction.npos, "a known secret is gone");
    auto value = parse_json(bytes);
    auto entry = audited(value ? *value : Json(bytes), {});
    claim(entry.dump().size() <= 64 << 10, "arguments in the log are bounded");
    auto [line, head] = audit::sealed({{"arguments", entry}}, {});
    claim(audit::read_line(line).head == head && audit::read_line(line).what == audit::Line::entry, "an entry is one");
    std::istringstream log{std::string(bytes)};
    audit::verify(log).sentence();
    audit::last_entry(bytes);
}

}
