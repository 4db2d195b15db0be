#include "base/json.h"

#include "base/spool.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/rapidjson.h>

namespace ik {
namespace {

// Builds a Json bottom-up: values wait on the stack until their container ends, as names do.
struct Builder : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
    std::vector<Json> stack;
    std::vector<std::string> names;
    int depth = 0;
    bool too_big = false;   // a number

    bool push(auto&& value) { stack.emplace_back(std::forward<decltype(value)>(value)); return true; }

    bool Null() { return push(nullptr); }
    bool Bool(bool value) { return push(value); }
    bool String(const char* text, unsigned size, bool) { return push(std::string(text, size)); }
    bool Key(const char* text, unsigned size, bool) { names.emplace_back(text, size); return true; }
    bool StartObject() { return ++depth <= max_json_depth; }
    bool StartArray() { return ++depth <= max_json_depth; }

    // RapidJSON's own quick reading misses the last digit at times. What is no int64 is a double.
    bool RawNumber(const char* text, unsigned size, bool)
    {
        auto* end = text + size;
        std::int64_t whole = 0;
        if (auto [stop, error] = std::from_chars(text, end, whole); stop == end && error == std::errc())
            return push(whole);
        double real = 0;
        if (std::from_chars(text, end, real).ec == std::errc::result_out_of_range)
            real = std::strtod(std::string(text, size).c_str(), nullptr);   // which tells the small from the large
        too_big = std::isinf(real);
        return !too_big && push(real);
    }

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
        auto first = stack.end() - count;
        auto name = names.end() - count;
        Json::Object object;
        object.reserve(count);
        for (auto value = first; value != stack.end(); ++value)
            object.emplace_back(std::move(*name++), std::move(*value));
        stack.erase(first, stack.end());
        names.erase(names.end() - count, names.end());
        return push(std::move(object));
    }
};

// The same, and the line where each member begins.
struct Locator : Builder {
    Locator(std::string_view text, rapidjson::InsituStringStream& stream) : text_(text), stream_(stream) {}
    std::map<std::string, int, std::less<>> lines;

    int line()
    {
        auto here = std::min(stream_.Tell(), text_.size());
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(seen_), text_.begin() + static_cast<std::ptrdiff_t>(here), '\n'));
        seen_ = here;
        return line_;
    }

    bool StartObject() { open_.emplace_back(); return Builder::StartObject(); }
    bool EndObject(unsigned count) { open_.pop_back(); return Builder::EndObject(count); }
    bool Key(const char* text, unsigned size, bool copy)
    {
        open_.back().assign(text, size);
        std::string path;
        for (auto& name : open_) path += (path.empty() ? "" : ".") + name;
        lines.emplace(path, line());
        return Builder::Key(text, size, copy);
    }

private:
    std::string_view text_;
    rapidjson::InsituStringStream& stream_;
    std::vector<std::string> open_;   // the name of the member that is read, in each object that is open
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

constexpr std::size_t padding = 16;   // zeros, behind a text

constexpr unsigned in_place = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;

std::string_view why(const rapidjson::ParseResult& outcome, const Builder& builder)
{
    if (builder.depth > max_json_depth) return "nested too deeply";
    if (builder.too_big) return rapidjson::GetParseError_En(rapidjson::kParseErrorNumberTooBig);
    return rapidjson::GetParseError_En(outcome.Code());
}

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
    out.reserve(120);   // of most lines
    std::visit(Dumper{out}, value_);
    return out;
}

Result<Json> parse_json(std::string_view text)
{
    std::string padded;
    padded.reserve(text.size() + padding);
    return parse_json_in_place(std::move(padded.append(text)));
}

// With room behind it, RapidJSON takes sixteen bytes at a time.
Result<Json> parse_json_in_place(std::string padded)
{
    auto size = padded.size();
    bool valid = valid_utf8(padded);
    padded.append(padding, '\0');
    std::string_view text(padded.data(), size);
    rapidjson::InsituStringStream stream(padded.data());
    rapidjson::Reader reader;
    Builder builder;
    builder.stack.reserve(16);
    builder.names.reserve(16);
    // Its own check of the encoding goes byte by byte: it only has to say what is wrong. It recurses, as deep as builder lets it.
    auto outcome = valid ? reader.Parse<in_place>(stream, builder)
                                    : reader.Parse<in_place | rapidjson::kParseValidateEncodingFlag>(stream, builder);
    if (outcome.IsError())
        return Error{code::invalid_arg, "Invalid JSON: " + std::string(why(outcome, builder))};
    if (stream.Tell() < text.size() && text.find_first_not_of(" \t\r\n", stream.Tell()) != text.npos)
        return Error{code::invalid_arg, "Invalid JSON: The document root must not be followed by other values."};
    return std::move(builder.stack.back());
}

Result<Written> parse_written(std::string_view text)
{
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    auto padded = clean_utf8(text) + std::string(16, '\0');
    auto written = padded;   // what is read in place does not stay as it is
    rapidjson::InsituStringStream stream(padded.data());
    rapidjson::Reader reader;
    Locator locator(written, stream);
    auto outcome = reader.Parse<in_place | rapidjson::kParseCommentsFlag | rapidjson::kParseTrailingCommasFlag>(stream, locator);
    if (outcome.IsError())
        return Error{code::invalid_arg, std::to_string(locator.line()) + ": " + std::string(why(outcome, locator))};
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
