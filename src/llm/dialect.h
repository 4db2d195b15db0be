// What every dialect is given (an ask, an endpoint) and gives (a request, neutral lines, the
// service's complaint), and the pieces that several of them share.
#pragma once

#include "base/http.h"
#include "base/json.h"
#include "llm/sse.h"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace ik::providers {

// Where to ask, and as whom.
struct Endpoint {
    std::string base_url;       // without a slash at its end
    std::string key;
    std::string key_source;     // the variable or file that the key came from
    Headers headers = {};       // from the configuration, sent as they are
};

// The service's own complaint, in the middle of a stream or instead of one.
struct Complaint {
    int status = 0;              // HTTP's, or the one the stream names; 0 when there is none
    std::string message;
    std::string type = {};       // its code or type, a word like rate_limit_exceeded
    std::string raw_stop = {};   // when it had already said why it stopped
    std::optional<std::chrono::milliseconds> after = {};   // it asks to wait that long
};

// What one event of the stream adds.
struct Decoded {
    std::vector<Json> lines = {};
    std::optional<Complaint> complaint = {};   // nothing comes after it
    bool done = false;                         // the last line is `done`: nothing comes after it
};

// The neutral lines.
Json text_line(std::string text);
Json thinking_line(std::string text);
Json opaque_line(std::string_view provider, Json data);
Json call_line(std::string id, std::string name, Json arguments);
Json usage_line(std::int64_t input, std::int64_t output, std::int64_t cached, std::int64_t reasoning);
Json done_line(std::string_view reason, std::string raw_stop, Json raw_usage);

// The arguments of a call as the model wrote them: an object; {} for nothing at all; the text
// itself when it is no JSON object, so that the check against the schema refuses it in words.
Json call_arguments(const std::string& text);

// The arguments of a call in the history: an object for those who want one, text for the others.
Json input_of(const Json& call);
std::string written_arguments(const Json& call);

// The parameters of a tool; an object without members when it names none.
Json parameters_of(const Json& tool);

// Why a model stopped: the service's word and ours.
struct Reason { std::string_view raw, neutral; };
std::string_view neutral_reason(std::span<const Reason>, std::string_view raw, std::string_view otherwise);

// Members that may be missing: null, an empty list.
const std::string* string_at(const Json& value, std::string_view name);
const Json::Array& list_at(const Json& value, std::string_view name);

// Appends to the string member called name.
void append_text(Json& to, std::string_view name, const std::string& text);

// An id for a call whose service gave none: random, so the same never comes twice.
std::string made_id();

// The number at path of members; 0 when there is none.
std::int64_t number_at(const Json* from, std::initializer_list<std::string_view> path);

// The JSON of an event. Nothing for one without data and for [DONE]; nothing, and the complaint in out,
// for one that cannot be read.
std::optional<Json> json_of(const sse::Event&, Decoded& out);

// A stream that ended before its closing event.
Complaint broken_off();

// POST, JSON there and events back.
HttpRequest stream_request(std::string path, const Json& body);

// {"error":{"message","type","code"}} and the other shapes that services use; nothing when value holds no error.
std::optional<Complaint> complaint_in(const Json& value, int status);

// The same for the body of an answer that is not 2xx.
Complaint complaint_in_body(std::string_view body, int status);

}
