#include "llm/openai_chat.h"

#include "base/text.h"
#include "llm/models.h"
#include "llm/strict.h"

#include <algorithm>

namespace ik::providers {
namespace {

constexpr std::string_view dialect = "openai-chat";

constexpr Reason reasons[] = {
    {"stop", "end_turn"},      {"tool_calls", "tool_use"},       {"function_call", "tool_use"},
    {"length", "max_tokens"},  {"content_filter", "refusal"},
};

// The pieces of one reasoning detail: its texts grow, everything else is replaced.
void merge_detail(Json& into, const Json& piece)
{
    for (auto& [name, value] : *piece.as<Json::Object>()) {
        bool grows = name == "text" || name == "summary" || name == "data";
        if (grows && value.as<std::string>())
            append_text(into, name, *value.as<std::string>());
        else if (!into.find(name) || !(value.null() || value == Json("")))
            into.set(name, value);
    }
}

// A piece continues the last detail when its type and index are the same.
void add_detail(Json::Array& details, const Json& piece)
{
    auto same = [&](std::string_view name) {
        const Json *a = details.back().find(name), *b = piece.find(name);
        return (a ? *a : Json()) == (b ? *b : Json());
    };
    if (details.empty() || !same("type") || !same("index"))
        details.push_back(Json::Object());
    merge_detail(details.back(), piece);
}

}

Decoded OpenAiChat::on(const sse::Event& event)
{
    Decoded out;
    if (!done_ && trim(event.data) == "[DONE]")
        return end();
    auto chunk = done_ ? std::nullopt : json_of(event, out);
    if (!chunk)
        return out;
    if (auto* usage = chunk->find("usage"); usage && usage->as<Json::Object>())
        raw_usage_ = *usage;
    for (auto& choice : list_at(*chunk, "choices"))
        if (number_at(&choice, {"index"}) == 0)
            on_choice(choice, out);
    out.complaint = complaint_in(*chunk, 0);
    if (event.name == "error" && !out.complaint)
        out.complaint = complaint_in_body(event.data, 0);
    if (out.complaint)
        out.complaint->raw_stop = raw_stop_;
    return out;
}

void OpenAiChat::on_choice(const Json& choice, Decoded& out)
{
    if (auto* delta = choice.find("delta")) {
        on_reasoning(*delta, out);
        if (auto* content = delta->find("content"))
            on_content(*content, out);
        if (auto* refusal = string_at(*delta, "refusal"); refusal && !refusal->empty()) {
            refused_ = true;
            out.lines.push_back(text_line(*refusal));
        }
        std::size_t position = 0;
        for (auto& call : list_at(*delta, "tool_calls"))
            on_call(call, position++);
    }
    if (auto* stop = string_at(choice, "finish_reason"); stop && !stop->empty())
        raw_stop_ = *stop;
}

// A text, or a list of parts: {"type":"text","text"} and Mistral's {"type":"thinking","thinking":[parts]}.
void OpenAiChat::on_content(const Json& content, Decoded& out)
{
    if (auto* text = content.as<std::string>(); text && !text->empty())
        out.lines.push_back(text_line(*text));
    auto* parts = content.as<Json::Array>();
    if (!parts)
        return;
    for (auto& part : *parts) {
        if (auto* text = string_at(part, "text"); text && !text->empty())
            out.lines.push_back(text_line(*text));
        for (auto& thought : list_at(part, "thinking"))
            if (auto* text = string_at(thought, "text"); text && !text->empty())
                out.lines.push_back(thinking_line(*text));
    }
}

// `reasoning_content` (DeepSeek, vLLM, llama-server), `reasoning` (OpenRouter, Ollama); beside it
// OpenRouter's `reasoning_details`, which say the same again with signatures.
void OpenAiChat::on_reasoning(const Json& delta, Decoded& out)
{
    bool shown = false;
    for (std::string_view name : {"reasoning_content", "reasoning"})
        if (auto* text = string_at(delta, name); text && !text->empty()) {
            append_text(opaque_, name, *text);
            if (!std::exchange(shown, true))
                out.lines.push_back(thinking_line(*text));
        }
    for (auto& detail : list_at(delta, "reasoning_details"))
        on_detail(detail, out, shown);
}

void OpenAiChat::on_detail(const Json& detail, Decoded& out, bool shown)
{
    if (!detail.as<Json::Object>())
        return;
    if (!opaque_.find("reasoning_details"))
        opaque_.set("reasoning_details", Json::Array());
    add_detail(*opaque_.find("reasoning_details")->as<Json::Array>(), detail);
    for (std::string_view name : {"text", "summary"})
        if (auto* text = string_at(detail, name); text && !text->empty() && !shown)
            out.lines.push_back(thinking_line(*text));
}

// A piece of a call. Servers that send calls whole leave the index out: then a new id, or a name
// without an id, begins a new call.
void OpenAiChat::on_call(const Json& piece, std::size_t position)
{
    auto* id = string_at(piece, "id");
    auto* function = piece.find("function");
    auto* name = function ? string_at(*function, "name") : nullptr;
    auto* index = piece.find("index");

    auto call = calls_.end();
    if (index && index->as<std::int64_t>()) {
        call = std::ranges::find(calls_, *index->as<std::int64_t>(), &Call::index);
        // some servers give every call the index 0
        if (call != calls_.end() && id && !id->empty() && !call->id.empty() && *id != call->id)
            call = std::ranges::find(calls_, *id, &Call::id);
    } else if (id && !id->empty())
        call = std::ranges::find(calls_, *id, &Call::id);
    else if (!name && !calls_.empty())
        call = position < calls_.size() && position > 0 ? calls_.begin() + static_cast<std::ptrdiff_t>(position) : calls_.end() - 1;
    if (call == calls_.end()) {
        auto number = index && index->as<std::int64_t>() ? *index->as<std::int64_t>() : -1;
        call = calls_.insert(call, Call{number, {}, {}, {}});
    }

    if (id && !id->empty()) call->id = *id;
    if (name && !name->empty()) call->name = *name;
    auto* arguments = function ? function->find("arguments") : nullptr;
    if (!arguments || arguments->null())
        return;
    if (auto* text = arguments->as<std::string>())
        call->arguments += *text;
    else
        call->arguments = arguments->dump();   // an object, whole
}

Decoded OpenAiChat::end()
{
    if (done_)
        return {};
    if (raw_stop_.empty())
        return {.complaint = broken_off()};
    return finish();
}

Decoded OpenAiChat::finish()
{
    Decoded out{.done = true};
    done_ = true;
    if (!opaque_.as<Json::Object>()->empty())
        out.lines.push_back(opaque_line(dialect, std::exchange(opaque_, Json::Object())));

    auto reason = refused_ ? "refusal" : neutral_reason(reasons, raw_stop_, "end_turn");
    bool cut = reason == "max_tokens" || reason == "refusal";
    bool called = false;
    for (auto& call : calls_) {
        auto arguments = call_arguments(call.arguments);
        if (call.name.empty() || (cut && !arguments.as<Json::Object>()))
            continue;   // cut off in the middle of a call
        called = true;
        out.lines.push_back(call_line(call.id.empty() ? made_id() : call.id, call.name, std::move(arguments)));
    }
    if (!cut)   // some say "stop" although they call
        reason = called ? "tool_use" : reason == "tool_use" ? "end_turn" : reason;

    if (!raw_usage_.null()) {
        auto cached = number_at(&raw_usage_, {"prompt_tokens_details", "cached_tokens"});
        out.lines.push_back(usage_line(number_at(&raw_usage_, {"prompt_tokens"}), number_at(&raw_usage_, {"completion_tokens"}),
                                       cached ? cached : number_at(&raw_usage_, {"prompt_cache_hit_tokens"}),
                                       number_at(&raw_usage_, {"completion_tokens_details", "reasoning_tokens"})));
    }
    out.lines.push_back(done_line(reason, raw_stop_, raw_usage_));
    return out;
}

namespace {

bool at_openai(const Endpoint& endpoint)
{
    auto url = parse_url(endpoint.base_url);
    return url && url->host == "api.openai.com";
}

// The models that think take their limit under another name, and only there.
bool thinks(std::string_view model) { return model_named(model).thinking == Thinking::effort; }

Json assistant_message(const Json& message, bool openai)
{
    std::string text;
    Json::Array calls;
    Json opaque = Json::Object();
    for (auto& part : list_at(message, "parts")) {
        if (auto* said = string_at(part, "text")) text += *said;
        if (auto* call = part.find("call"))
            calls.push_back(object({{"id", call->text("id")}, {"type", "function"},
                                    {"function", object({{"name", call->text("name")}, {"arguments", written_arguments(*call)}})}}));
        if (part.text("provider") == dialect && part.find("opaque") && !openai)
            opaque = *part.find("opaque");
    }
    auto out = object({{"role", "assistant"}, {"content", text.empty() && !calls.empty() ? Json() : Json(text)}});
    if (auto* members = opaque.as<Json::Object>())
        for (auto& [name, value] : *members)
            out.set(name, value);
    if (!calls.empty()) out.set("tool_calls", std::move(calls));
    return out;
}

Json tool_message(const Json& message)
{
    auto* envelope = message.find("envelope");
    return object({{"role", "tool"}, {"tool_call_id", message.text("id")}, {"content", envelope ? envelope->dump() : "{}"}});
}

Json::Array messages(const Json& ask, bool openai)
{
    Json::Array out;
    if (auto system = ask.text("system"); !system.empty())
        out.push_back(object({{"role", "system"}, {"content", system}}));
    for (auto& message : list_at(ask, "messages")) {
        auto role = message.text("role");
        if (role == "assistant") out.push_back(assistant_message(message, openai));
        else if (role == "tool") out.push_back(tool_message(message));
        else out.push_back(object({{"role", "user"}, {"content", message.text("text")}}));
    }
    return out;
}

Json function(const Json& tool, bool openai)
{
    auto out = object({{"name", tool.text("name")}, {"description", tool.text("description")}});
    auto parameters = parameters_of(tool);
    if (!openai)
        out.set("parameters", std::move(parameters));
    else if (auto strict = strict_schema(parameters)) {
        out.set("parameters", std::move(*strict));
        out.set("strict", true);
    } else {
        out.set("parameters", std::move(parameters));
        out.set("strict", false);
    }
    return object({{"type", "function"}, {"function", std::move(out)}});
}

}

HttpRequest openai_chat_request(const Json& ask, const Endpoint& endpoint)
{
    bool openai = at_openai(endpoint);
    auto body = Json(Json::Object());
    auto model = ask.text("model");
    if (!model.empty()) body.set("model", model);
    body.set("messages", messages(ask, openai));

    Json::Array tools;
    for (auto& tool : list_at(ask, "tools")) tools.push_back(function(tool, openai));
    if (!tools.empty()) body.set("tools", std::move(tools));

    if (auto limit = number_at(&ask, {"max_tokens"}); limit > 0)
        body.set(openai && thinks(model) ? "max_completion_tokens" : "max_tokens", limit);
    if (auto level = ask.text("thinking"); !level.empty() && level != "none" && (!openai || thinks(model)))
        body.set("reasoning_effort", level);
    body.set("stream", true);
    body.set("stream_options", object({{"include_usage", true}}));

    auto out = stream_request("/chat/completions", body);
    if (!endpoint.key.empty())
        out.headers.push_back({"Authorization", "Bearer " + endpoint.key});
    return out;
}

}
