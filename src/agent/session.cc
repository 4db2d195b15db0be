#include "agent/session.h"

#include "agent/tokens.h"

#include <algorithm>

namespace ik {
namespace {

constexpr std::int64_t full_percent = 80;

}

Effects Session::on(const Event& event)
{
    if (compaction_)
        if (auto effects = hear_summary(event))
            return *effects;
    return std::visit([this](auto& e) { return handle(e); }, event);
}

Effects Session::handle(const UserSaid& e)
{
    tell_notes();
    messages_.push_back(object({{"role", "user"}, {"text", e.text}}));
    answer_.clear();
    usage_ = {};
    turns_ = calls_ = 0;
    interrupted_ = overflowed_ = false;
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
    last_used_ = e.usage;
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
    asking_ = overflowed_ = false;
    auto expected = tokens();
    // A reply that was cut or refused may hold half a call: none of them runs.
    bool cut = e.reason == "max_tokens" || e.reason == "refusal" || e.reason == "error";
    keep_reply(!cut);
    // A figure far below the estimate is of a service that counts only what it has not read before.
    if (last_used_.input > expected / 3) {
        known_ = last_used_.input + last_used_.output;
        known_at_ = messages_.size();
    }
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
    bool too_long = e.error_code == code::context_overflow && parts_.empty();
    keep_reply(false);
    called_.clear();
    if (too_long && options_.compact && !std::exchange(overflowed_, true)) {
        // What the window is has just been seen; a known one may be wrong.
        auto effects = compact(options_.window ? std::min(options_.window, tokens()) : tokens() / 2, "", true);
        if (!effects.empty()) {
            --turns_;   // that request brought nothing
            return effects;
        }
    }
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
    if (options_.compact && nearly_full())
        if (auto effects = compact(options_.window, "", true); !effects.empty())
            return effects;
    return send({});
}

Effects Session::send(Effects before)
{
    ++turns_;
    asking_ = true;
    answer_.clear();
    last_used_ = {};
    before.push_back(request());
    return before;
}

Ask Session::request() const
{
    auto request = object({{"type", "ask"}, {"provider", options_.provider}, {"model", options_.model},
                           {"system", options_.system}, {"messages", messages_}, {"tools", tools_}});
    if (options_.max_tokens)
        request.set("max_tokens", options_.max_tokens);
    if (!options_.thinking.empty())
        request.set("thinking", options_.thinking);
    return {std::move(request)};
}

std::int64_t Session::tokens() const
{
    if (known_ && known_at_ <= messages_.size())
        return known_ + estimated_tokens(std::span(messages_).subspan(known_at_));
    return estimated_tokens(options_.system) + estimated_tokens(tools_) + estimated_tokens(messages_);
}

// Of a window: what is left for messages.
std::int64_t Session::room(std::int64_t window) const
{
    return window - estimated_tokens(options_.system) - estimated_tokens(tools_);
}

// A window that the system text and the tools fill by themselves is not mended by compaction.
bool Session::nearly_full() const
{
    auto window = options_.window;
    return window > 0 && tokens() >= window * full_percent / 100 && room(window) > window / 4;
}

// No effects: nothing would become shorter. window 0: not known.
Effects Session::compact(std::int64_t window, std::string keep, bool then_ask)
{
    auto compaction = Compaction::of(messages_, {.tokens = window > 0 ? std::max<std::int64_t>(room(window), 500) : 0, .keep = std::move(keep)});
    if (!compaction)
        return {};
    compaction_ = std::move(compaction);
    ask_after_ = then_ask;
    Effects effects{SayCompacting{tokens()}};
    return compaction_->needs_answer() ? ask_summary(std::move(effects)) : end_compaction(std::move(effects));
}

Effects Session::ask_summary(Effects before)
{
    asking_ = true;
    before.push_back(Ask{object({{"type", "ask"}, {"provider", options_.provider}, {"model", options_.model}, {"system", summary_system},
                                 {"messages", compaction_->question()}, {"tools", Json::Array{}}})});
    return before;
}

// The conversation becomes the short one, and its turn goes on.
Effects Session::end_compaction(Effects before)
{
    auto done = compaction_->done();
    done.before = tokens();
    auto stayed = messages_.size() - done.kept_from;
    messages_ = compacted(messages_, done);
    done.in_front = messages_.size() - stayed;
    compaction_.reset();
    known_ = 0;
    known_at_ = 0;
    done.after = tokens();
    before.push_back(std::move(done));
    return ask_after_ ? send(std::move(before)) : before;
}

Effects Session::handle(const CompactionWanted& e)
{
    return busy() ? Effects{} : compact(options_.window, e.keep, false);
}

// While a summary is asked for. Until it is complete the conversation stays as it is.
std::optional<Effects> Session::hear_summary(const Event& event)
{
    auto give_up = [&](End end) {
        asking_ = false;
        compaction_.reset();
        return Effects{std::move(end)};
    };
    if (auto* said = std::get_if<ModelSaid>(&event))
        compaction_->hear(said->text);
    else if (std::holds_alternative<ModelRetried>(event))
        compaction_->hear_again();
    else if (auto* failed = std::get_if<ModelFailed>(&event)) {
        if (failed->error_code == code::context_overflow && compaction_->ask_less())
            return ask_summary({});
        return give_up({"error", "The conversation could not be compacted: " + failed->error, failed->error_code});
    } else if (std::holds_alternative<ModelDone>(event)) {
        asking_ = false;
        if (auto taken = compaction_->take_answer(); !taken)
            return give_up({"error", "The conversation could not be compacted: " + taken.error().message, std::string(taken.error().code)});
        return compaction_->needs_answer() ? ask_summary({}) : end_compaction({});
    } else if (std::holds_alternative<Interrupted>(event)) {
        auto effects = give_up({"interrupted", "", ""});
        effects.insert(effects.begin(), Cancel{});
        return effects;
    } else if (std::holds_alternative<ModelUsed>(event))
        return {};   // it costs what it costs
    return Effects{};
}

}
