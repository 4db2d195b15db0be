// The Chat Completions dialect: OpenAI's older API, which everybody else speaks too.
// https://platform.openai.com/docs/api-reference/chat and what its imitators do.
#pragma once

#include "llm/dialect.h"

namespace ik::providers {

class OpenAiChat {
public:
    Decoded on(const sse::Event&);
    Decoded end();   // the stream has ended; without a finish reason it is broken

private:
    struct Call {
        std::int64_t index;
        std::string id, name, arguments;
    };

    void on_choice(const Json& choice, Decoded&);
    void on_content(const Json& content, Decoded&);
    void on_reasoning(const Json& delta, Decoded&);
    void on_detail(const Json& detail, Decoded&, bool shown);
    void on_call(const Json& call, std::size_t position);
    Decoded finish();

    std::vector<Call> calls_;
    Json opaque_ = Json::Object();      // what this server wants to see again, in its own names
    Json raw_usage_;
    std::string raw_stop_;
    bool refused_ = false, done_ = false;
};

HttpRequest openai_chat_request(const Json& ask, const Endpoint&);

}
