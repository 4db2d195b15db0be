// web_search: what the two web searches share: a request and its answer within a time, lists of
// domains, credentials, and how the outcome is told. Knows no service's format.
#pragma once

#include "applets/applet.h"
#include "base/http.h"

namespace ik::web {

struct Page { std::string title, url, snippet; };
using Pages = std::vector<Page>;

// Pages from some domains only, or from all but some. A domain covers its subdomains, whatever the case;
// in a list it may have a dot, a scheme or a path around it.
class Domains {
public:
    Domains(const std::vector<std::string>& allowed, const std::vector<std::string>& blocked);

    bool admit(std::string_view url) const;
    Pages admitted(Pages) const;

    const std::vector<std::string>& allowed() const { return allowed_; }   // "example.com", each once
    const std::vector<std::string>& blocked() const { return blocked_; }

private:
    std::vector<std::string> allowed_, blocked_;
};

// One of each list in turn, every address once, at most `most`.
Pages merged(const std::vector<Pages>& lists, std::size_t most);

std::string plain_text(std::string_view html);     // no tags, no entities, white space collapsed
std::string one_line(std::string_view text);       // white space collapsed
std::string percent_encoded(std::string_view text);

// A credential: the variable, or the member of the service's section in credentials.json.
struct Secret { const char* variable; const char* member; };

struct Service {
    const char* tool;               // "web_search_brave"
    const char* name;               // "Brave Search"
    const char* address;
    const char* address_variable;   // stands for address
    const char* section;            // of credentials.json
    std::span<const Secret> secrets;
    const char* signup;             // where the secrets come from, in words
    const char* event_data;         // of config_required, as JSON
};

using Secrets = std::vector<std::string>;   // in the order of Service::secrets

// Error: AUTH_MISSING, with what to do about it.
Result<Secrets> secrets(const Service&);

struct Question {
    std::string query;       // "q=x&count=10"
    Headers headers = {};
};

// What the service says to each question; they are asked at once. The body of an answer is there whatever its status.
// Error: NETWORK_ERROR, at the latest after 10 s; API_ERROR for an answer without end.
std::vector<Result<HttpAnswer>> ask(const Service&, const std::vector<Question>&);

// An answer that is no result, as an Error: "Brave Search refused the API key (HTTP 401): SAID".
// said: the service's own words; secrets in them are struck out.
Error refusal(const Service&, const Secrets&, std::string_view code, int status, std::string_view said);

// The last word of a search: {"success":true,"results":[…],"count":N}, or success false and the Error to return.
// AUTH_MISSING is told to the user too, as an event on standard error.
Status tell(const Service&, const Result<Pages>&, Answer&);

}
