#include "redact.h"

#include "base/process.h"
#include "base/text.h"
#include "environment.h"

#include <algorithm>

namespace ik {
namespace {

struct Span { std::size_t begin, end; };
using Spans = std::vector<Span>;

constexpr std::size_t longest_name = 64, shortest_token = 8, shortest_known = 8;
constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view more_secret_words[] = {"PRIVATE_KEY", "PRIVATEKEY", "ACCESSKEY"};
constexpr std::string_view secret_names[] = {"PASS", "PWD", "PW", "AUTH"};
constexpr std::string_view secret_headers[] = {"AUTHORIZATION", "PROXY_AUTHORIZATION", "COOKIE", "SET_COOKIE"};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }
bool is_token(char c) { return is_name(c) || c == '.' || c == '/' || c == '+' || c == '=' || c == '~'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

// A name as variables are written: X-Api-Key is X_API_KEY.
std::string as_variable(std::string_view name)
{
    std::string out;
    for (char c : name) out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

bool is_header(const std::string& name) { return std::ranges::find(secret_headers, name) != std::end(secret_headers); }

bool names_secret(std::string_view name)
{
    auto big = as_variable(name);
    return looks_secret(big, "") || is_header(big) || std::ranges::find(secret_names, big) != std::end(secret_names)
        || std::ranges::any_of(more_secret_words, [&](auto word) { return big.find(word) != big.npos; });
}

bool begins_word(std::string_view text, std::size_t at) { return at == 0 || !is_name(text[at - 1]); }

std::size_t skip_blanks(std::string_view text, std::size_t at)
{
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    return at;
}

std::size_t end_of(std::string_view text, std::size_t at, std::string_view stop)
{
    return std::min(text.find_first_of(stop, at), text.size());
}

// A value as the shell, JSON and configurations write it: in quotes, with \ before one, or up to what ends a word.
Span value_at(std::string_view text, std::size_t at)
{
    at = skip_blanks(text, at);
    bool escaped = at < text.size() && text[at] == '\\';   // JSON in a string
    at += escaped;
    if (at == text.size() || !is_quote(text[at]))
        return {at, end_of(text, at, " \t\r\n&;,)}]|<>\"'")};
    auto quote = text[at++];
    auto end = at;
    while (end < text.size() && text[end] != quote)
        end += text[end] == '\\' && !escaped ? 2 : 1;
    end = std::min(end, text.size());
    return {at, escaped && end > at && text[end - 1] == '\\' ? end - 1 : end};
}

// Up to the end of the line or of the word in quotes; of Authorization without the word that says what kind it is.
Span header_at(std::string_view text, std::size_t at, const std::string& name)
{
    at = skip_blanks(text, at);
    auto end = end_of(text, at, "\r\n\"'");
    auto kind = end_of(text, at, " ");
    return {name.ends_with("AUTHORIZATION") && kind < end ? kind + 1 : at, end};
}

// NAME=value, NAME: value, "NAME": value
void find_values(std::string_view text, Spans& spans)
{
    for (auto at = text.find_first_of("=:"); at != text.npos; at = text.find_first_of("=:", at + 1)) {
        auto end = at;
        while (end > 0 && (is_quote(text[end - 1]) || text[end - 1] == '\\' || text[end - 1] == ' ')) --end;
        auto begin = end;
        while (begin > 0 && is_name(text[begin - 1]) && end - begin < longest_name) --begin;
        auto name = text.substr(begin, end - begin);
        bool in_address = text[at] == '=' && begin > 0 && (text[begin - 1] == '?' || text[begin - 1] == '&');
        if (name.empty() || !(names_secret(name) || (in_address && lower(name) == "key")))
            continue;
        spans.push_back(is_header(as_variable(name)) ? header_at(text, at + 1, as_variable(name)) : value_at(text, at + 1));
    }
}

// --token value, -u NAME:PASSWORD, Bearer value, and tokens that say what they are.
void find_words(std::string_view text, Spans& spans)
{
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!begins_word(text, at) || !is_name(text[at]))
            continue;
        auto end = at;
        while (end < text.size() && is_name(text[end])) ++end;
        auto word = text.substr(at, end - at);
        bool blank_next = end < text.size() && (text[end] == ' ' || text[end] == '\t');
        if (word.starts_with("-----BEGIN"))
            ;   // find_pem's
        else if (looks_secret("", text.substr(at))) {
            while (end < text.size() && is_token(text[end])) ++end;
            if (end - at > shortest_token) spans.push_back({at, end});
        } else if (blank_next && word.starts_with("--") && names_secret(word.substr(2)))
            spans.push_back(value_at(text, end));
        else if (blank_next && (word == "-u" || word == "--user")) {
            auto value = value_at(text, end);
            auto user = text.substr(value.begin, value.end - value.begin);
            auto colon = user.find(':');
            if (colon != user.npos && user.find_first_not_of("0123456789:") != user.npos)   // 1000:1000 is no password
                spans.push_back({value.begin + colon + 1, value.end});
        } else if (blank_next && lower(word.substr(0, 7)) == "bearer") {
            auto begin = skip_blanks(text, end), after = begin;
            while (after < text.size() && is_token(text[after])) ++after;
            if (after - begin >= shortest_token) spans.push_back({begin, after});
        }
        at = std::max(at, std::min(end, text.size()) - 1);
    }
}

// scheme://user:password@host
void find_addresses(std::string_view text, Spans& spans)
{
    for (auto at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
        auto begin = at + 3;
        auto authority = text.substr(begin, end_of(text, begin, "/?# \t\r\n\"'<>\\") - begin);
        auto host = authority.rfind('@'), colon = authority.find(':');
        if (host != authority.npos && colon < host)
            spans.push_back({begin + colon + 1, begin + host});
    }
}

void find_pem(std::string_view text, Spans& spans)
{
    for (auto at = text.find("-----BEGIN "); at != text.npos;) {
        auto last = text.find("-----END ", at);
        auto end = last == text.npos ? text.npos : text.find("-----", last + 9);
        end = end == text.npos ? text.size() : end + 5;
        spans.push_back({at, end});
        at = text.find("-----BEGIN ", end);
    }
}

void find_known(std::string_view text, const std::vector<std::string>& known, Spans& spans)
{
    for (auto& secret : known)
        for (auto at = secret.empty() ? text.npos : text.find(secret); at != text.npos; at = text.find(secret, at + secret.size()))
            spans.push_back({at, at + secret.size()});
}

}

