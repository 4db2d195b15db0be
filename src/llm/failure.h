// Failure: why an ask got no answer, in the words that the user sees. Pure.
#pragma once

#include "llm/dialect.h"

#include <chrono>

namespace ik::providers {

struct Failure {
    std::string_view code;    // NETWORK_ERROR, RATE_LIMIT, …
    std::string message;      // with the provider's own words in front
    int status = 0;           // 0: there was no HTTP answer
    bool retry = false;       // another try may help
    std::optional<std::chrono::milliseconds> after = {};   // the service asked to wait that long
    std::string raw_stop = {};

    Json line() const;
};

// Who was asked, for the words.
struct Asked {
    std::string_view provider, model, base_url, key_source;
};

// mid_stream: the complaint came inside an answer of HTTP 200.
Failure failure_of(const Complaint&, const Asked&, const Headers&, bool mid_stream);
Failure failure_of(const Error&, const Asked&);   // no answer, or a cut one

// What `retry-after-ms` or `retry-after` (seconds, or a date seen from now) say.
std::optional<std::chrono::milliseconds> retry_after(const Headers&, std::chrono::system_clock::time_point now);

// The pause before try number `attempt` + 1: doubled each time, a quarter more or less by chance (0 ≤ chance < 1).
std::chrono::milliseconds pause_after(int attempt, std::chrono::milliseconds base, double chance);

}
