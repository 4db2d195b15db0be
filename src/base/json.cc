#include "base/json.h"

#include "base/spool.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/rapidjson.h>

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

// The same, and the line where each member begins.
struct Locator : Builder {
    Locator(std::string_view text, const rapidjson::StringStream& stream) : text_(text), stream_(stream) {}
    std::map<std::string, int, std::less<>> lines;

    int line()
    {
        auto here = std::min(stream_.Tell(), text_.size());
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(seen_), text_.begin() + static_cast<std::ptrdiff_t>(here), '\n'));
        seen_ = here;
        return line_;
    }

    bool StartObject() { names_.emplace_back(); return Builder::StartObject(); }
    bool EndObject(unsigned count) { names_.pop_back(); return Builder::EndObject(count); }
    bool Key(const char* text, unsigned size, bool copy)
    {
        names_.back().assign(text, size);
        std::string path;
        for (auto& name : names_) path += (path.empty() ? "" : ".") + name;
        lines.emplace(path, line());
        return Builder::Key(text, size, copy);
    }

private:
    std::string_view text_;
    const rapidjson::StringStream& stream_;
    std::vector<std::string> names_;   // of the member that is read, in each object that is open
    std::size_t seen_ = 0;
    int line_ = 1;
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

Result<Written> parse_written(std::string_view text)
{
    using namespace rapidjson;
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    auto padded = clean_utf8(text) + std::string(16, '\0');
    StringStream stream(padded.data());
    Reader reader;
    Locator locator(padded, stream);
    auto outcome = reader.Parse<kParseIterativeFlag | kParseCommentsFlag | kParseTrailingCommasFlag>(stream, locator);
    auto error = [&](std::string_view why) { return Error{code::invalid_arg, std::to_string(locator.line()) + ": " + std::string(why)}; };
    if (locator.depth > max_json_depth)
        return error("Nested too deeply.");
    if (outcome.IsError())
        return error(GetParseError_En(outcome.Code()));
    return Written{std::move(locator.stack.back()), std::move(locator.lines)};
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

std::string json_library_version() { return "RapidJSON " RAPIDJSON_VERSION_STRING; }

}
