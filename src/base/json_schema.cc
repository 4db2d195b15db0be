// Values against schemas, and what is wrong with them in words.
#include "base/json.h"

#include "base/text.h"

#include <charconv>
#include <cmath>
#ifdef __SSE2__
#define RAPIDJSON_SSE2   // as in json.cc: one program has one RapidJSON
#endif
#define RAPIDJSON_SCHEMA_USE_INTERNALREGEX 0   // it asserts on patterns that it cannot read, and looks for them everywhere
#define RAPIDJSON_SCHEMA_USE_STDREGEX 0        // which would stand in, and leaks those
#include <rapidjson/document.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

namespace ik {
namespace {

rapidjson::Value to_rapid(const Json& json, rapidjson::Document::AllocatorType& memory)
{
    using rapidjson::Value;
    auto string = [&](const std::string& s) { return Value(s.data(), static_cast<unsigned>(s.size()), memory); };
    if (auto* b = json.as<bool>()) return Value(*b);
    if (auto* i = json.as<std::int64_t>()) return Value(*i);
    if (auto* d = json.as<double>()) return Value(*d);
    if (auto* s = json.as<std::string>()) return string(*s);
    if (auto* array = json.as<Json::Array>()) {
        Value out(rapidjson::kArrayType);
        for (auto& item : *array)
            out.PushBack(to_rapid(item, memory), memory);
        return out;
    }
    if (auto* object = json.as<Json::Object>()) {
        Value out(rapidjson::kObjectType);
        for (auto& [name, item] : *object)
            out.AddMember(string(name), to_rapid(item, memory), memory);
        return out;
    }
    return Value();
}

// The schema without the keywords that are not checked here: RapidJSON's own regular
// expressions are not ECMA's, and a reference may name another document.
// A whole-number double counts as an integer (JSON Schema draft 6 and later), so the value is rounded instead.
Json checkable(const Json& schema, bool keywords = true)
{
    if (auto* array = schema.as<Json::Array>()) {
        Json::Array out;
        for (auto& item : *array) out.push_back(checkable(item));
        return out;
    }
    auto* object = schema.as<Json::Object>();
    if (!object)
        return schema;
    Json::Object out;
    for (auto& [name, item] : *object) {
        bool map = keywords && (name == "properties" || name == "definitions" || name == "dependencies");
        bool data = keywords && (name == "enum" || name == "default" || name == "const" || name == "examples");
        if (keywords && (name == "pattern" || name == "patternProperties" || name == "$ref"))
            continue;
        out.emplace_back(name, data ? item : checkable(item, !map));
    }
    return out;
}

// 3.0 as 3, so that it passes for an integer.
Json with_whole_numbers(const Json& value)
{
    if (auto* d = value.as<double>(); d && std::trunc(*d) == *d && std::abs(*d) < 1e15)
        return static_cast<std::int64_t>(*d);
    if (auto* array = value.as<Json::Array>()) {
        Json::Array out;
        for (auto& item : *array) out.push_back(with_whole_numbers(item));
        return out;
    }
    if (auto* object = value.as<Json::Object>()) {
        Json::Object out;
        for (auto& [name, item] : *object) out.emplace_back(name, with_whole_numbers(item));
        return out;
    }
    return value;
}

// "/files/0/name" as "files[0].name"
std::string readable(std::string_view pointer)
{
    std::string out;
    for (auto token : split(pointer, '/')) {
        if (token.empty()) continue;
        bool index = token.find_first_not_of("0123456789") == token.npos;
        out += index ? "[" + std::string(token) + "]" : (out.empty() ? "" : ".") + std::string(token);
    }
    return out;
}

const Json* at(const Json& root, std::string_view pointer)
{
    const Json* here = &root;
    for (auto token : split(pointer, '/')) {
        if (token.empty() || !here) continue;
        if (auto* array = here->as<Json::Array>()) {
            std::size_t i = 0;
            std::from_chars(token.data(), token.data() + token.size(), i);
            here = i < array->size() ? &(*array)[i] : nullptr;
        } else
            here = here->find(token);
    }
    return here;
}

std::string with_article(std::string_view type)
{
    return (std::string_view("aeio").find(type[0]) == std::string_view::npos ? "a " : "an ") + std::string(type);
}

std::string type_words(const Json& type)
{
    if (auto* one = type.as<std::string>())
        return one->empty() ? "" : with_article(*one);
    std::string out;
    if (auto* several = type.as<Json::Array>())
        for (auto& t : *several)
            if (auto* word = t.as<std::string>(); word && !word->empty())
                out += (out.empty() ? "" : " or ") + with_article(*word);
    return out;
}

// The sentence for a value at `where` that breaks `keyword` of `schema`.
std::string complaint(const Json& schema, std::string_view keyword, const std::string& where, const Json* value)
{
    std::string parameter = where.empty() ? "the arguments" : "parameter " + where;
    if (keyword == "required")
        if (auto* names = schema.find("required"); names && names->as<Json::Array>())
            for (auto& name : *names->as<Json::Array>())
                if (auto* text = name.as<std::string>(); text && value && !value->find(*text))
                    return "missing required parameter: " + (where.empty() ? *text : where + "." + *text);
    auto* rule = schema.find(keyword);
    if (keyword == "type" && rule)
        if (auto words = type_words(*rule); !words.empty())
            return parameter + " must be " + words;
    if (keyword == "enum" && rule) return parameter + " must be one of " + rule->dump();
    if (keyword == "additionalProperties") return parameter + " has a member that the tool does not know";
    if (keyword == "minimum" && rule) return parameter + " must be at least " + rule->dump();
    if (keyword == "minLength" && rule) return parameter + " must have at least " + rule->dump() + " characters";
    if (keyword == "maxLength" && rule) return parameter + " must have at most " + rule->dump() + " characters";
    if (keyword == "maximum" && rule) return parameter + " must be at most " + rule->dump();
    return parameter + " does not fit the tool's schema (" + std::string(keyword) + (rule ? ": " + rule->dump() : "") + ")";
}

std::string pointer_text(const auto& pointer)
{
    rapidjson::StringBuffer buffer;
    pointer.Stringify(buffer);
    return {buffer.GetString(), buffer.GetSize()};
}

}

Status validate(const Json& schema, const Json& value)
{
    rapidjson::MemoryPoolAllocator<> memory(4096);   // bytes at a time: most of both is small
    auto shape = checkable(schema), whole = with_whole_numbers(value);
    auto rules = to_rapid(shape, memory), rapid = to_rapid(whole, memory);

    rapidjson::SchemaDocument compiled(rules);
    rapidjson::SchemaValidator validator(compiled);
    if (rapid.Accept(validator))
        return Done{};

    auto place = pointer_text(validator.GetInvalidDocumentPointer());
    auto rule = pointer_text(validator.GetInvalidSchemaPointer());
    auto* broken = at(shape, rule);
    return Error{code::invalid_arg, complaint(broken ? *broken : shape, validator.GetInvalidSchemaKeyword(),
                                              readable(place), at(whole, place))};
}

}
