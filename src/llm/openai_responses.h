// The Responses dialect of OpenAI, without anything stored there: what it must see again goes back
// to it with each request. https://platform.openai.com/docs/api-reference/responses-streaming
//
// Items that are not said in neutral lines are kept whole (reasoning with its encrypted content);
// of messages and calls only what the neutral form has no place for: {"type","id","phase",…}.
#pragma once

#include "llm/dialect.h"

namespace ik::providers {

class OpenAiResponses {
public:
    Decoded on(const sse::Event&);
    Decoded end();   // the stream has ended; without its last event it is broken

private:
    void on_item(const Json& item, const Json& event, Decoded&);
    void on_message(const Json& item, Decoded&);
    void on_call(const Json& item, const Json& event, Decoded&);
    Decoded finish(const Json& event);

    std::vector<std::pair<std::int64_t, std::string>> arguments_;   // of the calls that are streamed, by output_index
    bool said_ = false;       // something of the message that is streamed
    bool thought_ = false;    // a part of a summary has been said: the next begins a paragraph
    bool refused_ = false, called_ = false, done_ = false;
};

HttpRequest openai_responses_request(const Json& ask, const Endpoint&);

}
