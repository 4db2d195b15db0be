#include "agent/tokens.h"

#include <algorithm>

namespace ik {
namespace {

constexpr std::int64_t around_one = 4;   // tokens: the role, the ends

// Of strings and numbers with their names; quotes and braces about count for what escapes add.
struct Bytes {
    std::int64_t ascii = 0, other = 0;

    void add_text(std::string_view text)
    {
        auto plain = std::ranges::count_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
        ascii += plain;
        other += static_cast<std::int64_t>(text.size()) - plain;
    }
    void add(const Json& value)
    {
        if (auto* text = value.as<std::string>())
            add_text(*text);
        else if (auto* list = value.as<Json::Array>())
            for (auto& item : *list) add(item);
        else if (auto* members = value.as<Json::Object>())
            for (auto& [name, member] : *members) {
                add_text(name);
                add(member);
                ascii += 4;
            }
        else
            ascii += 4;
    }
    std::int64_t tokens() const { return (ascii + 3) / 4 + (other + 2) / 3; }
};

}

std::int64_t estimated_tokens(const Json& value)
{
    Bytes bytes;
    auto* text = value.find("summary") ? value.find("text") : nullptr;   // the parts of a summary are not sent
    bytes.add(text ? *text : value);
    return bytes.tokens() + around_one;
}

std::int64_t estimated_tokens(std::span<const Json> messages)
{
    std::int64_t sum = 0;
    for (auto& message : messages) sum += estimated_tokens(message);
    return sum;
}

}
