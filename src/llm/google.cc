#include "llm/google.h"

#include "base/text.h"
#include "llm/models.h"

#include <algorithm>

namespace ik::providers {
namespace {

constexpr std::string_view dialect = "google";
constexpr std::string_view failed = "error";

constexpr Reason reasons[] = {
    {"STOP", "end_turn"},        {"MAX_TOKENS", "max_tokens"},      {"SAFETY", "refusal"},
    {"RECITATION", "refusal"},   {"LANGUAGE", "refusal"},           {"BLOCKLIST", "refusal"},
    {"SPII", "refusal"},         {"PROHIBITED_CONTENT", "refusal"}, {"IMAGE_SAFETY", "refusal"},
    {"MODEL_ARMOR", "refusal"},  {"OTHER", failed},                 {"MALFORMED_FUNCTION_CALL", failed},
    {"MALFORMED_RESPONSE", failed}, {"UNEXPECTED_TOOL_CALL", failed}, {"TOO_MANY_TOOL_CALLS", failed}, {"MISSING_THOUGHT_SIGNATURE", failed},
};

}

Decoded Google::on(const sse::Event& event)
{
    Decoded out;
    auto chunk = done_ ? std::nullopt : json_of(event, out);
    if (!chunk)
        return out;
    if (auto* usage = chunk->find("usageMetadata"); usage && usage->as<Json::Object>())
        raw_usage_ = *usage;
    auto& candidates = list_at(*chunk, "candidates");
    if (!candidates.empty())
        on_candidate(candidates.front(), out);
    if (auto* feedback = chunk->find("promptFeedback"))
        if (auto* why = string_at(*feedback, "blockReason"); why && !why->empty()) {
            blocked_ = true;
            raw_stop_ = *why;
        }
    out.complaint = complaint_in(*chunk, 0);
    if (out.complaint)
        out.complaint->raw_stop = raw_stop_;
    return out;
}

void Google::on_candidate(const Json& candidate, Decoded& out)
{
    if (auto* content = candidate.find("content"))
        for (auto& part : list_at(*content, "parts"))
            on_part(part, out);
    if (auto* stop = string_at(candidate, "finishReason"); stop && !stop->empty())
        raw_stop_ = *stop;
    if (auto* words = string_at(candidate, "finishMessage"))
        words_ = *words;
}

void Google::on_part(const Json& part, Decoded& out)
{
    if (!part.as<Json::Object>())
        return;
    if (auto* call = part.find("functionCall"); call && call->as<Json::Object>())
        return on_call(part, *call, out);
    auto* text = string_at(part, "text");
    auto* signature = string_at(part, "thoughtSignature");
    auto* mark = part.find("thought");
    bool thought = mark && *mark == Json(true);
    if (text && !text->empty())
        out.lines.push_back(thought ? thinking_line(*text) : text_line(*text));
    if (text && !thought && signature)
        out.lines.push_back(opaque_line(dialect, object({{"thoughtSignature", *signature}, {"text", *text}})));
    else if (!text || signature)
        out.lines.push_back(opaque_line(dialect, object({{"part", part}})));
}

// Calls come whole.
void Google::on_call(const Json& part, const Json& call, Decoded& out)
{
    auto* given = string_at(call, "id");
    auto id = given && !given->empty() ? *given : made_id();
    if (auto* signature = string_at(part, "thoughtSignature"))
        out.lines.push_back(opaque_line(dialect, object({{"thoughtSignature", *signature}, {"call", id}})));
    auto* args = call.find("args");
    out.lines.push_back(call_line(std::move(id), std::string(call.text("name")), args && !args->null() ? *args : Json(Json::Object())));
    called_ = true;
}

// There may be more parts, and the usage, behind the finish reason: it counts when the stream is over.
Decoded Google::end()
{
    if (done_)
        return {};
    if (raw_stop_.empty())
        return {.complaint = broken_off()};
    return finish();
}

Decoded Google::finish()
{
    done_ = true;
    auto reason = blocked_ ? "refusal" : neutral_reason(reasons, raw_stop_, "end_turn");
    if (reason == failed)
        return {.complaint = Complaint{.message = words_.empty() ? "The model's answer cannot be used: " + raw_stop_ : words_, .type = raw_stop_, .raw_stop = raw_stop_}};
    if (called_ && reason == "end_turn")
        reason = "tool_use";
    Decoded out{.done = true};
    if (!raw_usage_.null()) {
        auto thoughts = number_at(&raw_usage_, {"thoughtsTokenCount"});   // which Google counts apart
        out.lines.push_back(usage_line(number_at(&raw_usage_, {"promptTokenCount"}) + number_at(&raw_usage_, {"toolUsePromptTokenCount"}),
                                       number_at(&raw_usage_, {"candidatesTokenCount"}) + thoughts,
                                       number_at(&raw_usage_, {"cachedContentTokenCount"}), thoughts));
    }
    out.lines.push_back(done_line(reason, raw_stop_, raw_usage_));
    return out;
}

namespace {

constexpr std::string_view known[] = {"title", "description", "nullable", "enum", "maxItems", "minItems", "required", "minProperties", "maxProperties",
                                     "minLength", "maxLength", "pattern", "minimum", "maximum", "propertyOrdering"};
constexpr std::string_view formats[] = {"float", "double", "int32", "int64", "enum", "date-time"};

bool texts_only(const Json& list)
{
    auto* values = list.as<Json::Array>();
    return values && std::ranges::all_of(*values, [](auto& v) { return v.template as<std::string>() != nullptr; });
}

// ["string","null"] is a nullable string; of several types the first.
void add_type(const Json& type, Json& out)
{
    auto* several = type.as<Json::Array>();
    if (!several) {
        out.set("type", type);
        return;
    }
    for (auto& one : *several)
        if (one == Json("null"))
            out.set("nullable", true);
        else if (!out.find("type"))
            out.set("type", one);
}

Json::Array schemas(const Json& list)
{
    Json::Array out;
    if (auto* given = list.as<Json::Array>())
        for (auto& one : *given)
            if (one.text("type") != "null") out.push_back(google_schema(one));
    return out;
}

Json properties(const Json& given)
{
    Json out = Json::Object();
    if (auto* members = given.as<Json::Object>())
        for (auto& [name, schema] : *members) out.set(name, google_schema(schema));
    return out;
}

bool one_of(std::span<const std::string_view> names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

bool takes(std::string_view name, const Json& value)
{
    if (name == "format") {
        auto* text = value.as<std::string>();
        return !text || one_of(formats, *text);
    }
    return one_of(known, name) && (name != "enum" || texts_only(value));
}

}

Json google_schema(const Json& schema)
{
    Json out = Json::Object();
    auto* members = schema.as<Json::Object>();
    if (!members)
        return out;
    for (auto& [name, value] : *members)
        if (name == "type") add_type(value, out);
        else if (name == "properties") out.set(name, properties(value));
        else if (name == "items") out.set(name, google_schema(value));
        else if (name == "anyOf" || name == "oneOf") out.set("anyOf", schemas(value));
        else if (name == "const" && value.as<std::string>()) out.set("enum", Json::Array{value});
        else if (takes(name, value)) out.set(name, value);
    if (out.text("type") == "array" && !out.find("items"))
        out.set("items", object({{"type", "string"}}));   // which it demands
    return out;
}

namespace {

// One assistant message as parts.
class Parts {
public:
    explicit Parts(const Json& message) : message_(message) {}

