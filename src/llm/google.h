// The Gemini dialect of Google. https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
//
// Where a thoughtSignature was is kept beside the part that it came on, as one of
//   {"thoughtSignature","call":ID}      on that call
//   {"thoughtSignature","text":TEXT}    on a text part of its own, the end of the text before it
//   {"part":{…}}                        on any other part, which is kept whole
#pragma once

#include "llm/dialect.h"

namespace ik::providers {

class Google {
public:
    Decoded on(const sse::Event&);
    Decoded end();   // the stream has ended; without a finish reason it is broken

private:
    void on_candidate(const Json& candidate, Decoded&);
    void on_part(const Json& part, Decoded&);
    void on_call(const Json& part, const Json& call, Decoded&);
    Decoded finish();

    Json raw_usage_;
    std::string raw_stop_, words_;   // why it stopped, and what it says about that
    bool called_ = false, blocked_ = false, done_ = false;
};

HttpRequest google_request(const Json& ask, const Endpoint&);

// parameters as Gemini's Schema, which knows fewer keywords than JSON Schema and refuses the others.
Json google_schema(const Json& parameters);

}
