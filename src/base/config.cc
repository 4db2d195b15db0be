#include "base/config.h"

#include "base/file.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ik {
namespace {

struct Words { Kind kind; const char* words; };
constexpr Words kinds[] = {
    {Kind::text, "a string"},  {Kind::integer, "an integer"},         {Kind::number, "a number"},
    {Kind::boolean, "true or false"}, {Kind::texts, "a list of strings"}, {Kind::object, "an object"},
    {Kind::size, "a size in bytes, such as 1000000 or \"512M\""},
};

bool all_texts(const Json& value)
{
    auto* list = value.as<Json::Array>();
    return list && std::ranges::all_of(*list, [](auto& item) { return item.template as<std::string>() != nullptr; });
}

std::optional<double> number_in(const Json& value)
{
    if (auto* whole = value.as<std::int64_t>()) return static_cast<double>(*whole);
    if (auto* real = value.as<double>()) return *real;
    return {};
}

bool is_of(Kind kind, const Json& value)
{
    switch (kind) {
    case Kind::text: return value.as<std::string>();
    case Kind::integer: return value.as<std::int64_t>();
    case Kind::number: return number_in(value).has_value();
    case Kind::boolean: return value.as<bool>();
    case Kind::texts: return all_texts(value);
    case Kind::object: return value.as<Json::Object>();
    case Kind::size: return size_in(value).has_value();
    }
    return false;
}

// true and false without quotes, where they are among the words that a text may be.
Json as_text(const ConfigKey& key, const Json& value)
{
    auto* truth = value.as<bool>();
    auto words = split(key.words, '|');
    bool is_word = std::ranges::find(words, "true") != words.end();
    return truth && key.kind == Kind::text && is_word ? Json(*truth ? "true" : "false") : value;
}

// "none|low|high" as "none, low, high".
std::string listed(std::string_view words)
{
    std::string out;
    for (auto word : split(words, '|'))
        out += (out.empty() ? "" : ", ") + std::string(word);
    return out;
}

template <class Number>
std::optional<Json> number(std::string_view text)
{
    Number value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return Json(value);
}

std::optional<Json> parsed(Kind kind, std::string_view text)
{
    switch (kind) {
    case Kind::text: return Json(clean_utf8(text));
    case Kind::integer: return number<std::int64_t>(trim(text));
    case Kind::number: return number<double>(trim(text));
    case Kind::boolean:
        if (text == "true" || text == "1") return Json(true);
        if (text == "false" || text == "0") return Json(false);
        return {};
    case Kind::texts: {
        Json::Array list;
        for (auto part : split(text, ','))
            if (!trim(part).empty()) list.push_back(clean_utf8(trim(part)));
        return Json(list);
    }
    case Kind::size:
        if (auto bytes = number<std::int64_t>(trim(text))) return bytes;
        return Json(std::string(trim(text)));
    case Kind::object: break;
    }
    auto value = parse_json(text);
    return value ? std::optional(*value) : std::nullopt;
}

}

std::string ConfigFile::place(std::string_view member) const
{
    auto line = lines.find(member);
    return line == lines.end() ? path : path + ":" + std::to_string(line->second);
}

std::optional<std::uint64_t> size_in(const Json& value)
{
    constexpr std::string_view units = "KMGT";
    if (auto* whole = value.as<std::int64_t>())
        return *whole < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*whole));
    auto* text = value.as<std::string>();
    if (!text || text->empty())
        return {};
    auto unit = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text->back()))));
    std::uint64_t number = 0;
    auto last = text->data() + text->size() - (unit == units.npos ? 0 : 1);
    auto [end, error] = std::from_chars(text->data(), last, number);
    auto shift = unit == units.npos ? 0 : 10 * (unit + 1);
    if (error != std::errc() || end != last || end == text->data() || number > (std::uint64_t(1) << 62) >> shift)
        return {};
    return number << shift;
}

std::optional<std::string> misfit(const ConfigKey& key, const Json& value)
{
    if (!is_of(key.kind, value))
        return std::string("must be ") + std::ranges::find(kinds, key.kind, &Words::kind)->words;
    if (key.kind == Kind::size)
        return static_cast<double>(*size_in(value)) >= key.least ? std::nullopt : std::optional<std::string>("must be more than nothing");
    auto* text = value.as<std::string>();
    auto words = split(key.words, '|');
    if (text && !key.words.empty() && std::ranges::find(words, *text) == words.end())
        return "must be one of " + listed(key.words);
    if (auto n = number_in(value); n && !(*n >= key.least && *n < 1e12))
        return "must be at least " + Json(key.least == std::trunc(key.least) ? Json(static_cast<std::int64_t>(key.least)) : Json(key.least)).dump();
    return {};
}

Result<Json> value_of(const ConfigKey& key, std::string_view text)
{
    auto value = parsed(key.kind, text);
    auto why = misfit(key, value ? *value : Json());
    if (why)
        return Error{code::invalid_arg, *why};
    return *value;
}

std::string unknown_key(std::string_view name, std::span<const ConfigKey> keys)
{
    std::vector<std::string> names;
    for (auto& key : keys) names.emplace_back(key.name);
    auto near = nearest(name, names);
    return "unknown key " + Json(name).dump() + (near.empty() ? "" : " (did you mean \"" + near.front() + "\"?)");
}

ConfigFile read_config(const std::string& path, std::span<const ConfigKey> keys)
{
    ConfigFile out{.path = path, .values = {}, .warnings = {}};
    auto text = read_own_file(path, Own::unwritable);
    if (!text) {
        if (text.error().code != code::file_not_found)
            out.warnings.push_back(path + ": not used: " + text.error().message);
        return out;
    }
    auto written = parse_written(*text);
    if (!written) {
        out.warnings.push_back(path + ":" + written.error().message + " The file is not used.");
        return out;
    }
    auto* members = written->value.as<Json::Object>();
    if (!members) {
        out.warnings.push_back(path + ":1: must be an object. The file is not used.");
        return out;
    }
    out.there = true;
    out.lines = std::move(written->lines);
    for (auto& member : *members) {
        auto& name = member.first;
        auto& said = member.second;
        auto key = std::ranges::find(keys, name, &ConfigKey::name);
        auto value = key == keys.end() ? said : as_text(*key, said);
        auto warn = [&](const std::string& why) { out.warnings.push_back(out.place(name) + ": " + why); };
        if (key == keys.end())
            warn(unknown_key(name, keys));
        else if (auto why = misfit(*key, value))
            warn(Json(name).dump() + " " + *why);
        else if (std::ranges::find(out.values, name, &ConfigValue::name) != out.values.end())
            warn(Json(name).dump() + " is there twice: the first counts");
        else
            out.values.push_back({name, value, out.place(name)});
    }
    return out;
}

}
