#include "llm/failure.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace ik::providers {
namespace {

using std::chrono::milliseconds;

// What a complaint's type says where no status does. The first that it contains counts.
struct Word { std::string_view part; int status; };
constexpr Word words[] = {
    {"rate_limit", 429}, {"quota", 429},   {"overloaded", 529}, {"unavailable", 503},  {"timeout", 408},    {"server_error", 500}, {"api_error", 500},
    {"authentication", 401}, {"api_key", 401}, {"permission", 403}, {"not_found", 404}, {"context_length", 400}, {"invalid", 400},
};

struct Rule {
    int status;
    std::string_view code;
    bool retry;
    std::string_view advice;
};
constexpr Rule rules[] = {
    {400, code::api_error, false, ""},
    {401, code::auth_invalid, false, ""},   // says where the key came from
    {402, code::api_error, false, "The account has no credit left."},
    {403, code::auth_invalid, false, "The key may not use this model or this service."},
    {404, code::api_error, false, "Check the name of the model (--model) and the address (--base-url)."},
    {408, code::api_error, true, "Try again."},
    {409, code::api_error, true, "Try again."},
    {413, code::api_error, false, "The conversation is too long: /compact shortens it."},
    {422, code::api_error, false, ""},
    {429, code::rate_limit, true, "Wait a little, then try again."},
    {503, code::api_error, true, "The service is overloaded or down: try again later."},
    {529, code::api_error, true, "The service is overloaded: try again later."},
};

Rule rule_for(int status)
{
    if (auto* rule = std::ranges::find(rules, status, &Rule::status); rule != std::end(rules))
        return *rule;
    if (status >= 500)
        return {status, code::api_error, true, "The service has a problem: try again later."};
    return {status, code::api_error, false, ""};
}

int status_of(const Complaint& complaint)
{
    if (complaint.status)
        return complaint.status;
    auto type = lower(complaint.type);
    for (auto& word : words)
        if (type.find(word.part) != type.npos)
            return word.status;
    return 0;
}

bool contains(std::string_view text, std::string_view part) { return lower(text).find(part) != std::string::npos; }

// How services say that a conversation does not fit.
constexpr std::string_view too_long_words[] = {"context length", "context window", "context size", "context limit", "too many tokens", "prompt is too long", "input is too long", "exceeds the maximum number of tokens"};

bool too_long(const Complaint& c)
{
    if (c.status == 429)
        return false;   // too many tokens a minute
    return c.status == 413 || contains(c.type, "context_length") || std::ranges::any_of(too_long_words, [&](auto part) { return contains(c.message, part); });
}

// Google refuses a key with HTTP 400.
int status_that_counts(const Complaint& complaint)
{
    int status = status_of(complaint);
    return status == 400 && contains(complaint.type, "api_key_invalid") ? 401 : status;
}

std::string advice(const Complaint& complaint, const Rule& rule, const Asked& asked, const Headers& headers)
{
    if (complaint.status >= 300 && complaint.status < 400)
        return "The address " + std::string(asked.base_url) + " leads on to " + std::string(header(headers, "location")) + ": set that one (--base-url).";
    if (too_long(complaint))
        return "The conversation is too long for this model: /compact shortens it.";
    if (contains(complaint.type, "insufficient_quota"))
        return "The account has no credit left.";
    if (rule.status != 401)
        return std::string(rule.advice);
    if (asked.key_source.empty())
        return "No key was sent.";
    return "The key came from " + std::string(asked.key_source) + ": check it.";
}

std::string where(const Asked& asked, int http_status)
{
    std::string out = " (";
    if (http_status) out += "HTTP " + std::to_string(http_status) + ", ";
    out += asked.provider;
    if (!asked.model.empty()) out += ", " + std::string(asked.model);
    return out + ")";
}

std::optional<double> number(std::string_view text)
{
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value < 1e9))
        return {};
    return value;
}

}

Json Failure::line() const
{
    auto out = object({{"type", "error"}, {"error", message}, {"error_code", code}});
    if (status) out.set("status", status);
    if (!raw_stop.empty()) out.set("raw_stop", raw_stop);
    return out;
}

Failure failure_of(const Complaint& complaint, const Asked& asked, const Headers& headers, bool mid_stream)
{
    int status = status_that_counts(complaint);
    auto rule = status ? rule_for(status) : Rule{0, code::api_error, true, ""};
    auto said = complaint.message;
    if (said.empty())
        said = "The service answered without a word";
    auto help = advice(complaint, rule, asked, headers);
    while (said.ends_with('.')) said.pop_back();
    Failure failure{.code = too_long(complaint) ? code::context_overflow : rule.code, .message = said + where(asked, mid_stream ? 0 : complaint.status) + (help.empty() ? "" : ". " + help), .status = complaint.status ? complaint.status : status};
    failure.retry = rule.retry && !too_long(complaint) && !contains(complaint.type, "insufficient_quota");
    failure.after = retry_after(headers, std::chrono::system_clock::now());
    if (!failure.after) failure.after = complaint.after;
    failure.raw_stop = complaint.raw_stop;
    return failure;
}

Failure failure_of(const Error& error, const Asked& asked)
{
    return {.code = error.code, .message = error.message + where(asked, 0) + (error.hint.empty() ? "" : ". " + error.hint),
            .retry = error.code == code::network_error && error.hint.empty()};
}

std::optional<milliseconds> retry_after(const Headers& headers, std::chrono::system_clock::time_point now)
{
    if (auto ms = number(header(headers, "retry-after-ms")))
        return milliseconds(static_cast<std::int64_t>(*ms));
    std::string text(header(headers, "retry-after"));
    if (auto s = number(text))
        return milliseconds(static_cast<std::int64_t>(*s * 1000));
    std::tm date{};
    if (text.empty() || !strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date))
        return {};
    auto then = std::chrono::system_clock::from_time_t(timegm(&date));
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(then - now));
}

milliseconds pause_after(int attempt, milliseconds base, double chance)
{
    auto doubled = static_cast<double>(base.count()) * static_cast<double>(1 << std::min(attempt - 1, 10));
    return milliseconds(static_cast<std::int64_t>(doubled * (0.75 + chance / 2)));
}

}