std::string redacted(std::string_view text, const std::vector<std::string>& known)
{
    Spans spans;
    find_values(text, spans);
    find_words(text, spans);
    find_addresses(text, spans);
    find_pem(text, spans);
    find_known(text, known, spans);
    std::erase_if(spans, [](auto& span) { return span.begin >= span.end; });
    std::ranges::sort(spans, {}, &Span::begin);

    std::string out;
    std::size_t at = 0;
    for (auto& span : spans) {
        if (span.begin >= at) {
            out += text.substr(at, span.begin - at);
            out += redaction;
        }
        at = std::max(at, span.end);
    }
    out += text.substr(at);
    return out;
}

Json redacted_json(const Json& value, const std::vector<std::string>& known)
{
    if (auto* text = value.as<std::string>())
        return redacted(*text, known);
    if (auto* items = value.as<Json::Array>()) {
        Json::Array out;
        for (auto& item : *items) out.push_back(redacted_json(item, known));
        return out;
    }
    if (auto* members = value.as<Json::Object>()) {
        Json::Object out;
        for (auto& [name, member] : *members)
            out.emplace_back(redacted(name, known), names_secret(name) && member.as<std::string>() ? Json(redaction) : redacted_json(member, known));
        return out;
    }
    return value;
}

std::vector<std::string> own_secrets(const std::string& more)
{
    std::vector<std::string> out;
    if (more.size() >= shortest_known) out.push_back(more);
    for (auto& entry : environment()) {
        auto end = entry.find('=');
        if (end == entry.npos || entry.size() - end - 1 < shortest_known)
            continue;
        if (looks_secret(entry.substr(0, end), entry.substr(end + 1)))
            out.push_back(entry.substr(end + 1));
    }
    return out;
}

}
