#include "base/json.h"

#include "base/spool.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ik {
namespace {

// Builds a Json bottom-up: values wait on the stack until their container ends.
struct Builder : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
    std::vector<Json> stack;
    int depth = 0;

    bool push(Json value) { stack.push_back(std::move(value)); return true; }

    bool Null() { return push(nullptr); }
    bool Bool(bool value) { return push(value); }
    bool Int(int value) { return push(value); }
    bool Uint(unsigned value) { return push(value); }
    bool Int64(std::int64_t value) { return push(value); }
    bool Uint64(std::uint64_t value)
    {
        return push(value <= INT64_MAX ? Json(static_cast<std::int64_t>(value)) : Json(static_cast<double>(value)));
    }
    bool Double(double value) { return push(value); }
    bool String(const char* text, unsigned size, bool) { return push(std::string(text, size)); }
    bool Key(const char* text, unsigned size, bool) { return push(std::string(text, size)); }
    bool StartObject() { return ++depth <= max_json_depth; }
    bool StartArray() { return ++depth <= max_json_depth; }

    bool EndArray(unsigned count)
    {
        --depth;
        auto first = stack.end() - count;
        Json::Array array(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
        stack.erase(first, stack.end());
        return push(std::move(array));
    }

    bool EndObject(unsigned count)
    {
        --depth;
        auto first = stack.end() - 2 * static_cast<std::ptrdiff_t>(count);
        Json::Object object;
        object.reserve(count);
        for (auto it = first; it != stack.end(); it += 2)
            object.emplace_back(std::move(*it->as<std::string>()), std::move(it[1]));
        stack.erase(first, stack.end());
        return push(std::move(object));
    }
};

struct Dumper {
    std::string& out;

    void operator()(std::nullptr_t) { out += "null"; }
    void operator()(bool value) { out += value ? "true" : "false"; }
    void operator()(std::int64_t value) { number(value); }
    void operator()(const std::string& value) { quoted(value); }

    void operator()(double value)
    {
        if (!std::isfinite(value))
            out += "null";
        else if (auto start = out.size(); number(value), out.find_first_of(".e", start) == std::string::npos)
            out += ".0";
    }

    void operator()(const Json::Array& array)
    {
        char before = '[';
        for (auto& item : array) {
            out += std::exchange(before, ',');
            std::visit(*this, item.value());
        }
        out += array.empty() ? "[]" : "]";
    }

    void operator()(const Json::Object& object)
    {
        char before = '{';
        for (auto& [name, item] : object) {
            out += std::exchange(before, ',');
            quoted(name);
            out += ':';
            std::visit(*this, item.value());
        }
        out += object.empty() ? "{}" : "}";
    }

    void quoted(std::string_view text)
    {
        out += '"';
        append_escaped(out, text);
        out += '"';
    }

    void number(auto value)
    {
        char digits[32];
        auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        out.append(digits, end);
    }
};

// A spool as RapidJSON reads it. The end is a NUL, which no JSON has.
struct SpoolStream {
    using Ch = char;

    const Spool& spool;
    std::string piece{};
    std::size_t at = 0, before = 0;   // in the piece; bytes before the piece

    char Peek()
    {
        if (at == piece.size()) {
            before += at;
            at = 0;
            piece = spool.read(before, 65536);
        }
        return piece.empty() ? '\0' : piece[at];
    }
    char Take()
    {
        char c = Peek();
        at += !piece.empty();
        return c;
    }
    std::size_t Tell() const { return before + at; }
    char* PutBegin() { return nullptr; }
    void Put(char) {}
    void Flush() {}
    std::size_t PutEnd(char*) { return 0; }
};

struct Checker : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Checker> {
    int depth = 0;
    bool StartObject() { return ++depth <= max_json_depth; }
    bool StartArray() { return ++depth <= max_json_depth; }
    bool EndObject(unsigned) { return --depth >= 0; }
    bool EndArray(unsigned) { return --depth >= 0; }
};

// What an escape of the byte looks like; 0 for a byte that stands for itself.
constexpr char escape_of(unsigned char c)
{
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return c < 0x20 ? 'u' : 0;
    }
}

// What stands for a byte that cannot stand for itself.
struct Escape {
    std::array<char, 6> text;
    unsigned char size;
};

