// The Messages dialect of Anthropic. https://docs.anthropic.com/en/api/messages-streaming
#pragma once

#include "llm/dialect.h"

namespace ik::providers {

class Anthropic {
public:
    Decoded on(const sse::Event&);
    Decoded end();   // the stream has ended; without message_stop it is broken

private:
    void on_usage(const Json* usage);
    void on_start(const Json& event, Decoded&);
    void on_delta(const Json& event, Decoded&);
    void on_stop(Decoded&);
    Decoded finish();

    Json block_;              // the content block that is streamed, as it has grown; null between two
    std::string input_;       // its pieces of JSON
    Json::Array cut_calls_;   // calls whose input is no object: said only when the reply was not cut
    Json raw_usage_;
    std::string raw_stop_;
    bool called_ = false, done_ = false;
};

HttpRequest anthropic_request(const Json& ask, const Endpoint&);

}
