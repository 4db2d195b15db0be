#include "llm/dialect.h"

#include "base/random.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace ik::providers {
namespace {

std::string word_at(const Json& value, std::string_view name)
{
    auto* member = value.find(name);
    if (!member || member->null()) return {};
    auto* text = member->as<std::string>();
    return text ? *text : member->dump();
}

int status_in(const Json& error, int otherwise)
{
    for (auto name : {"code", "status", "status_code"})
        if (auto* member = error.find(name); member && member->as<std::int64_t>()) {
            auto n = *member->as<std::int64_t>();
            if (n >= 400 && n < 600)
                return static_cast<int>(n);
        }
    return otherwise;
}

// What a gateway passes on of the service behind it (OpenRouter: error.metadata.raw).
std::string with_detail(std::string message, const Json& error)
{
    auto* metadata = error.find("metadata");
    auto* raw = metadata ? metadata->find("raw") : nullptr;
    auto* text = raw ? raw->as<std::string>() : nullptr;
    if (!text || text->empty())
        return message;
    auto inner = parse_json(*text);
    auto said = inner ? complaint_in(*inner, 0) : std::nullopt;
    return message + ": " + (said ? said->message : std::string(utf8_prefix(*text, 300)));
}

// Google's RetryInfo, "34.5s", and the reason that its ErrorInfo names.
void read_details(const Json& error, Complaint& complaint)
{
    for (auto& detail : list_at(error, "details")) {
        if (auto reason = detail.text("reason"); !reason.empty())
            complaint.type = reason;
        double seconds = 0;
        auto delay = detail.text("retryDelay");
        if (std::from_chars(delay.data(), delay.data() + delay.size(), seconds).ec == std::errc() && seconds >= 0 && seconds < 1e6)
            complaint.after = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
}

// {"type":kind,"text":text}. A list in braces would copy the text, and there is one for each piece of an answer.
Json said(const char* kind, std::string text)
{
    Json::Object line;
    line.reserve(2);
    line.emplace_back("type", kind);
    line.emplace_back("text", std::move(text));
    return line;
}

// The words of an HTML page's title, or the first of the text.
std::string readable(std::string_view body)
{
    auto from = body.find("<title>");
    if (from != body.npos) {
        from += 7;
        return std::string(trim(body.substr(from, body.find('<', from) - from)));
    }
    return body.find('<') == 0 ? "" : std::string(utf8_prefix(trim(body), 300));
}

}

Json text_line(std::string text) { return said("text", std::move(text)); }
Json thinking_line(std::string text) { return said("thinking", std::move(text)); }

Json opaque_line(std::string_view provider, Json data)
{
    return object({{"type", "opaque"}, {"provider", provider}, {"data", std::move(data)}});
}

Json call_line(std::string id, std::string name, Json arguments)
{
    return object({{"type", "tool_call"}, {"id", std::move(id)}, {"name", std::move(name)}, {"arguments", std::move(arguments)}});
}

Json usage_line(std::int64_t input, std::int64_t output, std::int64_t cached, std::int64_t reasoning)
{
    return object({{"type", "usage"}, {"input_tokens", input}, {"output_tokens", output}, {"cached_tokens", cached}, {"reasoning_tokens", reasoning}});
}

Json done_line(std::string_view reason, std::string raw_stop, Json raw_usage)
{
    return object({{"type", "done"}, {"reason", reason}, {"raw_stop", std::move(raw_stop)}, {"raw_usage", std::move(raw_usage)}});
}

Json call_arguments(const std::string& text)
{
    if (trim(text).empty())
        return Json::Object();
    auto value = parse_json(text);
    if (value && value->null())
        return Json::Object();
    return value && value->as<Json::Object>() ? std::move(*value) : Json(text);
}

std::string written_arguments(const Json& call)
{
    auto* arguments = call.find("arguments");
    if (!arguments) return "{}";
    auto* text = arguments->as<std::string>();
    return text ? *text : arguments->dump();
}

Json input_of(const Json& call)
{
    auto* arguments = call.find("arguments");
    if (arguments && arguments->as<Json::Object>())
        return *arguments;
    if (!arguments || arguments->null())
        return Json::Object();
    return object({{"arguments", *arguments}});   // what was no object when it came
}

Json parameters_of(const Json& tool)
{
    auto* parameters = tool.find("parameters");
    if (parameters && parameters->as<Json::Object>())
        return *parameters;
    return object({{"type", "object"}, {"properties", Json::Object()}});
}

std::string_view neutral_reason(std::span<const Reason> reasons, std::string_view raw, std::string_view otherwise)
{
    auto row = std::ranges::find(reasons, raw, &Reason::raw);
    return row == reasons.end() ? otherwise : row->neutral;
}

const std::string* string_at(const Json& value, std::string_view name)
{
    auto* member = value.find(name);
    return member ? member->as<std::string>() : nullptr;
}

const Json::Array& list_at(const Json& value, std::string_view name)
{
    static const Json::Array none;
    auto* member = value.find(name);
    auto* list = member ? member->as<Json::Array>() : nullptr;
    return list ? *list : none;
}

void append_text(Json& to, std::string_view name, const std::string& text)
{
    if (auto* member = to.find(name); member && member->as<std::string>())
        *member->as<std::string>() += text;
    else
        to.set(name, text);
}

std::string made_id() { return "call_" + random_hex(12); }

std::int64_t number_at(const Json* from, std::initializer_list<std::string_view> path)
{
    for (auto name : path)
        from = from ? from->find(name) : nullptr;
    if (auto* whole = from ? from->as<std::int64_t>() : nullptr) return *whole;
    if (auto* real = from ? from->as<double>() : nullptr; real && *real >= 0 && *real < 1e15) return static_cast<std::int64_t>(*real);
    return 0;
}

Complaint broken_off() { return {.message = "The stream broke off before the answer was complete"}; }

std::optional<Json> json_of(const sse::Event& event, Decoded& out)
{
    auto data = trim(event.data);
    if (data.empty() || data == "[DONE]")
        return {};
    auto value = parse_json(data);
    if (value)
        return std::move(*value);
    out.complaint = {.status = 502, .message = "The service sent a piece that is not JSON: " + std::string(utf8_prefix(data, 100))};
    return {};
}

HttpRequest stream_request(std::string path, const Json& body)
{
    return {.path = std::move(path), .headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}}, .body = body.dump()};
}

std::optional<Complaint> complaint_in(const Json& value, int status)
{
    if (auto* list = value.as<Json::Array>(); list && !list->empty())
        return complaint_in(list->front(), status);
    auto* error = value.find("error");
    if (!error || error->null())
        return {};
    if (auto* text = error->as<std::string>())
        return Complaint{.status = status_in(value, status), .message = *text, .type = word_at(value, "code")};
    auto message = word_at(*error, "message");
    auto type = word_at(*error, "code");
    for (auto name : {"type", "status"})
        if (type.empty() || type.find_first_not_of("0123456789") == type.npos)
            type = word_at(*error, name);
    Complaint complaint{.status = status_in(*error, status), .message = with_detail(message.empty() ? error->dump() : message, *error), .type = type};
    read_details(*error, complaint);
    return complaint;
}

Complaint complaint_in_body(std::string_view body, int status)
{
    auto text = clean_utf8(body);
    if (auto value = parse_json(text)) {
        if (auto complaint = complaint_in(*value, status)) {
            complaint->status = status;
            return *complaint;
        }
        for (auto name : {"message", "detail", "error_description"})
            if (auto words = word_at(*value, name); !words.empty())
                return {.status = status, .message = words};
    }
    return {.status = status, .message = readable(text)};
}

}
