#include "agent/session.h"

#include <algorithm>

namespace ik {

Effects Session::on(const Event& event)
{
    return std::visit([this](auto& e) { return handle(e); }, event);
}

Effects Session::handle(const UserSaid& e)
{
    tell_notes();
    messages_.push_back(object({{"role", "user"}, {"text", e.text}}));
    answer_.clear();
    usage_ = {};
    turns_ = calls_ = 0;
    interrupted_ = false;
    return ask();
}

// A delta continues the part before it where that is of the same kind.
void Session::append_text(const char* member, const std::string& text)
{
    auto* last = parts_.empty() ? nullptr : parts_.back().find(member);
    if (last && last->as<std::string>())
        *last->as<std::string>() += text;
    else
        parts_.push_back(object({{member, text}}));
}

Effects Session::handle(const ModelSaid& e)
{
    answer_ += e.text;
    append_text("text", e.text);
    return {};
}

Effects Session::handle(const ModelThought& e)
{
    append_text("thinking", e.text);
    return {};
}

Effects Session::handle(const ModelKept& e)
{
    parts_.push_back(e.part);
    return {};
}

Effects Session::handle(const ModelCalled& e)
{
    auto& c = e.call;
    parts_.push_back(object({{"call", object({{"id", c.id}, {"name", c.name}, {"arguments", c.arguments}})}}));
    called_.push_back(c);
    return {};
}

Effects Session::handle(const ModelUsed& e)
{
    usage_.input += e.usage.input;
    usage_.output += e.usage.output;
    usage_.cached += e.usage.cached;
    return {};
}

// The reply begins again: what came of it so far is not part of the conversation.
Effects Session::handle(const ModelRetried&)
{
    parts_.clear();
    called_.clear();
    answer_.clear();
    return {};
}

Effects Session::handle(const ModelDone& e)
{
    asking_ = false;
    // A reply that was cut or refused may hold half a call: none of them runs.
    bool cut = e.reason == "max_tokens" || e.reason == "refusal" || e.reason == "error";
    keep_reply(!cut);
    waiting_ = std::exchange(called_, {});
    if (cut)
        waiting_.clear();
    if (e.reason == "pause" && waiting_.empty())
        return ask();
    if (waiting_.empty())
        return {End{e.reason == "tool_use" ? "end_turn" : e.reason, "", ""}};
    calls_ += static_cast<std::int64_t>(waiting_.size());
    Effects effects;
    for (auto& call : waiting_)
        effects.push_back(Run{call});
    return effects;
}

Effects Session::handle(const ModelFailed& e)
{
    asking_ = false;
    keep_reply(false);
    called_.clear();
    return {End{"error", e.error, e.error_code}};
}

Effects Session::handle(const ToolDone& e)
{
    envelopes_[e.id] = e.envelope;
    if (!std::ranges::all_of(waiting_, [&](auto& call) { return envelopes_.contains(call.id); }))
        return {};
    // Answered in the order of the calls, whichever ended first.
    for (auto& call : waiting_)
        messages_.push_back(object({{"role", "tool"}, {"id", call.id}, {"name", call.name}, {"envelope", envelopes_[call.id]}}));
    auto repeated = std::ranges::find_if(envelopes_, [](auto& one) { return one.second.text("error_code") == code::tool_repeated; });
    auto stopped = repeated == envelopes_.end() ? "" : std::string(repeated->second.text("error"));
    waiting_.clear();
    envelopes_.clear();
    if (interrupted_)
        return {End{"interrupted", "", ""}};
    if (!stopped.empty())
        return {End{"error", stopped, std::string(code::tool_repeated)}};
    tell_notes();
    return ask();
}

Effects Session::handle(const Interrupted&)
{
    if (!busy() || interrupted_)
        return {};
    if (!waiting_.empty()) {
        interrupted_ = true;   // ends when every call has been answered: providers demand one
        return {Cancel{}};
    }
    asking_ = false;
    keep_reply(false);
    called_.clear();
    return {Cancel{}, End{"interrupted", "", ""}};
}

Effects Session::handle(const Noted& e)
{
    notes_.push_back(e.text);
    return {};
}

// Messages of the user's side, each of its own: before what the user says, or after the answers of the tools.
void Session::tell_notes()
{
    for (auto& note : std::exchange(notes_, {}))
        messages_.push_back(object({{"role", "user"}, {"text", note}}));
}

// What was said becomes part of the conversation. Without its calls, which nobody will answer.
void Session::keep_reply(bool with_calls)
{
    if (!with_calls)
        std::erase_if(parts_, [](auto& part) { return part.find("call"); });
    if (!parts_.empty())
        messages_.push_back(object({{"role", "assistant"}, {"parts", std::exchange(parts_, {})}}));
}

Effects Session::ask()
{
    if (turns_ >= options_.max_turns)
        return {End{"max_turns", "the limit of " + std::to_string(options_.max_turns) + " model requests a message is reached", std::string(code::max_turns)}};
    ++turns_;
    asking_ = true;
    answer_.clear();
    auto request = object({{"type", "ask"}, {"provider", options_.provider}, {"model", options_.model},
                           {"system", options_.system}, {"messages", messages_}, {"tools", tools_}});
    if (options_.max_tokens)
        request.set("max_tokens", options_.max_tokens);
    if (!options_.thinking.empty())
        request.set("thinking", options_.thinking);
    return {Ask{std::move(request)}};
}

}
