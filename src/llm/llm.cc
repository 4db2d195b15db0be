#include "llm/llm.h"

#include "base/address.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/places.h"
#include "base/random.h"
#include "base/text.h"
#include "llm/failure.h"
#include "llm/provider.h"
#include "llm/setup.h"
#include "llm/window.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <utility>

namespace ik {
namespace {

using namespace providers;
using std::chrono::milliseconds;

constexpr int tries = 5;
constexpr milliseconds window_patience{1000};                    // with a server that is asked for its window, in all
constexpr std::size_t most_of_other = 65536, most_of_list = 4u << 20;
constexpr milliseconds longest_wait = std::chrono::minutes(10);   // who asks for more gets the error instead

double chance()
{
    std::array<unsigned char, 2> bits{};
    if (!fill_random(bits))
        return 0.5;   // no chance, then: only the spread of the pauses is lost
    return (bits[0] * 256 + bits[1]) / 65536.0;
}

// What a 2xx answer says that holds no event at all.
Complaint no_stream(const HttpAnswer& answer, std::string_view body, const Endpoint& endpoint)
{
    auto kind = header(answer.headers, "content-type");
    auto value = parse_json(clean_utf8(body));
    if (auto complaint = value ? complaint_in(*value, 0) : std::nullopt)
        return *complaint;
    if (kind.starts_with("text/event-stream") || (kind.empty() && body.empty()))
        return broken_off();
    return {.message = "The address " + endpoint.base_url + " did not answer with a stream" + (kind.empty() ? "" : " but with " + std::string(kind)) +
                       ": is it the right one (--base-url)?",
            .type = "invalid_answer"};
}

class Llm {
public:
    // False when nobody reads the answers any more.
    bool on_line(std::string line);

private:
    struct Target {
        const Provider* row;
        Endpoint endpoint;
        Url url;
        std::string model;
        Asked asked() const { return {row->name, model, endpoint.base_url, endpoint.key_source}; }
    };

    void ask(Json);
    Result<Target> target_of(const Json& ask);
    std::optional<Failure> try_once(const Target&, const HttpRequest&);
    std::optional<Failure> read_stream(Http&, const HttpRequest&, const Target&);
    bool wait(milliseconds);
    std::string near_models(Http&, const Target&);
    void models(const Json&);
    void look_up(const Json&);
    void window(const Json&);
    Result<HttpAnswer> ask_models(Http&, const Target&, std::vector<std::string>& models);
    Result<Http*> connection(const Url&);

    void say(const Json& line) { say(line.dump() + "\n"); }
    void say(const std::string& lines) { lost_ = lost_ || !write_all(1, lines); }
    void fail(const Error& error) { say(object({{"type", "error"}, {"error", error.message}, {"error_code", error.code}})); }

