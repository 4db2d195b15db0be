#include "llm/anthropic.h"

#include "base/text.h"
#include "llm/models.h"

#include <algorithm>

namespace ik::providers {
namespace {

constexpr std::string_view dialect = "anthropic";

constexpr Reason reasons[] = {
    {"end_turn", "end_turn"},     {"stop_sequence", "end_turn"}, {"tool_use", "tool_use"}, {"max_tokens", "max_tokens"},
    {"pause_turn", "pause"},      {"refusal", "refusal"},        {"model_context_window_exceeded", "max_tokens"},
};

// A delta's type, the member of it that grows, and the member of the block that it is added to.
struct Growth { std::string_view delta, from; };
constexpr Growth growths[] = {{"text_delta", "text"}, {"thinking_delta", "thinking"}, {"signature_delta", "signature"}};

}

Decoded Anthropic::on(const sse::Event& event)
{
    Decoded out;
    auto value = done_ ? std::nullopt : json_of(event, out);
    if (!value)
        return out;
    auto type = value->text("type");
    if (type == "message_start") {
        if (auto* message = value->find("message")) on_usage(message->find("usage"));
    } else if (type == "content_block_start")
        on_start(*value, out);
    else if (type == "content_block_delta")
        on_delta(*value, out);
    else if (type == "content_block_stop")
        on_stop(out);
    else if (type == "message_delta") {
        on_usage(value->find("usage"));
        if (auto* delta = value->find("delta"))
            if (auto* stop = string_at(*delta, "stop_reason")) raw_stop_ = *stop;
    } else if (type == "message_stop")
        return finish();
    else if (type == "error" || event.name == "error")
        out.complaint = complaint_in_body(event.data, 0);
    else
        out.complaint = complaint_in(*value, 0);   // ping and what is new hold none
    if (out.complaint)
        out.complaint->raw_stop = raw_stop_;
    return out;
}

// The last word about each number counts: message_delta repeats some of those of message_start.
void Anthropic::on_usage(const Json* usage)
{
    auto* members = usage ? usage->as<Json::Object>() : nullptr;
    if (!members)
        return;
    if (raw_usage_.null()) raw_usage_ = Json::Object();
    for (auto& [name, value] : *members)
        if (!value.null() || !raw_usage_.find(name))
            raw_usage_.set(name, value);
}

void Anthropic::on_start(const Json& event, Decoded& out)
{
    auto* block = event.find("content_block");
    block_ = block && block->as<Json::Object>() ? *block : Json(Json::Object());
    input_.clear();
    if (auto text = block_.text("text"); !text.empty()) out.lines.push_back(text_line(std::string(text)));
    if (auto text = block_.text("thinking"); !text.empty()) out.lines.push_back(thinking_line(std::string(text)));
}

void Anthropic::on_delta(const Json& event, Decoded& out)
{
    auto* delta = event.find("delta");
    if (!delta || block_.null())
        return;
    auto type = delta->text("type");
    if (type == "input_json_delta")
        input_ += delta->text("partial_json");
    for (auto& growth : growths)
        if (auto* text = string_at(*delta, growth.from); text && type == growth.delta && !text->empty()) {
            append_text(block_, growth.from, *text);
            if (type == "text_delta") out.lines.push_back(text_line(*text));
            if (type == "thinking_delta") out.lines.push_back(thinking_line(*text));
        }
}

// A block is whole: calls are said, thinking and whatever else is not text is kept as it is.
void Anthropic::on_stop(Decoded& out)
{
    auto block = std::exchange(block_, Json());
    auto type = block.text("type");
    if (block.null() || type.empty() || type == "text")
        return;
    auto* given = block.find("input");
    auto input = trim(input_).empty() && given ? *given : call_arguments(input_);
    if (type != "tool_use") {
        if (given) block.set("input", input.as<Json::Object>() ? std::move(input) : Json(Json::Object()));
        out.lines.push_back(opaque_line(dialect, std::move(block)));
        return;
    }
    auto* id = string_at(block, "id");
    bool whole = input.as<Json::Object>();
    auto line = call_line(id && !id->empty() ? *id : made_id(), std::string(block.text("name")), std::move(input));
    called_ = called_ || whole;
    (whole ? out.lines : cut_calls_).push_back(std::move(line));
}

Decoded Anthropic::end()
{
    if (done_)
        return {};
    return {.complaint = broken_off()};
}

Decoded Anthropic::finish()
{
    Decoded out{.done = true};
    done_ = true;
    auto reason = neutral_reason(reasons, raw_stop_, "end_turn");
    bool cut = reason == "max_tokens" || reason == "refusal";
    if (!cut)
        for (auto& line : cut_calls_) {
            out.lines.push_back(std::move(line));
            called_ = true;
        }
    if (!cut && reason != "pause")
        reason = called_ ? "tool_use" : reason == "tool_use" ? "end_turn" : reason;

    // Anthropic counts what the cache held apart from input_tokens; for us it is a part of the input.
    if (!raw_usage_.null()) {
        auto read = number_at(&raw_usage_, {"cache_read_input_tokens"});
        auto input = number_at(&raw_usage_, {"input_tokens"}) + read + number_at(&raw_usage_, {"cache_creation_input_tokens"});
        out.lines.push_back(usage_line(input, number_at(&raw_usage_, {"output_tokens"}), read, 0));
    }
    out.lines.push_back(done_line(reason, raw_stop_, raw_usage_));
    return out;
}

namespace {

Json cached(Json block)
{
    block.set("cache_control", object({{"type", "ephemeral"}}));
    return block;
}

// Ids of other services may hold what this one refuses.
std::string safe_id(std::string_view id)
{
    std::string out(id);
    for (auto& c : out)
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' && c != '-') c = '_';
    return out.empty() ? "_" : out;
}

Json text_block(std::string_view text) { return object({{"type", "text"}, {"text", text}}); }

bool thought(const Json& block)
{
    auto type = block.text("type");
    return type == "thinking" || type == "redacted_thinking";
}

// Text must hold something, and a message may not end with a thought: what was interrupted does.
Json::Array assistant_content(const Json& message)
{
    Json::Array out;
    for (auto& part : list_at(message, "parts")) {
        if (auto* text = string_at(part, "text"); text && !trim(*text).empty())
            out.push_back(text_block(*text));
        if (auto* kept = part.find("opaque"); kept && part.text("provider") == dialect)
            out.push_back(*kept);
        if (auto* call = part.find("call"))
            out.push_back(object({{"type", "tool_use"}, {"id", safe_id(call->text("id"))}, {"name", call->text("name")}, {"input", input_of(*call)}}));
    }
    while (!out.empty() && thought(out.back())) out.pop_back();
    return out;
}

Json result_block(const Json& message)
{
    auto* envelope = message.find("envelope");
    auto out = object({{"type", "tool_result"}, {"tool_use_id", safe_id(message.text("id"))}, {"content", envelope ? envelope->dump() : "{}"}});
    if (auto* success = envelope ? envelope->find("tool_success") : nullptr; success && *success == Json(false))
        out.set("is_error", true);
    return out;
}

Json::Array user_content(const Json& message)
{
    if (message.text("role") == "tool")
        return {result_block(message)};
    return trim(message.text("text")).empty() ? Json::Array() : Json::Array{text_block(message.text("text"))};
}

// User and assistant by turns: all results of a turn, and what the user says next, are one message.
Json::Array messages(const Json& ask)
{
    Json::Array out;
    for (auto& message : list_at(ask, "messages")) {
        std::string_view role = message.text("role") == "assistant" ? "assistant" : "user";
        auto content = role == "assistant" ? assistant_content(message) : user_content(message);
        if (content.empty())
            continue;
        if (out.empty() || out.back().text("role") != role)
            out.push_back(object({{"role", role}, {"content", Json::Array()}}));
        auto& blocks = *out.back().find("content")->as<Json::Array>();
        blocks.insert(blocks.end(), std::make_move_iterator(content.begin()), std::make_move_iterator(content.end()));
    }
    return out;
}

// What was said so far is read from the cache next time: a mark stands on its last block, and on that of the turn
// before, since the service looks back from a mark over 20 blocks only, and a turn may have more.
void mark_last_turns(Json::Array& messages)
{
    int marks = 2;   // with those of the system and the tools as many as it takes
    for (auto message = messages.rbegin(); message != messages.rend() && marks > 0; ++message)
        if (message->text("role") == "user") {
            auto& block = message->find("content")->as<Json::Array>()->back();
            block = cached(std::move(block));
            --marks;
        }
}

Json::Array tools(const Json& ask)
{
    Json::Array out;
    for (auto& tool : list_at(ask, "tools"))
        out.push_back(object({{"name", tool.text("name")}, {"description", tool.text("description")}, {"input_schema", parameters_of(tool)}}));
    if (!out.empty()) out.back() = cached(std::move(out.back()));
    return out;
}

struct Level { std::string_view name; std::int64_t budget; };
constexpr Level levels[] = {{"low", 2048}, {"medium", 8192}, {"high", 24576}};
constexpr std::int64_t least_budget = 1024, usual_output = 32'000;

// With a budget, a turn that has called tools must have begun with a thought: one that another
// model began goes on without.
bool may_think(const Json::Array& messages)
{
    if (messages.empty() || list_at(messages.back(), "content").empty() || list_at(messages.back(), "content").front().text("type") != "tool_result")
        return true;
    return messages.size() > 1 && thought(list_at(messages[messages.size() - 2], "content").front());
}

void add_thinking(Json& body, const Model& model, std::string_view level, std::int64_t limit, const Json::Array& messages)
{
    auto row = std::ranges::find(levels, level, &Level::name);
    if (row == std::end(levels) || model.thinking == Thinking::none)
        return;
    if (model.thinking == Thinking::budget) {
        auto budget = std::min(row->budget, limit / 2);
        if (budget >= least_budget && may_think(messages))
            body.set("thinking", object({{"type", "enabled"}, {"budget_tokens", budget}}));
        return;
    }
    auto thinking = object({{"type", "adaptive"}});
    if (model.thinking == Thinking::adaptive_hidden) thinking.set("display", "summarized");
    body.set("thinking", std::move(thinking));
    body.set("output_config", object({{"effort", level}}));
}

}

HttpRequest anthropic_request(const Json& ask, const Endpoint& endpoint)
{
    auto& model = model_named(ask.text("model"));
    auto limit = number_at(&ask, {"max_tokens"});
    if (limit <= 0) limit = model.output ? std::min(model.output, usual_output) : usual_output;

    auto said = messages(ask);
    auto body = object({{"model", ask.text("model")}, {"max_tokens", limit}, {"stream", true}});
    if (auto system = ask.text("system"); !trim(system).empty())
        body.set("system", Json::Array{cached(text_block(system))});
    if (auto offered = tools(ask); !offered.empty())
        body.set("tools", std::move(offered));
    add_thinking(body, model, ask.text("thinking"), limit, said);
    mark_last_turns(said);
    body.set("messages", std::move(said));

    auto out = stream_request("/v1/messages", body);
    out.headers.push_back({"anthropic-version", "2023-06-01"});
    if (!endpoint.key.empty())
        out.headers.push_back({"x-api-key", endpoint.key});
    return out;
}

}
