#include "llm/failure.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::providers;
using std::chrono::milliseconds;

namespace {

const Asked asked{.provider = "openai-chat", .model = "m", .base_url = "http://x", .key_source = "OPENAI_API_KEY"};

Failure of(int status, std::string_view body) { return failure_of(complaint_in_body(body, status), asked, {}, false); }

}

TEST_CASE("failures: the service's words, where, and what to do")
{
    auto wrong_key = of(401, R"({"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}})");
    CHECK(wrong_key.line().dump() ==
          R"({"type":"error","error":"Incorrect API key provided (HTTP 401, openai-chat, m). The key came from OPENAI_API_KEY: check it.","error_code":"AUTH_INVALID","status":401})");
    CHECK(!wrong_key.retry);
    CHECK(of(404, R"({"error":{"message":"No such model"}})").message.find("--model") != std::string::npos);
    CHECK(of(400, R"({"error":{"message":"maximum context length is 8192","code":"context_length_exceeded"}})").message.find("/compact") != std::string::npos);
}

TEST_CASE("failures: the shapes of a body")
{
    CHECK(of(400, R"({"error":"model is required"})").message.starts_with("model is required ("));
    CHECK(of(422, R"({"detail":"Unprocessable"})").message.starts_with("Unprocessable ("));
    CHECK(of(400, R"({"object":"error","message":"vLLM's"})").message.starts_with("vLLM's ("));
    CHECK(of(400, R"([{"error":{"message":"in a list","code":400}}])").message.starts_with("in a list ("));
    CHECK(of(502, "<html><head><title>502 Bad Gateway</title></head>").message.starts_with("502 Bad Gateway ("));
    CHECK(of(500, "plain words\n").message.starts_with("plain words ("));
    CHECK(of(500, "").message.starts_with("The service answered without a word ("));
    CHECK(of(500, "bytes \xFF").message.starts_with("bytes \uFFFD ("));
}

TEST_CASE("failures: what Google says in details")
{
    auto key = of(400, R"({"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}})");
    CHECK(key.code == code::auth_invalid);
    CHECK(key.status == 400);
    CHECK(key.message == "API key not valid. Please pass a valid API key (HTTP 400, openai-chat, m). The key came from OPENAI_API_KEY: check it.");
    CHECK(!key.retry);
    auto slow = of(429, R"([{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}])");
    CHECK(slow.after == milliseconds(34'500));
    CHECK(slow.retry);
    CHECK(!of(429, R"({"error":{"message":"x","details":[{"retryDelay":"soon"},{"retryDelay":"-1s"},{"retryDelay":5},7]}})").after);
    auto headed = failure_of(complaint_in_body(R"({"error":{"message":"x","details":[{"retryDelay":"9s"}]}})", 429), asked, {{"Retry-After", "2"}}, false);
    CHECK(headed.after == milliseconds(2000));
}

TEST_CASE("failures: a conversation that is too long, in everybody's words")
{
    for (auto* words : {"prompt is too long: 210000 tokens > 200000 maximum", "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
                        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "Your input exceeds the context window of this model."}) {
        auto failure = of(400, object({{"error", object({{"message", words}})}}).dump());
        INFO(failure.message);
        CHECK(failure.message.find("/compact") != std::string::npos);
        CHECK(failure.code == code::context_overflow);
        CHECK(!failure.retry);
    }
    auto hasty = of(429, R"({"error":{"message":"Too many tokens, please wait before trying again."}})");
    CHECK(hasty.code == code::rate_limit);
    CHECK(hasty.retry);
}

TEST_CASE("failures: what is tried again")
{
    for (int status : {408, 409, 429, 500, 502, 503, 504, 529}) CHECK(of(status, "x").retry);
    for (int status : {400, 401, 402, 403, 404, 413, 418, 422}) CHECK(!of(status, "x").retry);
    CHECK(of(429, "x").code == code::rate_limit);
    CHECK(of(403, "x").code == code::auth_invalid);
    CHECK(of(500, "x").code == code::api_error);
    CHECK(!of(429, R"({"error":{"message":"no money","code":"insufficient_quota"}})").retry);

    auto mid = [](int status, std::string type) { return failure_of(Complaint{.status = status, .message = "m", .type = std::move(type)}, asked, {}, true); };
    CHECK(mid(0, "").retry);
    CHECK(mid(0, "overloaded_error").retry);
    CHECK(mid(0, "rate_limit_exceeded").code == code::rate_limit);
    CHECK(!mid(0, "invalid_request_error").retry);
    CHECK(!mid(400, "").retry);
    CHECK(mid(400, "").message == "m (openai-chat, m)");
    CHECK(failure_of(Error{code::network_error, "host: refused"}, asked).retry);
    CHECK(!failure_of(Error{code::network_error, "host: not trusted", "Do something."}, asked).retry);
}

TEST_CASE("failures: how long to wait")
{
    auto now = std::chrono::system_clock::from_time_t(1'000'000'000);   // Sun, 09 Sep 2001 01:46:40 GMT
    CHECK(retry_after({{"Retry-After", "3"}}, now) == milliseconds(3000));
    CHECK(retry_after({{"retry-after", "0.5"}}, now) == milliseconds(500));
    CHECK(retry_after({{"retry-after", "3"}, {"Retry-After-Ms", "250"}}, now) == milliseconds(250));
    CHECK(retry_after({{"retry-after", "Sun, 09 Sep 2001 01:46:50 GMT"}}, now) == milliseconds(10'000));
    CHECK(retry_after({{"retry-after", "Sun, 09 Sep 2001 01:46:00 GMT"}}, now) == milliseconds(0));
    CHECK(!retry_after({{"retry-after", "soon"}}, now));
    CHECK(!retry_after({{"retry-after", "-1"}}, now));
    CHECK(!retry_after({}, now));

    CHECK(pause_after(1, milliseconds(1000), 0.5) == milliseconds(1000));
    CHECK(pause_after(3, milliseconds(1000), 0.5) == milliseconds(4000));
    CHECK(pause_after(1, milliseconds(1000), 0) == milliseconds(750));
    CHECK(pause_after(4, milliseconds(1000), 0.999) < milliseconds(10'001));
}
