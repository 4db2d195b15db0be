#include "story.h"

#include "agent/wire.h"
#include "base/date.h"

#include <algorithm>
#include <map>

namespace ik {
namespace {

std::int64_t number(const Json& json, std::string_view name, std::int64_t otherwise)
{
    auto* member = json.find(name);
    auto* value = member ? member->as<std::int64_t>() : nullptr;
    return value ? *value : otherwise;
}

Json said(const std::string& text) { return object({{"role", "user"}, {"text", text}}); }

// The events that count, after rewinds and the last compaction.
std::vector<const StoredEvent*> counting(std::span<const StoredEvent> events)
{
    std::vector<const StoredEvent*> all;
    for (auto& event : events) {
        auto to = event.kind == "rewind" ? number(event.data, "to", -1) : -1;
        if (to >= 0)
            std::erase_if(all, [&](auto* e) { return e->seq > to; });
        else
            all.push_back(&event);
    }
    auto last = std::find_if(all.rbegin(), all.rend(), [](auto* e) { return e->kind == "compaction"; });
    if (last == all.rend())
        return all;
    auto* compaction = *last;
    auto keep = number(compaction->data, "keep", compaction->seq);
    std::erase_if(all, [&](auto* e) { return e != compaction && (e->seq < keep || (e->kind == "compaction" && e->seq < compaction->seq)); });
    // The summary stands for what came first.
    std::erase(all, compaction);
    all.insert(all.begin(), compaction);
    return all;
}

Json::Array parts_of(const StoredEvent& reply)
{
    auto* parts = reply.data.find("parts");
    if (auto* array = parts ? parts->as<Json::Array>() : nullptr)
        return *array;
    return reply.content.empty() ? Json::Array() : Json::Array{object({{"text", reply.content}})};
}

class Messages {
public:
    void on(const StoredEvent& e)
    {
        if (e.kind == "user") {
            close();
            put(said(e.content), e.seq);
        } else if (e.kind == "assistant") {
            close();
            parts_ = parts_of(e);
            seq_ = e.seq;
        } else if (e.kind == "tool_call")
            calls_[std::string(e.data.text("id"))] = e.data;
        else if (e.kind == "tool_result")
            if (auto* envelope = e.data.find("envelope")) envelopes_[std::string(e.data.text("id"))] = *envelope;
    }

    Story take()
    {
        close();
        return std::move(out_);
    }

private:
    // The reply and the answers to its calls. A call that was never told in full was never made.
    void close()
    {
        Json::Array parts, answers;
        for (auto& part : std::exchange(parts_, {})) {
            auto* call = part.find("call");
            if (!call) {
                parts.push_back(std::move(part));
                continue;
            }
            auto id = std::string(call->text("id"));
            auto whole = call->find("name") ? Json(*call) : calls_.contains(id) ? calls_[id] : Json();
            if (whole.null())
                continue;
            auto envelope = envelopes_.contains(id) ? envelopes_[id] : failure(code::tool_cancelled, "interrupted before there was a result");
            answers.push_back(object({{"role", "tool"}, {"id", id}, {"name", whole.text("name")}, {"envelope", std::move(envelope)}}));
            parts.push_back(object({{"call", std::move(whole)}}));
        }
        if (!parts.empty())
            put(object({{"role", "assistant"}, {"parts", std::move(parts)}}), seq_);
        for (auto& answer : answers)
            put(std::move(answer), 0);
        calls_.clear();
        envelopes_.clear();
    }

    void put(Json message, std::int64_t seq)
    {
        out_.messages.push_back(std::move(message));
        out_.seqs.push_back(seq);
    }

