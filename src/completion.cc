#include "completion.h"

#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

const Outline* command_in(const Outline& outline, std::string_view name)
{
    auto found = std::ranges::find(outline.commands, name, &Outline::name);
    return found == outline.commands.end() ? nullptr : &*found;
}

const Outline::Option* option_in(const Outline& outline, std::string_view word)
{
    auto name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);   // -n20 is -n
    auto found = std::ranges::find_if(outline.options, [&](auto& option) { return std::ranges::find(option.names, name) != option.names.end(); });
    return found == outline.options.end() ? nullptr : &*found;
}

// Whether its value is the next word.
bool value_follows(const Outline::Option& option, std::string_view word)
{
    bool value_inside = word.starts_with("--") ? word.find('=') != word.npos : word.size() > 2;
    return !option.takes.empty() && !value_inside;
}

// Where in the outline the last word stands.
struct Position {
    const Outline* command;
    const Outline::Option* value_of = nullptr;
    bool only_operands = false;
    std::vector<std::string> operands = {};
};

void step(Position& at, const std::string& word)
{
    bool is_option = !at.only_operands && word.starts_with('-') && word != "-";
    if (word == "=" && at.value_of)   // as bash takes --option=value apart
        return;
    if (at.value_of && !is_option) {
        at.value_of = nullptr;
    } else if (is_option) {
        auto* option = option_in(*at.command, word);
        at.value_of = option && value_follows(*option, word) ? option : nullptr;
        at.only_operands = word == "--";
    } else if (auto* command = command_in(*at.command, word); command && at.operands.empty()) {
        at.command = command;
    } else {
        at.operands.push_back(word);
    }
}

void offer(Expected& out, const std::string& word, std::string help)
{
    if (word.starts_with(out.typed))
        out.words.push_back({out.prefix + word, std::move(help)});
}

// "POLICY:{workspace,read-only,off}": those three. Anything else has a name.
void offer_value(Expected& out, const std::string& takes)
{
    auto open = takes.find('{'), close = takes.rfind('}');
    if (open == takes.npos || close == takes.npos || close < open) {
        out.takes = takes.substr(0, takes.find(':'));
        return;
    }
    for (auto value : split(std::string_view(takes).substr(open + 1, close - open - 1), ','))
        offer(out, std::string(value), "");
}

void offer_options(Expected& out, const Outline& command)
{
    for (auto& option : command.options)
        for (auto& name : option.names)
            offer(out, name, option.help);
}

void offer_operand(Expected& out, const Outline& command)
{
    for (auto& each : command.commands)
        if (out.operands.empty()) offer(out, each.name, each.help);
    auto& all = command.operands;
    auto index = out.operands.size();
    if (index < all.size())
        offer_value(out, all[index].takes);
    else if (!all.empty() && all.back().many)
        offer_value(out, all.back().takes);
}

}

Expected expected(const Outline& outline, std::string_view default_command, std::span<const std::string> words)
{
    Position at{&outline};
    auto* fallback = command_in(outline, default_command);
    for (auto& word : words.first(words.empty() ? 0 : words.size() - 1)) {
        if (at.command == &outline && word.starts_with('-') && !option_in(outline, word) && fallback)
            at.command = fallback;
        step(at, word);
    }

    Expected out;
    out.typed = words.empty() ? "" : words.back();
    out.operands = at.operands;
    auto equals = out.typed.find('=');
    if (at.value_of && (!out.typed.starts_with('-') || out.typed == "-")) {
        if (out.typed == "=") out.typed = "";
        offer_value(out, at.value_of->takes);
    } else if (at.only_operands || !out.typed.starts_with('-')) {
        offer_operand(out, *at.command);
    } else if (equals != out.typed.npos) {
        auto* option = option_in(*at.command, out.typed);
        if (!option && at.command == &outline && fallback) option = option_in(*fallback, out.typed);
        out.prefix = out.typed.substr(0, equals + 1);
        out.typed.erase(0, equals + 1);
        if (option) offer_value(out, option->takes);
    } else {
        offer_options(out, *at.command);
        if (at.command == &outline && fallback) offer_options(out, *fallback);
    }
    return out;
}

}
