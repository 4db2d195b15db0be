#include "store/event.h"

#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

std::int64_t number(const Json& json, std::string_view name)
{
    auto* member = json.find(name);
    auto* value = member ? member->as<std::int64_t>() : nullptr;
    return value ? *value : 0;
}

}

// Written by hand: a session may have ten thousand of them.
std::string line_of(const StoredEvent& event)
{
    std::string out = R"({"type":"event")";
    auto add = [&](const char* name, std::string_view text) {
        if (text.empty())
            return;
        ((out += ",\"") += name) += "\":\"";
        append_escaped(out, text);
        out += '"';
    };
    add("session", event.session);
    out += ",\"seq\":" + std::to_string(event.seq);
    add("kind", event.kind);
    add("content", event.content);
    if (!event.data.null())
        out += ",\"data\":" + event.data.dump();
    add("time", event.time);
    add("provider", event.provider);
    add("model", event.model);
    add("folder", event.folder);
    return out + "}";
}

Result<StoredEvent> event_of(const Json& line)
{
    StoredEvent out;
    out.session = line.text("session");
    out.seq = number(line, "seq");
    out.kind = line.text("kind");
    if (!valid_id(out.session))
        return Error{code::invalid_arg, "an event needs a session: letters, digits, - and _, 64 at most"};
    if (out.seq < 1)
        return Error{code::invalid_arg, "an event needs a seq of 1 or more"};
    if (out.kind.empty())
        return Error{code::invalid_arg, "an event needs a kind"};
    out.content = line.text("content");
    if (auto* data = line.find("data")) out.data = *data;
    out.time = line.text("time");
    out.provider = line.text("provider");
    out.model = line.text("model");
    out.folder = line.text("folder");
    return out;
}

bool valid_id(std::string_view id)
{
    auto fits = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_'; };
    return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, fits);
}

Json json_of(const SessionRow& row)
{
    auto out = object({{"id", row.id}, {"title", row.title}, {"folder", row.folder}, {"created", row.created}, {"updated", row.updated},
                       {"provider", row.provider}, {"model", row.model}, {"tokens", row.tokens}, {"events", row.events}});
    if (!row.parent.empty()) {
        out.set("parent", row.parent);
        out.set("parent_seq", row.parent_seq);
    }
    return out;
}

SessionRow row_of(const Json& json)
{
    auto text = [&](const char* name) { return std::string(json.text(name)); };
    return {text("id"), text("title"), text("folder"), text("created"), text("updated"), text("provider"), text("model"),
            number(json, "tokens"), number(json, "events"), text("parent"), number(json, "parent_seq")};
}

Json json_of(const Hit& hit)
{
    return object({{"session", hit.session}, {"seq", hit.seq}, {"kind", hit.kind}, {"time", hit.time}, {"title", hit.title}, {"snippet", hit.snippet}});
}

}
