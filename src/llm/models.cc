#include "llm/models.h"

namespace ik::providers {
namespace {

constexpr std::int64_t k = 1000, m = 1'000'000;

// The longest start that fits counts. Limits and prices as published by the makers.
constexpr Model table[] = {
    {"", 0, 0, Thinking::none, 0, 0, 0},

    {"claude-", 200 * k, 32 * k, Thinking::adaptive_hidden, 0, 0, 0},
    {"claude-2", 100 * k, 4096, Thinking::none, 8, 24, 0},
    {"claude-3-", 200 * k, 4096, Thinking::none, 0, 0, 0},
    {"claude-3-haiku", 200 * k, 4096, Thinking::none, 0.25, 1.25, 0.03},
    {"claude-3-5-haiku", 200 * k, 8192, Thinking::none, 0.8, 4, 0.08},
    {"claude-3-5-sonnet", 200 * k, 8192, Thinking::none, 3, 15, 0.3},
    {"claude-3-7-sonnet", 200 * k, 64 * k, Thinking::budget, 3, 15, 0.3},
    {"claude-haiku-4-5", 200 * k, 64 * k, Thinking::budget, 1, 5, 0.1},
    {"claude-opus-4-0", 200 * k, 32 * k, Thinking::budget, 15, 75, 1.5},
    {"claude-opus-4-1", 200 * k, 32 * k, Thinking::budget, 15, 75, 1.5},
    {"claude-opus-4-2025", 200 * k, 32 * k, Thinking::budget, 15, 75, 1.5},
    {"claude-opus-4-5", 200 * k, 64 * k, Thinking::budget, 5, 25, 0.5},
    {"claude-opus-4-6", 200 * k, 128 * k, Thinking::adaptive, 5, 25, 0.5},
    {"claude-opus-4-7", 200 * k, 128 * k, Thinking::adaptive_hidden, 5, 25, 0.5},
    {"claude-sonnet-4-0", 200 * k, 64 * k, Thinking::budget, 3, 15, 0.3},
    {"claude-sonnet-4-2025", 200 * k, 64 * k, Thinking::budget, 3, 15, 0.3},
    {"claude-sonnet-4-5", 200 * k, 64 * k, Thinking::budget, 3, 15, 0.3},
    {"claude-sonnet-4-6", 200 * k, 64 * k, Thinking::adaptive, 3, 15, 0.3},

    {"gemini-", m, 64 * k, Thinking::level, 0, 0, 0},
    {"gemini-1", m, 8192, Thinking::none, 0, 0, 0},
    {"gemini-2.0-flash", m, 8192, Thinking::none, 0.1, 0.4, 0.025},
    {"gemini-2.5-flash", m, 64 * k, Thinking::budget, 0.3, 2.5, 0.03},
    {"gemini-2.5-flash-lite", m, 64 * k, Thinking::budget, 0.1, 0.4, 0.01},
    {"gemini-2.5-pro", m, 64 * k, Thinking::budget, 1.25, 10, 0.125},
    {"gemini-3-flash", m, 64 * k, Thinking::level, 0.5, 3, 0.05},
    {"gemini-3-pro", m, 64 * k, Thinking::level, 2, 12, 0.2},

    {"chatgpt-", 128 * k, 16 * k, Thinking::none, 0, 0, 0},
    {"gpt-", 0, 0, Thinking::effort, 0, 0, 0},
    {"gpt-3", 16 * k, 4096, Thinking::none, 0.5, 1.5, 0},
    {"gpt-4", 128 * k, 4096, Thinking::none, 0, 0, 0},
    {"gpt-4.1", m, 32 * k, Thinking::none, 2, 8, 0.5},
    {"gpt-4.1-mini", m, 32 * k, Thinking::none, 0.4, 1.6, 0.1},
    {"gpt-4.1-nano", m, 32 * k, Thinking::none, 0.1, 0.4, 0.025},
    {"gpt-4o", 128 * k, 16 * k, Thinking::none, 2.5, 10, 1.25},
    {"gpt-4o-mini", 128 * k, 16 * k, Thinking::none, 0.15, 0.6, 0.075},
    {"gpt-5", 400 * k, 128 * k, Thinking::effort, 1.25, 10, 0.125},
    {"gpt-5.", 400 * k, 128 * k, Thinking::effort, 0, 0, 0},
    {"gpt-5-chat", 128 * k, 16 * k, Thinking::none, 1.25, 10, 0.125},
    {"gpt-5-mini", 400 * k, 128 * k, Thinking::effort, 0.25, 2, 0.025},
    {"gpt-5-nano", 400 * k, 128 * k, Thinking::effort, 0.05, 0.4, 0.005},
    {"gpt-5.1", 400 * k, 128 * k, Thinking::effort, 1.25, 10, 0.125},
    {"gpt-5.2", 400 * k, 128 * k, Thinking::effort, 1.75, 14, 0.175},
    {"gpt-oss", 128 * k, 128 * k, Thinking::effort, 0, 0, 0},
    {"o1", 200 * k, 100 * k, Thinking::effort, 15, 60, 7.5},
    {"o3", 200 * k, 100 * k, Thinking::effort, 2, 8, 0.5},
    {"o3-mini", 200 * k, 100 * k, Thinking::effort, 1.1, 4.4, 0.55},
    {"o4-mini", 200 * k, 100 * k, Thinking::effort, 1.1, 4.4, 0.275},
};

std::string_view without_owner(std::string_view name)
{
    auto slash = name.rfind('/');
    return slash == name.npos ? name : name.substr(slash + 1);
}

double number(const Json& price, std::string_view name, double otherwise)
{
    auto* value = price.find(name);
    if (!value) return otherwise;
    if (auto* whole = value->as<std::int64_t>()) return static_cast<double>(*whole);
    return value->as<double>() ? *value->as<double>() : otherwise;
}

}

const Model& model_named(std::string_view name)
{
    name = without_owner(name);
    auto* best = &table[0];
    for (auto& row : table)
        if (name.starts_with(row.start) && row.start.size() > best->start.size())
            best = &row;
    return *best;
}

std::optional<Price> price_of(std::string_view name, const Json& configured)
{
    const Json::Member* best = nullptr;
    if (auto* members = configured.as<Json::Object>())
        for (auto& member : *members)
            if ((name.starts_with(member.first) || without_owner(name).starts_with(member.first)) && (!best || member.first.size() > best->first.size()))
                best = &member;
    if (best) {
        auto in = number(best->second, "input", 0);
        return Price{in, number(best->second, "output", 0), number(best->second, "cached", in)};
    }
    auto& model = model_named(name);
    if (model.in == 0 && model.out == 0)
        return {};
    return Price{model.in, model.out, model.cached > 0 ? model.cached : model.in};
}

}
