#include "applets/web_search.h"

#include "base/credentials.h"
#include "base/fd.h"
#include "base/places.h"
#include "base/text.h"

#include <charconv>
#include <future>
#include <system_error>
#include <thread>

namespace ik::web {
namespace {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr HttpLimits limits{.connect = seconds(6), .silence = seconds(8)};
constexpr seconds whole_time{10};                    // of all questions; whatever a server does
constexpr std::size_t max_body = 4 << 20, longest_tag = 1000;
constexpr std::size_t max_said = 300;

// ---- domains

// "https://Example.com:443/path", "*.example.com", ".example.com." -> "example.com"
std::string host_of(std::string_view text)
{
    text = trim(text);
    if (auto scheme = text.find("://"); scheme != text.npos)
        text.remove_prefix(scheme + 3);
    text = text.substr(0, text.find_first_of("/?#\\"));
    if (auto user = text.rfind('@'); user != text.npos)
        text.remove_prefix(user + 1);
    if (auto colon = text.find(':'); colon != text.npos && colon == text.rfind(':'))
        text = text.substr(0, colon);
    if (text.starts_with("*."))
        text.remove_prefix(2);
    while (text.starts_with('.'))
        text.remove_prefix(1);
    while (text.ends_with('.'))
        text.remove_suffix(1);
    return lower(text);
}

std::vector<std::string> hosts_of(const std::vector<std::string>& list)
{
    std::vector<std::string> out;
    for (auto& each : list)
        if (auto host = host_of(each); !host.empty() && std::ranges::find(out, host) == out.end())
            out.push_back(host);
    return out;
}

bool covers(const std::string& domain, const std::string& host) { return host == domain || host.ends_with("." + domain); }

bool any_covers(const std::vector<std::string>& domains, const std::string& host)
{
    return std::ranges::any_of(domains, [&](auto& domain) { return covers(domain, host); });
}

// ---- text

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Entity { std::string_view name, text; };
constexpr Entity entities[] = {
    {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}, {"nbsp", " "}, {"hellip", "…"}, {"mdash", "—"}, {"ndash", "–"},
    {"lsquo", "‘"}, {"rsquo", "’"}, {"ldquo", "“"}, {"rdquo", "”"}, {"laquo", "«"}, {"raquo", "»"}, {"middot", "·"}, {"bull", "•"},
    {"copy", "©"}, {"reg", "®"}, {"trade", "™"}, {"euro", "€"}, {"shy", ""},
};

// These stand inside a word; others part words.
constexpr std::string_view inline_tags[] = {"strong", "b", "em", "i", "u", "mark", "span", "a", "code", "sub", "sup", "small", "wbr"};

void append_character(std::string& out, std::uint32_t c)
{
    auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
    if (c < 0x80) return put(c);
    if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
    if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
}

// "#x27" or "#39" without the signs around it.
std::optional<std::uint32_t> numbered(std::string_view name)
{
    bool hex = name.starts_with("#x") || name.starts_with("#X");
    auto digits = name.substr(hex ? 2 : 1);
    std::uint32_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

// Takes the entity at the front of text; false when there is none.
bool take_entity(std::string_view& text, std::string& out)
{
    auto end = text.substr(0, 12).find(';');
    if (end == text.npos)
        return false;
    auto name = text.substr(1, end - 1);
    auto known = std::ranges::find(entities, name, &Entity::name);
    auto number = name.starts_with('#') ? numbered(name) : std::nullopt;
    if (known == std::end(entities) && !number)
        return false;
    if (number) append_character(out, *number);
    else out += known->text;
    text.remove_prefix(end + 1);
    return true;
}

// Takes the tag at the front of text; false when the < is just one.
bool take_tag(std::string_view& text, std::string& out)
{
    auto end = text.substr(0, longest_tag).find('>');
    auto name = text.substr(1, end - 1);
    if (name.starts_with('/')) name.remove_prefix(1);
    if (end == text.npos || name.empty() || !(is_letter(name[0]) || name[0] == '!'))
        return false;
    auto last = std::ranges::find_if(name, [](char c) { return !is_letter(c); });
    if (std::ranges::find(inline_tags, lower({name.begin(), last})) == std::end(inline_tags))
        out += ' ';
    text.remove_prefix(end + 1);
    return true;
}

// ---- credentials

Error missing(std::string why)
{
    return {code::auth_missing, "Web search requires API key configuration.\n\n" + std::move(why)};
}

// The variable, else the member of the service's section, else the member with the variable's name. Empty: there is none.
Result<std::string> credential(const Service& service, const Secret& secret)
{
    auto set = variable(secret.variable);
    if (auto value = trim(set); !value.empty())
        return std::string(value);
    auto file = read_credentials(credentials_path());
    if (!file.warning.empty())
        return missing(file.warning);
    for (auto& text : {file.at({"web_search", service.section, secret.member}), file.at({secret.variable})})
        if (auto value = trim(text); !value.empty())
            return std::string(value);
    return std::string();
}

// What to do where some of the secrets are missing.
std::string instructions(const Service& service)
{
    std::string variables;
    Json::Object members;
    for (auto& secret : service.secrets) {
        variables += (variables.empty() ? "" : " and ") + std::string(secret.variable);
        members.emplace_back(secret.member, "...");
    }
    auto file = object({{"web_search", object({{service.section, std::move(members)}})}});
    return std::string(service.signup) + "\n\nThen set " + variables + ", or write this to " + (credentials_path().empty() ? "~/.config/ikigai/credentials.json" : credentials_path())
         + " (chmod 600):\n" + file.dump();
}

// ---- asking

Error no_answer(const std::string& host, const std::string& why) { return {code::network_error, host + ": " + why}; }

// A hint is part of the sentence here: these answers have no member for it.
Error unreachable(const Error& error)
{
    return {code::network_error, error.message + (error.hint.empty() ? "" : ". " + error.hint)};
}

Result<Url> address(const Service& service)
{
    auto own = parse_url(service.address);
    auto named = variable(service.address_variable);
    if (named.empty())
        return own;
    auto url = parse_url(named);
    if (!url)   // its text may hold a password: not repeated
        return Error{code::network_error, std::string(service.address_variable) + " is not an http or https address"};
    if (url->path.empty() || url->path == "/")
        url->path = own->path;
    return url;
}

Result<HttpAnswer> exchange(Http& http, const HttpRequest& request)
{
    std::string body;
    auto answer = http.send(request, [&](std::string_view bytes) {
        body += bytes;
        return body.size() <= max_body;
    });
    if (!answer)
        return unreachable(answer.error());
    if (body.size() > max_body)
        return Error{code::api_error, "The answer is longer than 4 MB"};
    if (answer->ok())
        answer->body = std::move(body);
    return answer;
}

// An exchange in a thread of its own, that is left behind where it takes too long: nothing else bounds the look-up
// of a name, or a server that says a byte now and then. What the thread works with belongs to it.
class Pending {
public:
    Pending(Http http, HttpRequest request)
    {
        std::packaged_task<Result<HttpAnswer>()> task([http = std::move(http), request = std::move(request)]() mutable { return exchange(http, request); });
        answer_ = task.get_future();
        thread_ = std::thread(std::move(task));
    }
    Pending(Pending&&) = default;
    ~Pending()
    {
        if (thread_.joinable())
            thread_.detach();
    }

    std::optional<Result<HttpAnswer>> answer_by(Clock::time_point end)
    {
        if (answer_.wait_until(end) == std::future_status::timeout)
            return {};
        thread_.join();
        return answer_.get();
    }

private:
    std::future<Result<HttpAnswer>> answer_;
    std::thread thread_;
};

Result<Pending> start(const Url& url, const Question& question)
{
    auto http = Http::to(url, limits);   // not in the thread: it writes to the environment
    if (!http)
        return unreachable(http.error());
    auto path = url.path + (url.path.find('?') == url.path.npos ? "?" : "&") + question.query;
    try {
        return Pending(std::move(*http), {.method = "GET", .path = std::move(path), .headers = question.headers});
    } catch (const std::system_error& error) {   // no thread: too many processes
        return no_answer(url.host, std::string("cannot ask: ") + error.what());
    }
}

Result<HttpAnswer> outcome(Result<Pending>& pending, const Url& url, Clock::time_point end)
{
    if (!pending)
        return pending.error();
    if (auto answer = pending->answer_by(end))
        return std::move(*answer);
    return no_answer(url.host, "no complete answer within " + std::to_string(whole_time.count()) + " s");
}

// ---- telling

struct Outcome { std::string_view code, words; };
constexpr Outcome outcomes[] = {
    {code::auth_invalid, " refused the API key"},
    {code::rate_limit, " allows no more requests for now"},
    {code::api_error, " could not answer"},
};

std::string without_secrets(std::string text, const Secrets& secrets)
{
    for (auto& secret : secrets)
        for (auto at = text.find(secret); at != text.npos; at = text.find(secret, at + 3))
            text.replace(at, secret.size(), "***");
    return text;
}

}

Domains::Domains(const std::vector<std::string>& allowed, const std::vector<std::string>& blocked)
    : allowed_(hosts_of(allowed)), blocked_(hosts_of(blocked))
{
}

bool Domains::admit(std::string_view url) const
{
    auto host = host_of(url);
    return (allowed_.empty() || any_covers(allowed_, host)) && !any_covers(blocked_, host);
}

Pages Domains::admitted(Pages pages) const
{
    std::erase_if(pages, [&](auto& page) { return !admit(page.url); });
    return pages;
}

Pages merged(const std::vector<Pages>& lists, std::size_t most)
{
    Pages out;
    std::size_t longest = 0;
    for (auto& list : lists)
        longest = std::max(longest, list.size());
    for (std::size_t i = 0; i < longest; ++i)
        for (auto& list : lists)
            if (i < list.size() && out.size() < most && std::ranges::find(out, list[i].url, &Page::url) == out.end())
                out.push_back(list[i]);
    return out;
}

std::string one_line(std::string_view text)
{
    std::string out;
    for (char c : trim(text))
        if (!is_space(c)) out += c;
        else if (!out.empty() && out.back() != ' ') out += ' ';
    return out;
}

std::string plain_text(std::string_view html)
{
    std::string out;
    while (!html.empty()) {
        if (html[0] == '<' && take_tag(html, out)) continue;
        if (html[0] == '&' && take_entity(html, out)) continue;
        out += html[0];
        html.remove_prefix(1);
    }
    return one_line(out);
}

std::string percent_encoded(std::string_view text)
{
    constexpr auto digits = "0123456789ABCDEF";
    std::string out;
    for (char c : text) {
        auto byte = static_cast<unsigned char>(c);
        if (is_letter(c) || (c >= '0' && c <= '9') || std::string_view("-._~").find(c) != std::string_view::npos) out += c;
        else ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
    }
    return out;
}

Result<Secrets> secrets(const Service& service)
{
    Secrets out;
    for (auto& secret : service.secrets) {
        auto value = credential(service, secret);
        if (!value)
            return value.error();
        if (value->empty())
            return missing(instructions(service));
        out.push_back(std::move(*value));
    }
    return out;
}

std::vector<Result<HttpAnswer>> ask(const Service& service, const std::vector<Question>& questions)
{
    auto url = address(service);
    if (!url)
        return {url.error()};
    auto end = Clock::now() + whole_time;
    std::vector<Result<Pending>> pending;
    for (auto& question : questions)
        pending.push_back(start(*url, question));
    std::vector<Result<HttpAnswer>> out;
    for (auto& each : pending)
        out.push_back(outcome(each, *url, end));
    return out;
}

Error refusal(const Service& service, const Secrets& secrets, std::string_view code, int status, std::string_view said)
{
    auto outcome = std::ranges::find(outcomes, code, &Outcome::code);
    auto words = without_secrets(one_line(said), secrets);
    if (words.size() > max_said)
        words = std::string(utf8_prefix(words, max_said)) + "…";
    return {code, service.name + std::string(outcome->words) + " (HTTP " + std::to_string(status) + ")" + (words.empty() ? "" : ": " + words)};
}

Status tell(const Service& service, const Result<Pages>& found, Answer& answer)
{
    answer.member("success", bool(found));
    if (!found && found.error().code == code::auth_missing) {
        auto event = object({{"kind", "config_required"}, {"content", "⚠ Configuration Required\n\n" + found.error().message},
                             {"data", *parse_json(service.event_data)}});
        write_all(2, event.dump() + "\n");
    }
    if (!found)
        return found.error();
    Json::Array results;
    for (auto& page : *found)
        results.push_back(object({{"title", page.title}, {"url", page.url}, {"snippet", page.snippet}}));
    auto count = results.size();
    answer.member("results", std::move(results));
    answer.member("count", count);
    return Done{};
}

}