    Story out_;
    Json::Array parts_;                       // of the reply that is open
    std::int64_t seq_ = 0;                    // its event's
    std::map<std::string, Json> calls_, envelopes_;
};

}

Story story_of(std::span<const StoredEvent> events)
{
    auto all = counting(events);
    auto told = [](auto&& some) {
        Messages messages;
        for (auto* event : some)
            messages.on(*event);
        return messages.take();
    };
    auto* compaction = !all.empty() && all.front()->kind == "compaction" ? all.front() : nullptr;
    if (!compaction)
        return told(all);
    auto later = std::ranges::find_if(all, [&](auto* event) { return event->seq > compaction->seq; });
    auto kept = told(std::span(all.begin() + 1, later)), rest = told(std::span(later, all.end()));
    auto* summary = compaction->data.find("summary");
    Compacted how{.summary = summary ? *summary : said(compaction->content), .longest_envelope = static_cast<std::size_t>(number(compaction->data, "longest_envelope", 0))};
    Story out{compacted(kept.messages, how), {}};
    out.seqs.assign(out.messages.size() - kept.seqs.size(), 0);
    for (auto* part : {&kept.seqs, &rest.seqs}) out.seqs.insert(out.seqs.end(), part->begin(), part->end());
    std::ranges::move(rest.messages, std::back_inserter(out.messages));
    return out;
}

StoredEvent Scribe::compacted(const Compacted& done)
{
    auto stayed = seqs_.begin() + static_cast<std::ptrdiff_t>(std::min(done.kept_from, seqs_.size()));
    auto keep = std::find_if(stayed, seqs_.end(), [](auto seq) { return seq > 0; });
    auto out = note("compaction", std::string(done.summary.text("text")), object({{"summary", done.summary}, {"longest_envelope", done.longest_envelope}}));
    if (keep != seqs_.end()) out.data.set("keep", *keep);
    std::vector<std::int64_t> kept(stayed, seqs_.end());   // what is not written down yet stays behind them
    seqs_.assign(done.in_front, 0);
    seqs_.insert(seqs_.end(), kept.begin(), kept.end());
    return out;
}

StoredEvent Scribe::note(std::string kind, std::string content, Json data)
{
    auto out = what_;
    out.seq = next_++;
    out.kind = std::move(kind);
    out.content = std::move(content);
    out.data = std::move(data);
    out.time = utc_time();
    return out;
}

std::vector<StoredEvent> Scribe::after(const Event& event, const Session& session)
{
    std::vector<StoredEvent> out;
    for (auto& messages = session.messages(); seqs_.size() < messages.size();) {
        auto& message = messages[seqs_.size()];
        seqs_.push_back(message.text("role") == "tool" ? 0 : next_);
        if (message.text("role") == "user")
            out.push_back(note("user", std::string(message.text("text"))));
        if (message.text("role") != "assistant")
            continue;   // results are written down as they come
        std::string text;
        Json::Array parts, calls;
        for (auto part : *message.find("parts")->as<Json::Array>()) {
            text += part.text("text");
            if (auto* call = part.find("call")) {
                calls.push_back(*call);
                part = object({{"call", object({{"id", call->text("id")}})}});
            }
            parts.push_back(std::move(part));
        }
        bool only_text = parts.size() == 1 && parts[0].find("text");
        out.push_back(note("assistant", std::move(text), only_text ? Json() : object({{"parts", std::move(parts)}})));
        for (auto& call : calls)
            out.push_back(note("tool_call", "", std::move(call)));
    }
    if (auto* used = std::get_if<ModelUsed>(&event))
        out.push_back(note("usage", "", object({{"input_tokens", used->usage.input}, {"output_tokens", used->usage.output}, {"cached_tokens", used->usage.cached}})));
    else if (auto* done = std::get_if<ToolDone>(&event))
        out.push_back(note("tool_result", "", object({{"id", done->id}, {"envelope", done->envelope}})));
    else if (auto* failed = std::get_if<ModelFailed>(&event))
        out.push_back(note("interrupted", failed->error, object({{"error_code", failed->error_code}})));
    else if (std::holds_alternative<Interrupted>(event))
        out.push_back(note("interrupted", ""));
    return out;
}

}
