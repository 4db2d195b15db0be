// web_search_google: results of Google's Custom Search JSON API.
// https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
#include "applets/web_search.h"

#include "base/text.h"

namespace ik {
namespace {

using web::Pages;

struct Args {
    std::string query;
    std::optional<std::int64_t> num, start;
    std::vector<std::string> allowed_domains, blocked_domains;
};

constexpr Param<Args> params[] = {
    {.name = "query", .member = &Args::query, .help = "Search query", .keywords = R"("minLength":2)"},
    {.name = "num", .member = &Args::num, .help = "Results to return (1-10)", .keywords = R"("minimum":1,"maximum":10,"default":10)"},
    {.name = "start", .member = &Args::start, .help = "Index of the first result (1-91)", .keywords = R"("minimum":1,"maximum":91,"default":1)"},
    {"allowed_domains", &Args::allowed_domains, "Only results from these domains"},
    {"blocked_domains", &Args::blocked_domains, "No results from these domains"},
};

constexpr Example examples[] = {
    {"The first result", R"({"query":"example domain","num":1})",
     R"({"success":true,"results":[{"title":"Example Domain","url":"https://www.example.com/","snippet":"For use in documentation."}],"count":1})"},
};

constexpr web::Secret google_secrets[] = {{"GOOGLE_SEARCH_API_KEY", "api_key"}, {"GOOGLE_SEARCH_ENGINE_ID", "engine_id"}};

constexpr web::Service google{
    .tool = "web_search_google",
    .name = "Google Custom Search",
    .address = "https://customsearch.googleapis.com/customsearch/v1",
    .address_variable = "IKIGAI_GOOGLE_SEARCH_URL",
    .section = "google",
    .secrets = google_secrets,
    .signup = "Google Custom Search needs an API key (https://console.cloud.google.com/apis/credentials) and the id of a search engine "
              "(https://programmablesearchengine.google.com/). Google takes no new customers and ends this service on 2027-01-01: "
              "without an account there, use web_search_brave.",
    .event_data = R"({"tool":"web_search_google","credentials":["api_key","engine_id"]})",
};

constexpr const char* the_end = "Google's Custom Search JSON API is closed to new customers and ends on 2027-01-01; use web_search_brave instead";
constexpr std::size_t most_domains = 10;   // each is a request of the day's quota

// ---- what is asked

struct Part {              // of a search: one request
    std::string domain;    // only this one; empty: all
    std::int64_t num, start;
};

// num split evenly, each part with the same pages skipped. Where there are more domains than results, one each.
std::vector<Part> parts_of(const Args& args, const std::vector<std::string>& allowed)
{
    auto num = args.num.value_or(10), start = args.start.value_or(1);
    if (allowed.empty())
        return {{"", num, start}};
    std::vector<Part> out;
    auto domains = static_cast<std::int64_t>(allowed.size());
    for (std::int64_t i = 0; i < domains; ++i) {
        auto share = std::max<std::int64_t>(1, num / domains + (i < num % domains ? 1 : 0));
        out.push_back({allowed[static_cast<std::size_t>(i)], share, 1 + (start - 1) * share / num});
    }
    return out;
}

std::string site_filter(const Part& part, const web::Domains& domains)
{
    auto site = [](const std::string& domain, const char* filter) { return "&siteSearch=" + web::percent_encoded(domain) + "&siteSearchFilter=" + filter; };
    if (!part.domain.empty()) return site(part.domain, "i");
    if (domains.blocked().size() == 1) return site(domains.blocked()[0], "e");
    return "";
}

web::Question question(const Args& args, const Part& part, const web::Domains& domains, const web::Secrets& secrets)
{
    return {.query = "key=" + web::percent_encoded(secrets[0]) + "&cx=" + web::percent_encoded(secrets[1]) + "&q=" + web::percent_encoded(args.query)
                   + "&num=" + std::to_string(part.num) + "&start=" + std::to_string(part.start) + site_filter(part, domains),
            .headers = {{"Accept", "application/json"}}};
}

// ---- what is answered

struct Reason { std::string_view name, code; };
constexpr Reason reasons[] = {
    {"dailyLimitExceeded", code::rate_limit}, {"quotaExceeded", code::rate_limit}, {"rateLimitExceeded", code::rate_limit},
    {"userRateLimitExceeded", code::rate_limit}, {"RATE_LIMIT_EXCEEDED", code::rate_limit},
    {"keyInvalid", code::auth_invalid}, {"keyExpired", code::auth_invalid}, {"API_KEY_INVALID", code::auth_invalid},
};

// How the service says that it is over, or not for this project.
constexpr std::string_view notices[] = {
    "does not have the access to custom search", "does not have access to custom search", "closed to new", "new customers",
    "no longer available", "no longer supported", "discontinued", "deprecated", "decommissioned", "shut down", "shutdown", "sunset", "has ended",
    "been removed", "vertex ai search",
};

// Every `reason` of {"error":{"errors":[{"reason"}],"details":[{"reason"}]}}.
std::vector<std::string_view> reasons_of(const Json& error)
{
    std::vector<std::string_view> out;
    for (auto* name : {"errors", "details"})
        if (auto* list = error.find(name); list && list->as<Json::Array>())
            for (auto& each : *list->as<Json::Array>())
                out.push_back(each.text("reason"));
    return out;
}

std::string_view code_of(int status, const Json& error)
{
    for (auto said : reasons_of(error))
        if (auto reason = std::ranges::find(reasons, said, &Reason::name); reason != std::end(reasons))
            return reason->code;
    if (status == 401) return code::auth_invalid;
    return status == 429 ? code::rate_limit : code::api_error;
}

bool is_page(const HttpAnswer& answer)
{
    auto body = trim(answer.body);
    bool said_so = lower(header(answer.headers, "Content-Type")).find("html") != std::string::npos;
    return body.starts_with('<') || (said_so && !body.starts_with('{'));
}

// An API that is gone answers with a page, or with a notice. A server in trouble (5xx) may send a page too.
bool over(const HttpAnswer& answer)
{
    if (answer.status == 410 || (is_page(answer) && answer.status < 500 && answer.status != 429))
        return true;
    auto said = lower(answer.body);
    return (answer.status == 403 || answer.status == 404) && std::ranges::any_of(notices, [&](auto notice) { return said.find(notice) != said.npos; });
}

// {"error":{"code":403,"message":"…","errors":[{"message","domain","reason"}],"status":"…"}}
Error failure(const HttpAnswer& answer, const web::Secrets& secrets)
{
    auto json = parse_json(answer.body);
    auto* found = json ? json->find("error") : nullptr;
    auto error = found ? *found : Json();
    auto code = code_of(answer.status, error);
    auto out = web::refusal(google, secrets, code, answer.status, error.text("message"));
    if (code == code::api_error && over(answer))
        out.message = the_end + (" (" + out.message) + ")";
    return out;
}

// {"items":[{"title","link","snippet"}]}; without "items" where nothing was found.
Result<Pages> pages(const HttpAnswer& answer, const web::Secrets& secrets)
{
    if (!answer.ok() || is_page(answer))
        return failure(answer, secrets);
    auto strange = [&](const char* what) { return web::refusal(google, secrets, code::api_error, answer.status, what); };
    auto json = parse_json(answer.body);
    if (!json || !json->as<Json::Object>())
        return strange("its answer is no JSON object");
    auto* items = json->find("items");
    if (!items || items->null())
        return Pages();
    auto* list = items->as<Json::Array>();
    if (!list)
        return strange("its answer has another form than expected");
    Pages out;
    for (auto& each : *list)   // plain text: a < in it is one
        if (!each.text("link").empty())
            out.push_back({web::one_line(each.text("title")), std::string(each.text("link")), web::one_line(each.text("snippet"))});
    return out;
}

Result<Pages> search(const Args& args)
{
    web::Domains domains(args.allowed_domains, args.blocked_domains);
    if (domains.allowed().size() > most_domains)
        return Error{code::invalid_arg, "allowed_domains has more than 10 domains; each takes a request of its own"};
    auto secrets = web::secrets(google);
    if (!secrets)
        return secrets.error();
    std::vector<web::Question> questions;
    for (auto& part : parts_of(args, domains.allowed()))
        questions.push_back(question(args, part, domains, *secrets));

    std::vector<Pages> lists;
    for (auto& answer : web::ask(google, questions)) {
        auto found = answer ? pages(*answer, *secrets) : Result<Pages>(answer.error());
        if (!found)
            return found;
        lists.push_back(domains.admitted(std::move(*found)));
    }
    return web::merged(lists, static_cast<std::size_t>(args.num.value_or(10)));
}

Status run(const Args& args, Answer& answer) { return web::tell(google, search(args), answer); }

}

constinit const Applet applets::web_search_google = applet<Args, params, run>({
    .name = "web_search_google",
    .summary = "Search the web with a Google Programmable Search Engine",
    .details = "Google takes no new customers for this service, the Custom Search JSON API, and ends it on 2027-01-01;\n"
               ".Xr ikigai-web-search-brave 1\nis what to use instead.\n"
               ".Pp\n"
               "The lists of domains cover subdomains, whatever the case.\n"
               "One allowed domain, or one blocked, is part of the request.\n"
               "For several allowed domains, at most 10, there is a request each, all at once:\n"
               ".Va num\nis split evenly among them, and so is\n.Va start ;\nthe results come in turn, each address once.\n"
               "What else does not fit the lists is left out, so that fewer results may remain.\n"
               "Where one request fails the search fails.\n"
               ".Pp\n"
               "The answer has\n.Va success ,\n.Va results\n.Pq each with Va title , url No and Va snippet ,\nand their\n.Va count .\n"
               "It comes within 12 seconds.\n"
               ".Pp\n"
               "The key comes from\n.Lk https://console.cloud.google.com/apis/credentials ,\nthe id of the engine from\n"
               ".Lk https://programmablesearchengine.google.com/ .\nEach is looked for in its variable,\n.Ev GOOGLE_SEARCH_API_KEY\nor\n"
               ".Ev GOOGLE_SEARCH_ENGINE_ID ,\nthen in\n"
               ".Pa ~/.config/ikigai/credentials.json\n.Po\nor\n.Pa $XDG_CONFIG_HOME/ikigai ;\nmode 600: a file that others can read is not used\n.Pc :\n"
               ".Bd -literal -offset indent\n{\"web_search\":{\"google\":{\"api_key\":\"...\",\"engine_id\":\"...\"}}}\n.Ed\n.Pp\n"
               "or under the names of the variables.\n"
               ".Pp\n.Ev IKIGAI_GOOGLE_SEARCH_URL\nstands for the service's address.",
    .errors = ".It Dv AUTH_MISSING\nThe key or the engine is missing.\nThe user is told with an event\n.Li config_required ,\nand the exit status is 1.\n"
              ".It Dv AUTH_INVALID\nThe service refused the key.\n"
              ".It Dv RATE_LIMIT\nThe day's quota is used up, or there were too many requests.\n"
              ".It Dv NETWORK_ERROR\nThe service could not be reached, or did not answer in time.\n"
              ".It Dv API_ERROR\nThe service answered with another error, with something else than results, or with the notice that it has ended.\n",
    .examples = examples,
});

}
