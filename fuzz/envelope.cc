// What a tool printed on its two outputs, as the envelope that the model sees. The first byte says how it ended.
#include "fuzz/fuzz.h"

#include "agent/loop_guard.h"
#include "base/text.h"
#include "spill.h"

namespace ik::fuzz {

void envelope(std::string_view bytes)
{
    if (bytes.empty())
        return;
    auto how = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    auto err = take(bytes);
    Printed out(Outbox(scratch(), "call"));
    out.append(bytes.substr(0, bytes.size() / 2));
    out.append(bytes.substr(bytes.size() / 2));
    ToolCall call{"call", "tool", Json::Object{}};
    Ending ending{.exit = {.code = how & 1, .signal = how & 2 ? 9 : 0}, .timed_out = (how & 4) != 0, .cancelled = (how & 8) != 0, .too_much = (how & 16) != 0};
    auto told = report(call, ending, out.read(), std::string(err));
    std::size_t most = how & 128 ? 2048 : 51200;
    auto capped_envelope = capped(std::move(told), out, most);
    auto text = capped_envelope.dump();
    claim(text.size() <= most, "an envelope keeps to its size");
    claim(valid_utf8(text) && parse_json(text), "and is JSON");
    LoopGuard guard;
    guard.judged(call, capped_envelope);
}

}
