#include "llm/openai_responses.h"

#include "base/text.h"
#include "llm/models.h"
#include "llm/strict.h"

#include <algorithm>

namespace ik::providers {
namespace {

constexpr std::string_view dialect = "openai-responses";

constexpr Reason incomplete[] = {{"max_output_tokens", "max_tokens"}, {"content_filter", "refusal"}};

// The members of an item that say something; services refuse a null that they sent themselves.
Json without(Json item, std::initializer_list<std::string_view> names)
{
    std::erase_if(*item.as<Json::Object>(), [&](auto& m) { return m.second.null() || std::ranges::find(names, m.first) != names.end(); });
    return item;
}

std::string_view string_in(const Json& event, std::string_view name)
{
    auto* text = string_at(event, name);
    return text ? std::string_view(*text) : std::string_view();
}

}

Decoded OpenAiResponses::on(const sse::Event& event)
{
    Decoded out;
    auto value = done_ ? std::nullopt : json_of(event, out);
    if (!value)
        return out;
    auto type = value->text("type");
    auto delta = string_in(*value, "delta");
    if (type == "response.output_text.delta" || type == "response.refusal.delta") {
        refused_ = refused_ || type == "response.refusal.delta";
        said_ = said_ || !delta.empty();
        if (!delta.empty()) out.lines.push_back(text_line(std::string(delta)));
    } else if (type == "response.reasoning_summary_part.added") {
        if (thought_) out.lines.push_back(thinking_line("\n\n"));
    } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
        thought_ = true;
        if (!delta.empty()) out.lines.push_back(thinking_line(std::string(delta)));
    } else if (type == "response.function_call_arguments.delta") {
        auto index = number_at(&*value, {"output_index"});
        auto call = std::ranges::find(arguments_, index, [](auto& a) { return a.first; });
        if (call == arguments_.end()) call = arguments_.insert(call, {index, {}});
        call->second += delta;
    } else if (type == "response.output_item.done") {
        if (auto* item = value->find("item"); item && item->as<Json::Object>()) on_item(*item, *value, out);
    } else if (type == "response.completed" || type == "response.incomplete")
        return finish(*value);
    else if (type == "response.failed") {
        auto* response = value->find("response");
        out.complaint = response ? complaint_in(*response, 0) : std::nullopt;
        if (!out.complaint) out.complaint = Complaint{.message = "The service gave up without saying why"};
        out.complaint->raw_stop = "failed";
    } else if (type == "error" || event.name == "error") {
        out.complaint = complaint_in(*value, 0);
        if (!out.complaint) out.complaint = Complaint{.message = std::string(value->text("message")), .type = std::string(value->text("code"))};
    } else
        out.complaint = complaint_in(*value, 0);   // what is new, and pieces of items that come whole later, hold none
    return out;
}

void OpenAiResponses::on_item(const Json& item, const Json& event, Decoded& out)
{
    auto type = item.text("type");
    if (type == "function_call")
        return on_call(item, event, out);
    if (type == "message")
        return on_message(item, out);
    bool empty = type == "reasoning" && list_at(item, "content").empty();
    if (!type.empty())
        out.lines.push_back(opaque_line(dialect, without(item, {empty ? "content" : ""})));
}

void OpenAiResponses::on_message(const Json& item, Decoded& out)
{
    for (auto& part : list_at(item, "content"))
        for (auto* name : {"text", "refusal"})
            if (auto* text = string_at(part, name); text && !text->empty() && !said_)   // some servers send no deltas
                out.lines.push_back(text_line(*text));
    said_ = false;
    out.lines.push_back(opaque_line(dialect, without(item, {"content"})));
}

void OpenAiResponses::on_call(const Json& item, const Json& event, Decoded& out)
{
    std::string text(item.text("arguments"));
    auto pieces = std::ranges::find(arguments_, number_at(&event, {"output_index"}), [](auto& a) { return a.first; });
    if (text.empty() && pieces != arguments_.end()) text = pieces->second;
    auto arguments = call_arguments(text);
    if (item.text("status") == "incomplete" && !arguments.as<Json::Object>())
        return;   // cut off in the middle
    called_ = true;
    std::string id(item.text("call_id"));
    if (id.empty()) id = item.text("id");
    if (id.empty()) id = made_id();
    if (item.find("id")) {
        auto kept = without(item, {"arguments", "name", "status"});
        kept.set("call_id", id);
        out.lines.push_back(opaque_line(dialect, std::move(kept)));
    }
    out.lines.push_back(call_line(std::move(id), std::string(item.text("name")), std::move(arguments)));
}

Decoded OpenAiResponses::end()
{
    if (done_)
        return {};
    return {.complaint = broken_off()};
}

Decoded OpenAiResponses::finish(const Json& event)
{
    Decoded out{.done = true};
    done_ = true;
    auto* found = event.find("response");
    auto response = found ? *found : Json();
    std::string status(response.text("status"));
    if (status.empty()) status = event.text("type").substr(std::string_view("response.").size());

    std::string_view reason = refused_ ? "refusal" : called_ ? "tool_use" : "end_turn";
    if (status == "incomplete") {
        auto* details = response.find("incomplete_details");
        reason = neutral_reason(incomplete, details ? details->text("reason") : "", "max_tokens");
    }
    auto* usage = response.find("usage");
    if (usage && usage->as<Json::Object>())
        out.lines.push_back(usage_line(number_at(usage, {"input_tokens"}), number_at(usage, {"output_tokens"}),
                                       number_at(usage, {"input_tokens_details", "cached_tokens"}),
                                       number_at(usage, {"output_tokens_details", "reasoning_tokens"})));
    out.lines.push_back(done_line(reason, std::move(status), usage ? *usage : Json()));
    return out;
}

