#include "agent/loop_guard.h"

#include "agent/wire.h"
#include "base/hash.h"
#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

// The members of objects in one order, whichever the model wrote them in.
Json canonical(Json value)
{
    if (auto* items = value.as<Json::Array>())
        for (auto& item : *items) item = canonical(std::move(item));
    if (auto* members = value.as<Json::Object>()) {
        for (auto& [name, member] : *members) member = canonical(std::move(member));
        std::ranges::stable_sort(*members, {}, &Json::Member::first);
    }
    return value;
}

// A result that is kept in a file names the call that it is of: "…/outputs/SESSION/CALL-output.txt".
std::string without_call(std::string text, const std::string& id)
{
    auto name = "/" + id + "-";
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 2))
        text.replace(at, name.size(), "/-");
    return text;
}

std::string fingerprint(const ToolCall& call, const Json& envelope)
{
    auto arguments = canonical(call.arguments).dump();
    return sha256(Json(call.name).dump() + arguments + "\n" + without_call(envelope.dump(), call.id));
}

std::string ordinal(int n)
{
    auto last = n % 100 / 10 == 1 ? 0 : n % 10;
    return std::to_string(n) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string hint(int times)
{
    return "This is the " + (times == LoopGuard::told_at ? "third" : ordinal(times)) + " time with the same result: the same call will not say anything else. Do something different, or say what is in the way.";
}

}

void LoopGuard::begin_turn()
{
    seen_.clear();
    news_ = 0;
}

Json LoopGuard::judged(const ToolCall& call, Json envelope)
{
    auto& seen = seen_[fingerprint(call, envelope)];
    if (++seen.times == 1)
        ++news_;
    // Something new happened since: an edit, say, between two runs of the same tests.
    if (std::exchange(seen.news, news_) != news_)
        seen.in_a_row = 0;
    if (++seen.in_a_row >= stopped_at)
        return failure(code::tool_repeated, "Tool '" + clean_utf8(call.name) + "' was called with the same arguments and gave the same result five times: the turn is stopped");
    if (seen.times >= told_at && envelope.as<Json::Object>())
        envelope.set("hint", hint(seen.times));
    return envelope;
}

}