    std::optional<Setup> setup_;
    std::optional<Http> http_;
    std::string http_origin_;
    bool shown_ = false;   // something of the answer has been said
    bool lost_ = false;    // nobody reads any more
};

bool Llm::on_line(std::string line)
{
    if (trim(line).empty())
        return !lost_;
    auto request = parse_json_in_place(std::move(line));
    if (!request)
        fail({code::invalid_arg, "Not a request: " + request.error().message});
    else if (request->text("type") == "setup") {
        setup_ = setup_of(*request);
        http_.reset();
    } else if (request->text("type") == "ask")
        ask(std::move(*request));
    else if (request->text("type") == "models")
        models(*request);
    else if (request->text("type") == "look_up")
        look_up(*request);
    else if (request->text("type") == "window")
        window(*request);
    else
        fail({code::invalid_arg, "Not a request: its type must be ask, setup, models, look_up or window"});
    return !lost_;
}

Result<Llm::Target> Llm::target_of(const Json& ask)
{
    std::string name(ask.text("provider"));
    auto setup = setup_;
    if (name.empty())
        name = setup && !setup->provider.empty() ? setup->provider : "openai";
    auto* row = find(name, setup ? setup->base_url : variable("OPENAI_BASE_URL"));   // the address decides for openai only
    if (!row)
        return Error{code::usage, "Unknown provider: " + name + "." + did_you_mean(name, names())};
    if (setup && !setup->provider.empty() && find(setup->provider, setup->base_url) != row)
        setup.reset();   // it speaks of another provider
    Target target{.row = row, .endpoint = endpoint_of(*row, setup), .url = {}, .model = std::string(ask.text("model"))};
    if (row->answer)
        return target;
    auto url = parse_url(target.endpoint.base_url);
    if (!url)
        return Error{code::usage, url.error().message};
    target.url = std::move(*url);
    if (auto key = check_key(*row, target.endpoint, target.url); !key)
        return key.error();
    return target;
}

void Llm::ask(Json ask)
{
    auto target = target_of(ask);
    if (!target)
        return fail(target.error());
    if (target->row->answer) {
        for (auto& line : target->row->answer(ask)) say(line);
        return;
    }
    auto request = target->row->request(ask, target->endpoint);
    request.path = target->url.path + request.path;
    request.headers.insert(request.headers.end(), target->endpoint.headers.begin(), target->endpoint.headers.end());
    ask = {};   // it may be large, and the answer long in coming
    if (request.body.size() > most_of_other)
        give_back_memory();
    auto base = setup_ ? setup_->retry_base : Setup().retry_base;
    for (int attempt = 1;; ++attempt) {
        shown_ = false;
        auto failure = try_once(*target, request);
        if (!failure || lost_)
            return;
        auto pause = failure->after.value_or(pause_after(attempt, base, chance()));
        if (!failure->retry || attempt == tries || pause > longest_wait)
            return say(failure->line());
        say(object({{"type", "retry"}, {"attempt", attempt}, {"delay_ms", pause.count()}, {"error", failure->message}, {"discard", shown_}}));
        if (!wait(pause))
            return;
    }
}

Result<Http*> Llm::connection(const Url& url)
{
    if (!http_ || http_origin_ != url.origin()) {
        auto http = Http::to(url, setup_ ? setup_->limits : HttpLimits());
        if (!http)
            return http.error();
        http_ = std::move(*http);
        http_origin_ = url.origin();
    }
    return &*http_;
}

std::optional<Failure> Llm::try_once(const Target& target, const HttpRequest& request)
{
    auto http = connection(target.url);
    if (!http)
        return failure_of(http.error(), target.asked());
    return read_stream(**http, request, target);
}

std::optional<Failure> Llm::read_stream(Http& http, const HttpRequest& request, const Target& target)
{
    sse::Reader reader;
    auto decoder = target.row->decoder();
    std::optional<Complaint> complaint;
    bool done = false, events = false;
    std::string beginning;   // of an answer without events, which may be something else than a stream

    auto take = [&](const Decoded& decoded) {
        std::string lines;
        for (auto& line : decoded.lines) lines += line.dump() + "\n";
        if (!lines.empty()) say(lines);
        shown_ = shown_ || !lines.empty();
        complaint = decoded.complaint;
        done = decoded.done;
    };
    auto take_events = [&] {
        while (!done && !complaint)
            if (auto event = reader.next()) {
                events = true;
                take(std::visit([&](auto& d) { return d.on(*event); }, decoder));
            } else
                return;
    };
    auto sink = [&](std::string_view bytes) {
        if (done)
            return !lost_;   // what comes after the end is read, so that the connection can be used again
        if (auto fed = reader.feed(bytes); !fed)
            complaint = Complaint{.status = 502, .message = fed.error().message};
        take_events();
        if (!events)
            beginning += bytes.substr(0, std::min(bytes.size(), most_of_other - beginning.size()));
        return !complaint && !lost_;
    };

    auto answer = http.send(request, sink);
    if (done || lost_)
        return {};
    if (answer && !answer->ok()) {
        auto failure = failure_of(complaint_in_body(answer->body, answer->status), target.asked(), answer->headers, false);
        if (answer->status == 404)
            failure.message += near_models(http, target);
        return failure;
    }
    if (answer && !complaint) {
        reader.end();
        take_events();
        if (!events)
            complaint = no_stream(*answer, beginning, target.endpoint);
        if (!done && !complaint)
            take(std::visit([](auto& d) { return d.end(); }, decoder));
        if (done)
            return {};
    }
    if (complaint)
        return failure_of(*complaint, target.asked(), answer ? answer->headers : Headers(), true);
    return failure_of(answer.error(), target.asked());
}

// The service's own list. Of an answer that is not 2xx the names stay empty.
Result<HttpAnswer> Llm::ask_models(Http& http, const Target& target, std::vector<std::string>& models)
{
    auto request = target.row->request(Json::Object(), target.endpoint);   // for its headers
    request.headers.insert(request.headers.end(), target.endpoint.headers.begin(), target.endpoint.headers.end());
    std::string body;
    auto answer = http.send({.method = "GET", .path = target.url.path + std::string(target.row->models_path), .headers = request.headers},
                            [&](std::string_view bytes) { body += bytes; return body.size() < most_of_list; });
    if (!answer || !answer->ok())
        return answer;
    auto list = parse_json(clean_utf8(body));
    if (!list || !(list->find("data") || list->find("models")))
        return Error{code::api_error, "The address " + target.endpoint.base_url + " did not answer with a list of models", "Check the address (--base-url)."};
    for (auto& model : list_at(*list, "data")) models.emplace_back(model.text("id"));
    for (auto& model : list_at(*list, "models")) {   // Google's: "models/NAME"
        auto name = model.text("name");
        models.emplace_back(name.substr(name.find('/') + 1));
    }
    return answer;
}

// " Did you mean: a, b?" from the service's own list of models.
std::string Llm::near_models(Http& http, const Target& target)
{
    std::vector<std::string> models;
    static_cast<void>(ask_models(http, target, models));
    return did_you_mean(target.model, models);
}

// Asked once, not tried again: somebody waits for it who wants to know how things stand.
void Llm::models(const Json& request)
{
    auto target = target_of(request);
    if (!target)
        return fail(target.error());
    std::vector<std::string> names;
    if (target->row->answer)
        return say(object({{"type", "models"}, {"models", Json::Array{target->row->name}}}));
    auto http = connection(target->url);
    if (!http)
        return fail(http.error());
    auto answer = ask_models(**http, *target, names);
    if (!answer)
        return say(failure_of(answer.error(), target->asked()).line());
    if (!answer->ok())
        return say(failure_of(complaint_in_body(answer->body, answer->status), target->asked(), answer->headers, false).line());
    Json::Array list(names.begin(), names.end());
    say(object({{"type", "models"}, {"models", std::move(list)}, {"date", header(answer->headers, "date")}}));
}

// The addresses that the service's name has, or its proxy's.
void Llm::look_up(const Json& request)
{
    auto target = target_of(request);
    if (!target)
        return fail(target.error());
    auto proxy = proxy_for(target->url, proxy_rules());
    if (!proxy)
        return fail(proxy.error());
    auto& to = *proxy ? **proxy : target->url;
    auto found = addresses_of(to.host);
    if (!found)
        return fail(found.error());
    Json::Array list(found->begin(), found->end());
    say(object({{"type", "addresses"}, {"host", to.host}, {"port", to.port}, {"proxy", proxy->has_value()}, {"addresses", std::move(list)}}));
}

// How much the server reads, where it tells. A request waits behind this: it has its end, and its errors are silent.
void Llm::window(const Json& request)
{
    auto target = target_of(request);
    if (!target || target->row->answer || target->row->name != "openai-chat")
        return say(object({{"type", "window"}}));
    auto end = std::chrono::steady_clock::now() + window_patience;
    auto left = [&] { return std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now()); };
    auto headers = target->row->request(Json::Object(), target->endpoint).headers;
    headers.insert(headers.end(), target->endpoint.headers.begin(), target->endpoint.headers.end());
    auto ask = [&](const std::string& path, const Json* body) -> std::optional<Json> {
        auto http = left().count() > 0 ? Http::to(target->url, {.connect = left(), .silence = left()}) : Error{code::network_error, ""};
        if (!http)
            return {};
        std::string text;
        auto answer = http->send({.method = body ? "POST" : "GET", .path = path, .headers = headers, .body = body ? body->dump() : ""},
                                 [&](std::string_view bytes) { text += bytes; return text.size() < most_of_list && left().count() > 0; });
        auto value = answer && answer->status == 200 ? parse_json(clean_utf8(text)) : Result<Json>(Error{code::network_error, ""});
        return value ? std::optional(std::move(*value)) : std::nullopt;
    };
    say(window_line(target->model, target->url.path, ask));
}

// False when nobody reads the answers any more.
bool Llm::wait(milliseconds time)
{
    pollfd reader{1, 0, 0};   // only its end is of interest
    lost_ = lost_ || poll(&reader, 1, static_cast<int>(time.count())) > 0;
    return !lost_;
}

}