constexpr Escape escape(unsigned char c)
{
    constexpr char hex[] = "0123456789ABCDEF";
    if (c >= 0x80) return {{'\xEF', '\xBF', '\xBD'}, 3};   // U+FFFD
    if (escape_of(c) == 'u') return {{'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6};
    return {{'\\', escape_of(c)}, 2};
}

constexpr auto escapes = [] {
    std::array<Escape, 256> table{};
    for (unsigned c = 0; c < table.size(); ++c)
        table[c] = escape(static_cast<unsigned char>(c));
    return table;
}();

// What ends a run of bytes: a byte that a JSON string cannot have as it is.
struct Escaped {
    bool operator()(char c) const { return escape_of(static_cast<unsigned char>(c)); }
#ifdef __SSE2__
    unsigned operator()(__m128i chunk) const   // sixteen bytes, a bit for each
    {
        const auto last_control = _mm_set1_epi8(0x1F);
        auto control = _mm_cmpeq_epi8(_mm_max_epu8(chunk, last_control), last_control);
        auto marks = _mm_or_si128(_mm_cmpeq_epi8(chunk, _mm_set1_epi8('"')), _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\')));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(control, marks)));
    }
#endif
};

// The same, or one that is not ASCII.
struct EscapedOrForeign {
    bool operator()(char c) const { return Escaped()(c) || static_cast<unsigned char>(c) >= 0x80; }
#ifdef __SSE2__
    unsigned operator()(__m128i chunk) const { return Escaped()(chunk) | static_cast<unsigned>(_mm_movemask_epi8(chunk)); }
#endif
};

// The number of bytes before the first that ends the run. Sixteen at a time where the machine can:
// this is what reading a file, or what a tool prints, spends its time on.
template <class Ends>
std::size_t run_length(std::string_view bytes, Ends ends)
{
    std::size_t i = 0;
#ifdef __SSE2__
    for (; i + 16 <= bytes.size(); i += 16)
        if (auto found = ends(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i))))
            return i + static_cast<unsigned>(std::countr_zero(found));
#endif
    while (i < bytes.size() && !ends(bytes[i]))
        ++i;
    return i;
}

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

const Json* Json::find(std::string_view name) const
{
    if (auto* object = as<Object>())
        for (auto& [key, value] : *object)
            if (key == name)
                return &value;
    return nullptr;
}

Json* Json::find(std::string_view name) { return const_cast<Json*>(std::as_const(*this).find(name)); }

std::string_view Json::text(std::string_view name) const
{
    auto* member = find(name);
    auto* string = member ? member->as<std::string>() : nullptr;
    return string ? std::string_view(*string) : std::string_view();
}

void Json::set(std::string_view name, Json value)
{
    if (auto* member = find(name))
        *member = std::move(value);
    else
        as<Object>()->emplace_back(std::string(name), std::move(value));
}

std::string Json::dump() const
{
    std::string out;
    std::visit(Dumper{out}, value_);
    return out;
}

void append_escaped(std::string& out, std::string_view bytes)
{
    std::size_t plain = 0;   // bytes[plain, i) are copied as they are
    for (std::size_t i = 0;;) {
        i += run_length(bytes.substr(i), EscapedOrForeign());
        while (auto size = utf8_length(bytes.substr(i))) {
            if (size == 1)
                break;
            i += size;
        }
        if (i == bytes.size())
            break;
        auto c = static_cast<unsigned char>(bytes[i]);
        if (c < 0x80 && !escape_of(c))
            continue;   // plain again behind other characters
        out.append(bytes, plain, i - plain);
        out.append(escapes[c].text.data(), escapes[c].size);
        plain = ++i;
    }
    out.append(bytes, plain);
}

std::size_t verbatim_prefix(std::string_view bytes) { return run_length(bytes, Escaped()); }

std::size_t incomplete_tail(std::string_view text)
{
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        auto c = static_cast<unsigned char>(text[text.size() - back]);
        if (c < 0x80) return 0;
        if (c < 0xC0) continue;
        std::size_t wanted = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
        return wanted > back ? back : 0;
    }
    return 0;
}

Result<Json> parse_json(std::string_view text)
{
    // A copy with room behind it: RapidJSON then takes sixteen bytes at a time, also of what is no string_view's own.
    std::string padded;
    padded.reserve(text.size() + 16);
    padded.append(text).append(16, '\0');
    rapidjson::StringStream stream(padded.data());
    rapidjson::Reader reader;
    Builder builder;
    builder.stack.reserve(64);
    // Its own check of the encoding goes byte by byte: it only has to say what is wrong.
    auto outcome = valid_utf8(text) ? reader.Parse<rapidjson::kParseIterativeFlag>(stream, builder)
                                    : reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(stream, builder);
    if (builder.depth > max_json_depth)
        return Error{code::invalid_arg, "Invalid JSON: nested too deeply"};
    if (outcome.IsError())
        return Error{code::invalid_arg, std::string("Invalid JSON: ") + rapidjson::GetParseError_En(outcome.Code())};
    if (stream.Tell() < text.size() && text.find_first_not_of(" \t\r\n", stream.Tell()) != text.npos)
        return Error{code::invalid_arg, "Invalid JSON: The document root must not be followed by other values."};
    return std::move(builder.stack.back());
}

Status check_json(const Spool& spool)
{
    SpoolStream stream{spool};
    rapidjson::Reader reader;
    Checker checker;
    auto outcome = reader.Parse<rapidjson::kParseIterativeFlag>(stream, checker);
    if (outcome.IsError() || stream.Tell() < spool.size())
        return Error{code::invalid_arg, "Invalid JSON"};
    return Done{};
}

Status validate(const Json& schema, const Json& value)
{
    rapidjson::Document schema_document, document;
    auto shape = checkable(schema);
    schema_document.CopyFrom(to_rapid(shape, schema_document.GetAllocator()), schema_document.GetAllocator());
    auto whole = with_whole_numbers(value);
    auto rapid = to_rapid(whole, document.GetAllocator());

    rapidjson::SchemaDocument compiled(schema_document);
    rapidjson::SchemaValidator validator(compiled);
    if (rapid.Accept(validator))
        return Done{};

    auto place = pointer_text(validator.GetInvalidDocumentPointer());
    auto rule = pointer_text(validator.GetInvalidSchemaPointer());
    auto* broken = at(shape, rule);
    return Error{code::invalid_arg, complaint(broken ? *broken : shape, validator.GetInvalidSchemaKeyword(),
                                              readable(place), at(whole, place))};
}

std::string json_library_version() { return "RapidJSON " RAPIDJSON_VERSION_STRING; }

}
