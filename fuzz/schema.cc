// What a tool printed as its schema; then what a model said as arguments for it.
#include "fuzz/fuzz.h"

#include "agent/registry.h"
#include "host.h"
#include "llm/strict.h"

namespace ik::fuzz {

void schema(std::string_view bytes)
{
    auto printed = parse_json(take(bytes));
    if (!printed)
        return;
    auto standard = standard_schema(*printed);
    if (!standard)
        return;
    auto* parameters = standard->find("parameters");
    claim(parameters && parameters->text("type") == "object", "a standard schema has parameters that are an object");
    claim(standard_schema(*standard).operator bool(), "a standard schema is one");
    providers::strict_schema(*parameters);
    auto arguments = parse_json(take(bytes));
    Tool tool{.name = "t", .path = "", .origin = "", .argv = {}, .schema = *standard};
    fitting_arguments(tool, arguments ? *arguments : Json()).operator bool();
}

}