int llm(int argc, char** argv)
{
    if (argc > 1) {
        bool help = std::strcmp(argv[1], "--help") == 0;
        std::fputs("usage: ikigai llm\n"
                   "One request a line on standard input, event lines on standard output: see ikigai-hacking(7).\n",
                   help ? stdout : stderr);
        return help ? 0 : 2;
    }
    std::signal(SIGPIPE, SIG_IGN);   // a connection that breaks is an error, not a death
#ifndef __SANITIZE_ADDRESS__
    prctl(PR_SET_DUMPABLE, 0);       // the key is in this process
#endif

    Llm service;
    std::string pending;
    std::size_t searched = 0;
    std::vector<char> buffer(65536);
    for (;;) {
        auto n = read_some(0, buffer.data(), buffer.size());
        if (n < 0)
            return 1;
        if (n == 0)
            return service.on_line(std::move(pending)) ? 0 : 1;   // a last line without its end counts
        pending.append(buffer.data(), static_cast<std::size_t>(n));
        for (std::size_t end; (end = pending.find('\n', searched)) != pending.npos; searched = 0) {
            auto line = std::exchange(pending, pending.substr(end + 1));
            line.resize(end);
            if (!service.on_line(std::move(line)))
                return 1;
            if (end > most_of_other)
                give_back_memory();   // it waits for a person now
        }
        searched = pending.size();
    }
}

}
