// wire: what a child's bytes mean. Model lines become events, a tool's end becomes its envelope.
// Starts nothing and writes nothing.
#pragma once

#include "agent/session.h"
#include "base/child.h"

namespace ik {

// One line of `ikigai llm`. What cannot be understood is a ModelFailed.
// No event: a line that the session need not know.
std::optional<Event> model_event(std::string_view line);

// What the model's server says of how much it reads: the line of type window.
struct ServerWindow {
    std::string server;          // "Ollama"
    std::int64_t tokens = 0;     // 0: it does not say
    bool assumed = false;        // it is the server's usual one, which may have been changed
    bool cuts = false;           // what is longer loses its beginning without a word
};
std::optional<ServerWindow> server_window(std::string_view line);

// The names in a line of type models, sorted; nothing where there is no list of them.
std::optional<std::vector<std::string>> model_names(const Json& line);

// Messages for the user that the model does not see (ikigai-tools.7, EVENTS).
using Notices = std::vector<Json>;

// Whether the text is an event object: it has a `kind`. data_json is turned into data.
std::optional<Json> notice(std::string_view line);

// A string too long to be parsed: its ends, and where the rest is.
struct Long {
    std::string path;      // of the member, as "result.output" or "result.files.0.name"
    std::size_t size = 0;  // of the whole decoded string, in bytes
    std::string file;      // where the whole string is; empty when it could not be kept
};

// What a tool answered, ready to be put into an envelope.
struct Report {
    Json envelope;
    std::vector<Long> longs;
    Notices notices;
    std::string words;   // its other stderr
};

// How a call ended, apart from what it said.
struct Ending {
    Exit exit;
    bool timed_out = false, cancelled = false;
    bool too_much = false, too_big = false, too_many = false;   // its output, its memory, its processes: more than the limit
    std::string broken = {};          // why its output could not be kept or read: a full disk
    milliseconds limit{};
    std::uint64_t output = 256u << 20, memory = 0, processes = 0;   // the limits
};

// stdout of a tool that reported: parsed; otherwise as text.
struct Output {
    Result<Json> answer = Error{code::invalid_output, "no output"};
    std::string text;     // cut where it is long
    std::vector<Long> longs;
};

Report report(const ToolCall&, const Ending&, Output, const std::string& err);

// What the model is told of a call that goes on in the background.
Json in_background(const ToolCall&, int number, std::string output_so_far, const std::string& output_file);
std::string told_of_end(const ToolCall&, int number, const Json& envelope, milliseconds duration);

// "512 MB", "1000 bytes"
std::string size_text(std::uint64_t bytes);

// An envelope for a call that never ran.
Json failure(std::string_view error_code, std::string message);
Json not_found(const ToolCall&);

}