    Json::Array all(bool signs)
    {
        for (auto& part : list_at(message_, "parts")) {
            if (auto* text = string_at(part, "text"); text && !text->empty()) out_.push_back(object({{"text", *text}}));
            if (auto* kept = part.find("opaque"); kept && part.text("provider") == dialect) add_kept(*kept);
            if (auto* call = part.find("call")) add_call(*call, signs);
        }
        return std::move(out_);
    }

private:
    void add_kept(const Json& kept)
    {
        if (auto* part = kept.find("part"))
            out_.push_back(*part);
        auto* text = string_at(kept, "text");
        if (!text)
            return;
        cut_from_last(*text);
        out_.push_back(object({{"text", *text}, {"thoughtSignature", kept.text("thoughtSignature")}}));
    }

    // The text that has a part of its own is also the end of the text before it.
    void cut_from_last(std::string_view end)
    {
        auto* last = out_.empty() || out_.back().find("thoughtSignature") || out_.back().find("thought") ? nullptr : out_.back().find("text");
        auto* text = last ? last->as<std::string>() : nullptr;
        if (!text || end.empty() || !text->ends_with(end))
            return;
        text->resize(text->size() - end.size());
        if (text->empty()) out_.pop_back();
    }

    void add_call(const Json& call, bool signs)
    {
        auto id = call.text("id");
        auto part = object({{"functionCall", object({{"id", id}, {"name", call.text("name")}, {"args", input_of(call)}})}});
        auto signature = signature_of(id);
        // Gemini 3 refuses a first call that nobody signed, as those of other models; this word is its own way around.
        if (signature.empty() && signs && !called_) signature = "skip_thought_signature_validator";
        if (!signature.empty()) part.set("thoughtSignature", signature);
        called_ = true;
        out_.push_back(std::move(part));
    }