namespace {

// The items of one assistant message.
class Items {
public:
    explicit Items(const Json& message) : message_(message) {}

    Json::Array all()
    {
        for (auto& part : list_at(message_, "parts")) {
            if (auto* text = string_at(part, "text")) text_ += *text;
            if (auto* kept = own(part)) add_kept(*kept);
            if (auto* call = part.find("call")) add_call(*call);
        }
        add_text(nullptr);
        drop_loose_reasoning();
        return std::move(out_);
    }

private:
    static const Json* own(const Json& part) { return part.text("provider") == dialect ? part.find("opaque") : nullptr; }

    void add_kept(const Json& kept)
    {
        auto type = kept.text("type");
        if (type == "message")
            return add_text(&kept);
        if (type == "function_call")
            return;   // found again by its call
        if (type == "reasoning" && kept.text("encrypted_content").empty())
            return;   // nothing is stored there: its id alone means nothing
        add_text(nullptr);
        out_.push_back(kept);
    }

    // The text so far as one message: as the item that it came in, or, when that never ended, a plain one.
    void add_text(const Json* item)
    {
        auto text = std::exchange(text_, {});
        if (text.empty())
            return;
        if (!item) {
            out_.push_back(object({{"role", "assistant"}, {"content", std::move(text)}}));
            return;
        }
        auto message = *item;
        message.set("content", Json::Array{object({{"type", "output_text"}, {"text", std::move(text)}, {"annotations", Json::Array()}})});
        out_.push_back(std::move(message));
    }

    void add_call(const Json& call)
    {
        add_text(nullptr);
        auto id = call.text("id");
        auto item = object({{"type", "function_call"}});
        for (auto& part : list_at(message_, "parts"))
            if (auto* kept = own(part); kept && kept->text("type") == "function_call" && kept->text("call_id") == id) item = *kept;
        item.set("call_id", id);
        item.set("name", call.text("name"));
        item.set("arguments", written_arguments(call));
        out_.push_back(std::move(item));
    }

    // Reasoning must be followed by the item that it led to; in a turn that was interrupted that is missing.
    void drop_loose_reasoning()
    {
        auto led_to = [&](std::size_t i) { return i < out_.size() && (out_[i].find("id") || out_[i].text("type") == "function_call"); };
        for (auto i = out_.size(); i-- > 0;)
            if (out_[i].text("type") == "reasoning" && !led_to(i + 1))
                out_.erase(out_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    const Json& message_;
    Json::Array out_ = {};
    std::string text_ = {};
};

Json::Array input(const Json& ask)
{
    Json::Array out;
    for (auto& message : list_at(ask, "messages")) {
        auto role = message.text("role");
        auto* envelope = message.find("envelope");
        if (role == "assistant") {
            auto items = Items(message).all();
            out.insert(out.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
        } else if (role == "tool")
            out.push_back(object({{"type", "function_call_output"}, {"call_id", message.text("id")}, {"output", envelope ? envelope->dump() : "{}"}}));
        else
            out.push_back(object({{"role", "user"}, {"content", message.text("text")}}));
    }
    return out;
}

Json function(const Json& tool)
{
    auto parameters = parameters_of(tool);
    auto strict = strict_schema(parameters);
    bool made = strict.has_value();
    return object({{"type", "function"}, {"name", tool.text("name")}, {"description", tool.text("description")},
                   {"parameters", made ? std::move(*strict) : std::move(parameters)}, {"strict", made}});
}

// Only models that think can be asked for their thoughts.
void add_reasoning(Json& body, const Json& ask)
{
    auto kind = model_named(ask.text("model"));
    bool known = !kind.start.empty();
    if (known && kind.thinking == Thinking::none)
        return;
    body.set("include", Json::Array{"reasoning.encrypted_content"});
    if (auto level = ask.text("thinking"); !level.empty() && level != "none")
        body.set("reasoning", object({{"effort", level}, {"summary", "auto"}}));
}

}

HttpRequest openai_responses_request(const Json& ask, const Endpoint& endpoint)
{
    auto body = object({{"model", ask.text("model")}});
    if (auto system = ask.text("system"); !system.empty()) body.set("instructions", system);
    body.set("input", input(ask));

    Json::Array tools;
    for (auto& tool : list_at(ask, "tools")) tools.push_back(function(tool));
    if (!tools.empty()) body.set("tools", std::move(tools));

    if (auto limit = number_at(&ask, {"max_tokens"}); limit > 0) body.set("max_output_tokens", limit);
    add_reasoning(body, ask);
    body.set("store", false);
    body.set("stream", true);

    auto out = stream_request("/responses", body);
    if (!endpoint.key.empty())
        out.headers.push_back({"Authorization", "Bearer " + endpoint.key});
    return out;
}

}
