#include "spill.h"

#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

struct Text {
    std::string path;
    Json* json;
    std::size_t encoded;
};

std::size_t encoded_size(std::string_view text)
{
    std::string out;
    append_escaped(out, text);
    return out.size();
}

void collect(Json& json, const std::string& path, std::vector<Text>& texts)
{
    if (auto* text = json.as<std::string>())
        texts.push_back({path, &json, encoded_size(*text)});
    else if (auto* array = json.as<Json::Array>())
        for (std::size_t i = 0; i < array->size(); ++i)
            collect((*array)[i], path + "." + std::to_string(i), texts);
    else if (auto* object = json.as<Json::Object>())
        for (auto& [name, member] : *object)
            collect(member, path + "." + name, texts);
}

// The longest start (or end) of text that takes at most size bytes encoded.
std::string_view fitting(std::string_view text, std::size_t size, std::string_view (*part)(std::string_view, std::size_t))
{
    auto bytes = std::min(text.size(), size);
    while (bytes > 0 && encoded_size(part(text, bytes)) > size)
        bytes -= std::max<std::size_t>(1, (encoded_size(part(text, bytes)) - size) / 6);
    return part(text, bytes);
}

constexpr std::size_t marker_room = 160;   // besides the path

class Cutter {
public:
    Cutter(Report& report, Printed& out) : report_(report), out_(out) {}

    Json cut(std::size_t max)
    {
        auto size = report_.envelope.dump().size();
        if (size <= max && report_.longs.empty() && !stdout_is_short())
            return std::move(report_.envelope);
        std::vector<Text> texts;
        for (auto* name : {"result", "stdout", "stderr"})
            if (auto* member = report_.envelope.find(name))
                collect(*member, name, texts);

        std::size_t marker = marker_room + out_.outbox().path("result").size() + 64;
        auto total = [&](std::size_t limit) {
            std::size_t sum = size;
            for (auto& t : texts)
                if (auto after = std::min(t.encoded, limit) + marker; is_long(t) || t.encoded > limit + marker)
                    sum = sum + after - t.encoded;
            return sum;
        };
        std::size_t low = 256, high = max;   // the longest that a string may be
        if (total(low) > max)
            return too_many_parts();
        while (low + 1 < high)
            (total((low + high) / 2) <= max ? low : high) = (low + high) / 2;
        for (auto& t : texts)
            if (is_long(t) || t.encoded > low + marker)
                shorten(t, low);
        return std::move(report_.envelope);
    }

private:
    bool stdout_is_short() const { return report_.envelope.find("stdout") && out_.is_long(); }

    const Long* whole(const Text& text) const
    {
        auto it = std::ranges::find(report_.longs, text.path, &Long::path);
        return it == report_.longs.end() ? nullptr : &*it;
    }
    bool is_long(const Text& text) const { return whole(text) || (text.path == "stdout" && stdout_is_short()); }

    void shorten(Text& text, std::size_t limit)
    {
        auto& string = *text.json->as<std::string>();
        std::size_t size = string.size();
        Result<std::string> file = Error{code::write_failed, "no room"};
        if (auto* known = whole(text)) {
            size = known->size;
            if (!known->file.empty()) file = known->file;
        } else if (text.path == "stdout" && stdout_is_short()) {
            size = out_.size();
            file = out_.keep(text.path);
        } else
            file = out_.outbox().keep(string, text.path);

        auto head = fitting(string, limit / 2, utf8_prefix), tail = fitting(string, limit / 2, utf8_suffix);
        auto missing = size - std::min(size, head.size() + tail.size());
        string = std::string(head) + "\n[" + std::to_string(missing) + " bytes left out here; "
               + (file ? "the whole text is in " + *file : "the rest could not be kept") + "]\n" + std::string(tail);
    }

    // Many small members: cutting strings is not enough.
    Json too_many_parts()
    {
        auto file = out_.keep("result");
        auto kept = file ? object({{"truncated", true}, {"path", *file}}) : object({{"truncated", true}, {"error", file.error().message}});
        if (report_.envelope.find("result"))
            report_.envelope.set("result", std::move(kept));
        else
            report_.envelope.set("stdout", kept.dump());
        return std::move(report_.envelope);
    }

    Report& report_;
    Printed& out_;
};

}

Json capped(Report report, Printed& out, std::size_t max)
{
    auto envelope = Cutter(report, out).cut(max);
    if (!envelope.find("result"))
        out.discard();
    return envelope;
}

}
