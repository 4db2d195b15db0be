// A stream decoded in pieces of a size, for the tests of every dialect.
#pragma once

#include "llm/provider.h"

namespace ik::test {

struct Decoding {
    std::vector<Json> lines;
    std::optional<providers::Complaint> complaint;
    bool done = false;

    std::string joined(std::string_view type) const;      // the text of all lines of the type
    std::vector<Json> all(std::string_view type) const;
    Json one(std::string_view type) const;                // the only line of the type; null when there is none or are several
};

// size 0: the whole stream at once.
Decoding decode(std::string_view provider, std::string_view bytes, std::size_t size = 0);

std::string with_crlf(std::string_view stream);
inline constexpr std::size_t read_sizes[] = {1, 7, 1371, 0};

// Checks that all recordings of a provider decode to what their .expect.json says,
// at all read sizes and with both line ends.
void check_recordings(std::string_view provider);

// The messages of a conversation: what the user said, what the decoding says the model answered, and an
// envelope for each of its calls, in the form that `ikigai llm` takes.
Json::Array answered(std::string_view said, const Decoding&, const Json& envelope);

// The body of the row's request.
Json body_of(std::string_view provider, const Json& ask);

// A recording's stream, and a request that was recorded; nothing where there are no recordings.
std::optional<std::string> recorded_stream(std::string_view provider, const std::string& name);
Json recorded_request(std::string_view provider, const std::string& name);

}
