// Strict schemas: what OpenAI demands of a tool's parameters before it promises to keep to them.
// https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
#pragma once

#include "base/json.h"

#include <optional>

namespace ik::providers {

// Every object closed, every property required, optional ones made nullable, keywords that are not
// supported dropped. Nothing when the schema cannot be said so (free-form objects, references that
// lead elsewhere, no type at all): such a tool goes with strict:false as it is.
std::optional<Json> strict_schema(const Json& parameters);

}
