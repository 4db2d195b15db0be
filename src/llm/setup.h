// Setup: whom `ikigai llm` asks, with which key, and how long it waits.
#pragma once

#include "base/url.h"
#include "llm/provider.h"

#include <chrono>
#include <optional>

namespace ik::providers {

// What `ikigai chat` says in its first line. By hand there is none: then the environment counts.
struct Setup {
    std::string provider, base_url, key, key_source;
    Headers headers;
    bool strict = false;
    std::chrono::milliseconds retry_base{1000};
    HttpLimits limits;
};

Setup setup_of(const Json& line);   // of type setup

// Where the row's service is asked: as the setup says, or as the environment does.
Endpoint endpoint_of(const Provider& row, const std::optional<Setup>&);

// Only the services' own addresses are known to want a key. Error: AUTH_MISSING, with the variable to set.
Status check_key(const Provider& row, const Endpoint&, const Url&);

}
