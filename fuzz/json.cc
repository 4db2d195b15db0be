// Any bytes as JSON, as JSON of people, and as text in a JSON string.
#include "fuzz/fuzz.h"

#include "base/json.h"
#include "base/text.h"

namespace ik::fuzz {

void json(std::string_view bytes)
{
    auto value = parse_json(bytes);
    if (value) {
        auto text = value->dump();
        auto again = parse_json(text);
        claim(again.operator bool(), "what was written can be read");
        claim(again->dump() == text, "and is written the same again");
        claim(valid_utf8(text) && text.find('\n') == text.npos, "it is one line of UTF-8");
        claim(parse_written(bytes).operator bool(), "JSON is also JSON of people");
    }
    parse_written(bytes).operator bool();

    std::string escaped = "\"";
    append_escaped(escaped, bytes);
    auto text = parse_json(escaped + "\"");
    claim(text && text->as<std::string>(), "escaped bytes are a string");
    claim(*text->as<std::string>() == clean_utf8(bytes), "and are the bytes as UTF-8");
    claim(incomplete_tail(bytes) <= 3 && verbatim_prefix(bytes) <= bytes.size(), "parts are within");
}

}
