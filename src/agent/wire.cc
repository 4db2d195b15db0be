#include "agent/wire.h"

#include "agent/hints.h"
#include "base/text.h"

namespace ik {
namespace {

std::string string_of(const Json& json, std::string_view name) { return std::string(json.text(name)); }

std::int64_t number(const Json& json, std::string_view name)
{
    auto* member = json.find(name);
    auto* value = member ? member->as<std::int64_t>() : nullptr;
    return value ? *value : 0;
}

ModelFailed broken(const std::string& why) { return {"the model process said something that cannot be understood: " + why, std::string(code::llm_failed)}; }

Json member(const Json& json, std::string_view name)
{
    auto* found = json.find(name);
    return found ? *found : Json();
}

// One row a line type of contracts: "ikigai llm", out.
using Reader = std::optional<Event> (*)(const Json&);
constexpr std::pair<std::string_view, Reader> readers[] = {
    {"text", [](const Json& j) -> std::optional<Event> { return ModelSaid{string_of(j, "text")}; }},
    {"thinking", [](const Json& j) -> std::optional<Event> { return ModelThought{string_of(j, "text")}; }},
    {"opaque", [](const Json& j) -> std::optional<Event> {
         return ModelKept{object({{"opaque", member(j, "data")}, {"provider", member(j, "provider")}})};
     }},
    {"tool_call", [](const Json& j) -> std::optional<Event> {
         return ModelCalled{{string_of(j, "id"), string_of(j, "name"), member(j, "arguments")}};
     }},
    {"usage", [](const Json& j) -> std::optional<Event> {
         return ModelUsed{{number(j, "input_tokens"), number(j, "output_tokens"), number(j, "cached_tokens")}};
     }},
    {"retry", [](const Json& j) -> std::optional<Event> {
         return ModelRetried{number(j, "attempt"), number(j, "delay_ms"), string_of(j, "error"), member(j, "discard") == Json(true)};
     }},
    {"error", [](const Json& j) -> std::optional<Event> { return ModelFailed{string_of(j, "error"), string_of(j, "error_code")}; }},
    {"done", [](const Json& j) -> std::optional<Event> { return ModelDone{string_of(j, "reason")}; }},
};

std::string quoted(const std::string& name) { return "Tool '" + clean_utf8(name) + "'"; }

std::string seconds(milliseconds time)
{
    auto tenths = time.count() / 100;
    return std::to_string(tenths / 10) + (tenths % 10 ? "." + std::to_string(tenths % 10) : "") + "s";
}

// The envelope of a call that has no usable answer: what it printed goes with it.
Json failed(std::string_view error_code, std::string message, Json exit_code, std::string out, std::string err)
{
    auto envelope = failure(error_code, std::move(message));
    envelope.set("exit_code", std::move(exit_code));
    envelope.set("stdout", std::move(out));
    envelope.set("stderr", std::move(err));
    return envelope;
}

// Takes `_event` out of an answer.
void take_event(Json& answer, Notices& notices)
{
    auto* members = answer.as<Json::Object>();
    if (!members)
        return;
    std::erase_if(*members, [&](auto& m) {
        if (m.first != "_event") return false;
        if (auto event = notice(m.second.dump())) notices.push_back(*event);
        return true;
    });
}

// stderr in two: events, and words for people.
std::string take_events(const std::string& err, Notices& notices)
{
    std::string words;
    for (auto line : split(err, '\n'))
        if (auto event = notice(line)) notices.push_back(*event);
        else (words += line) += '\n';
    words.pop_back();
    return words;
}

Json envelope(const ToolCall& call, const Ending& end, Output& output, const std::string& err)
{
    auto name = quoted(call.name);
    auto fail = [&](std::string_view error_code, const std::string& what, Json exit_code) {
        return failed(error_code, name + " " + what, std::move(exit_code), output.text, err);
    };
    if (end.cancelled) return fail(code::tool_cancelled, "was cancelled by the user", nullptr);
    if (end.timed_out) return fail(code::tool_timeout, "timed out after " + seconds(end.limit), nullptr);
    if (end.too_many) return fail(code::tool_process_limit, "had more than " + std::to_string(end.processes) + " processes at a time", nullptr);
    if (end.too_big) return fail(code::tool_memory_limit, "used more than " + size_text(end.memory) + " of memory", end.exit.status());
    if (end.too_much) return fail(code::tool_output_limit, "printed more than " + size_text(end.output), nullptr);
    if (!end.broken.empty()) return fail(code::tool_output_limit, "printed more than could be kept: " + end.broken, end.exit.status());
    if (end.exit.signal) return fail(code::tool_crashed, "crashed with exit code " + std::to_string(end.exit.status()), end.exit.status());

    auto* error = output.answer ? output.answer->find("error") : nullptr;
    bool own_report = error && error->as<std::string>();
    if (end.exit.code && !own_report)
        return fail(code::tool_crashed, "crashed with exit code " + std::to_string(end.exit.code), end.exit.code);
    if (!output.answer)
        return fail(code::invalid_output, output.text.empty() ? "returned no output" : "returned invalid JSON", end.exit.code);
    return object({{"tool_success", true}, {"result", *output.answer}});
}

}

std::optional<Event> model_event(std::string_view line)
{
    auto json = parse_json(line);
    if (!json)
        return broken(json.error().message);
    auto type = json->text("type");
    for (auto& [name, read] : readers)
        if (name == type)
            return read(*json);
    return {};
}

std::optional<ServerWindow> server_window(std::string_view line)
{
    constexpr std::string_view start = R"({"type":"window")";   // as ikigai llm writes it: most lines are something else
    auto json = line.starts_with(start) ? parse_json(line) : Result<Json>(Json());
    if (!json || json->text("type") != "window")
        return {};
    return ServerWindow{string_of(*json, "server"), number(*json, "context_tokens"), member(*json, "assumed") == Json(true), member(*json, "cuts") == Json(true)};
}

std::optional<std::vector<std::string>> model_names(const Json& line)
{
    auto* list = line.find("models") ? line.find("models")->as<Json::Array>() : nullptr;
    if (!list)
        return {};
    std::vector<std::string> out;
    for (auto& name : *list)
        if (auto* text = name.as<std::string>()) out.push_back(*text);
    std::ranges::sort(out);
    return out;
}

std::optional<Json> notice(std::string_view line)
{
    if (!trim(line).starts_with('{'))
        return {};
    auto json = parse_json(clean_utf8(trim(line)));
    auto* kind = json ? json->find("kind") : nullptr;
    if (!kind || !kind->as<std::string>())
        return {};
    auto event = object({{"kind", *kind}, {"content", json->text("content")}});
    if (auto* data = json->find("data"))
        event.set("data", *data);
    else if (auto packed = parse_json(json->text("data_json")))
        event.set("data", *packed);
    return event;
}

Report report(const ToolCall& call, const Ending& end, Output output, const std::string& err)
{
    Report out;
    out.words = take_events(clean_utf8(err), out.notices);
    if (output.answer)
        take_event(*output.answer, out.notices);
    out.envelope = envelope(call, end, output, out.words);
    if (auto hint = hint_for(out.envelope, out.words); !hint.empty())
        out.envelope.set("hint", hint);
    out.longs = std::move(output.longs);
    return out;
}

Json in_background(const ToolCall& call, int number, std::string output_so_far, const std::string& output_file)
{
    auto note = quoted(call.name) + " goes on in the background as number " + std::to_string(number) + ". You will be told when it has ended; do not wait for it and do not call it again.";
    if (!output_file.empty())
        note += " Until then its output is in " + output_file + ".";
    return object({{"tool_success", true}, {"result", object({{"background", number}, {"output_so_far", std::move(output_so_far)}, {"note", std::move(note)}})}});
}

std::string told_of_end(const ToolCall& call, int number, const Json& envelope, milliseconds duration)
{
    return quoted(call.name) + ", in the background as number " + std::to_string(number) + ", has ended after " + seconds(duration) + ". Its answer: " + envelope.dump();
}

std::string size_text(std::uint64_t bytes)
{
    constexpr std::string_view units[] = {" bytes", " KB", " MB", " GB", " TB"};
    std::size_t unit = 0;
    for (; bytes && bytes % 1024 == 0 && unit + 1 < std::size(units); bytes /= 1024) ++unit;
    return std::to_string(bytes) + std::string(units[unit]);
}

Json failure(std::string_view error_code, std::string message)
{
    return object({{"tool_success", false}, {"error", std::move(message)}, {"error_code", error_code}});
}

Json not_found(const ToolCall& call) { return failure(code::tool_not_found, quoted(call.name) + " not found"); }

}
