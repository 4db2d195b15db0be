#include "llm/strict.h"

#include <algorithm>

namespace ik::providers {
namespace {

constexpr std::string_view kept[] = {"type", "description", "enum", "const", "title"};
constexpr std::string_view refused[] = {"$ref", "allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas"};

bool names_type(const Json& schema, std::string_view type)
{
    auto* named = schema.find("type");
    if (!named) return false;
    if (auto* list = named->as<Json::Array>())
        return std::ranges::find(*list, Json(type)) != list->end();
    return *named == Json(type);
}

// null allowed beside what was allowed before
Json nullable(Json schema)
{
    if (names_type(schema, "null"))
        return schema;
    if (auto* any = schema.find("anyOf")) {
        any->as<Json::Array>()->push_back(object({{"type", "null"}}));
        return schema;
    }
    auto* type = schema.find("type");
    if (auto* list = type->as<Json::Array>())
        list->push_back("null");
    else
        *type = Json::Array{*type, "null"};
    if (auto* values = schema.find("enum"); values && values->as<Json::Array>())
        values->as<Json::Array>()->push_back(nullptr);
    return schema;
}

bool required(const Json& schema, std::string_view name)
{
    auto* list = schema.find("required");
    auto* names = list ? list->as<Json::Array>() : nullptr;
    return names && std::ranges::find(*names, Json(name)) != names->end();
}

std::optional<Json> strict_value(const Json& schema);

// The members that an object adds: properties, required, additionalProperties.
bool add_object(const Json& schema, Json& out)
{
    if (auto* more = schema.find("additionalProperties"); more && *more != Json(false))
        return false;   // its members cannot all be named
    auto* given = schema.find("properties");
    Json::Object properties;
    Json::Array names;
    if (given && !given->as<Json::Object>())
        return false;
    if (given)
        for (auto& [name, property] : *given->as<Json::Object>()) {
            auto value = strict_value(property);
            if (!value || (!required(schema, name) && value->find("const")))
                return false;
            properties.emplace_back(name, required(schema, name) ? std::move(*value) : nullable(std::move(*value)));
            names.push_back(name);
        }
    out.set("properties", std::move(properties));
    out.set("required", std::move(names));
    out.set("additionalProperties", false);
    return true;
}

bool add_any_of(const Json& schema, Json& out)
{
    auto* given = schema.find("anyOf")->as<Json::Array>();
    Json::Array several;
    if (!given)
        return false;
    for (auto& one : *given) {
        auto value = strict_value(one);
        if (!value)
            return false;
        several.push_back(std::move(*value));
    }
    out.set("anyOf", std::move(several));
    return true;
}

std::optional<Json> strict_value(const Json& schema)
{
    if (!schema.as<Json::Object>() || !(schema.find("type") || schema.find("anyOf")))
        return {};
    Json out = Json::Object();
    for (auto& [name, value] : *schema.as<Json::Object>()) {
        if (std::ranges::find(refused, name) != std::end(refused))
            return {};
        if (std::ranges::find(kept, name) != std::end(kept))
            out.set(name, value);
    }
    if (schema.find("anyOf") && !add_any_of(schema, out))
        return {};
    // an object without named members is free-form, which strict forbids
    if (names_type(schema, "object") && (!schema.find("properties") || !add_object(schema, out)))
        return {};
    if (names_type(schema, "array")) {
        auto* items = schema.find("items");
        auto item = items ? strict_value(*items) : std::nullopt;
        if (!item)
            return {};
        out.set("items", std::move(*item));
    }
    return out;
}

}

std::optional<Json> strict_schema(const Json& parameters)
{
    auto root = parameters;
    if (root.as<Json::Object>() && !root.find("properties")) root.set("properties", Json::Object());   // no parameters at all
    if (!names_type(root, "object") || root.find("anyOf"))
        return {};
    return strict_value(root);
}

}