    std::string_view signature_of(std::string_view id) const
    {
        for (auto& part : list_at(message_, "parts"))
            if (auto* kept = part.find("opaque"); kept && part.text("provider") == dialect && kept->find("call") && kept->text("call") == id)
                return kept->text("thoughtSignature");
        return {};
    }

    const Json& message_;
    Json::Array out_ = {};
    bool called_ = false;
};

Json response_part(const Json& message)
{
    auto* envelope = message.find("envelope");
    auto response = envelope && envelope->as<Json::Object>() ? *envelope : Json(Json::Object());
    return object({{"functionResponse", object({{"id", message.text("id")}, {"name", message.text("name")}, {"response", std::move(response)}})}});
}

Json::Array user_parts(const Json& message)
{
    if (message.text("role") == "tool")
        return {response_part(message)};
    return message.text("text").empty() ? Json::Array() : Json::Array{object({{"text", message.text("text")}})};
}

// The results of a turn are one content and hold nothing else; so is what the user's side says after them.
Json::Array contents(const Json& ask, bool signs)
{
    Json::Array out;
    std::string_view before;
    for (auto& message : list_at(ask, "messages")) {
        auto role = message.text("role");
        auto parts = role == "assistant" ? Parts(message).all(signs) : user_parts(message);
        if (parts.empty())
            continue;
        if (role == "assistant" || role != before)
            out.push_back(object({{"role", role == "assistant" ? "model" : "user"}, {"parts", Json::Array()}}));
        auto& all = *out.back().find("parts")->as<Json::Array>();
        all.insert(all.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
        before = role;
    }
    return out;
}

Json declaration(const Json& tool)
{
    auto out = object({{"name", tool.text("name")}, {"description", tool.text("description")}});
    auto parameters = google_schema(parameters_of(tool));
    auto* properties = parameters.find("properties");
    if (properties && !properties->as<Json::Object>()->empty())   // an object without members is refused by some models
        out.set("parameters", std::move(parameters));
    return out;
}

// What each level is where tokens are counted; 2.5 Pro cannot do without a little.
struct Level { std::string_view name; std::int64_t budget; };
constexpr Level levels[] = {{"none", 0}, {"low", 1024}, {"medium", 8192}, {"high", 24576}};
constexpr std::int64_t least_of_pro = 128;

Json thinking(std::string_view name, std::string_view level)
{
    auto row = std::ranges::find(levels, level, &Level::name);
    auto kind = model_named(name).thinking;
    if (row == std::end(levels) || kind == Thinking::none)
        return {};
    if (kind == Thinking::budget) {
        auto least = name.find("pro") == name.npos ? 0 : least_of_pro;
        return object({{"includeThoughts", level != "none"}, {"thinkingBudget", std::max(row->budget, least)}});
    }
    bool two_levels = name.find("gemini-3-pro") != name.npos;
    if (level == "none")
        level = "low";
    return object({{"includeThoughts", true}, {"thinkingLevel", two_levels && level == "medium" ? "high" : level}});
}

std::string escaped(std::string_view model)
{
    constexpr char hex[] = "0123456789ABCDEF";
    if (model.starts_with("models/")) model.remove_prefix(7);
    std::string out;
    for (unsigned char c : model)
        if (std::string_view("-._~").find(static_cast<char>(c)) != std::string_view::npos || (c < 128 && std::isalnum(c)))
            out += static_cast<char>(c);
        else
            out += {'%', hex[c >> 4], hex[c & 15]};
    return out;
}

}

HttpRequest google_request(const Json& ask, const Endpoint& endpoint)
{
    auto model = ask.text("model");
    auto body = object({{"contents", contents(ask, model_named(model).thinking == Thinking::level)}});
    if (auto system = ask.text("system"); !system.empty())
        body.set("systemInstruction", object({{"parts", Json::Array{object({{"text", system}})}}}));

    Json::Array tools;
    for (auto& tool : list_at(ask, "tools")) tools.push_back(declaration(tool));
    if (!tools.empty())
        body.set("tools", Json::Array{object({{"functionDeclarations", std::move(tools)}})});

    Json config = Json::Object();
    if (auto limit = number_at(&ask, {"max_tokens"}); limit > 0) config.set("maxOutputTokens", limit);
    if (auto think = thinking(model, ask.text("thinking")); !think.null()) config.set("thinkingConfig", std::move(think));
    if (!config.as<Json::Object>()->empty()) body.set("generationConfig", std::move(config));

    auto out = stream_request("/v1beta/models/" + escaped(model) + ":streamGenerateContent?alt=sse", body);
    if (!endpoint.key.empty())
        out.headers.push_back({"x-goog-api-key", endpoint.key});
    return out;
}

}
