// web_search_brave: a page of results of the Brave Search API.
// https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
#include "applets/web_search.h"

#include "base/text.h"

#include <charconv>

namespace ik {
namespace {

using web::Pages;

struct Args {
    std::string query;
    std::optional<std::int64_t> count, offset;
    std::vector<std::string> allowed_domains, blocked_domains;
};

constexpr Param<Args> params[] = {
    {.name = "query", .member = &Args::query, .help = "Search query", .keywords = R"("minLength":2)"},
    {.name = "count", .member = &Args::count, .help = "Results to return (1-20)", .keywords = R"("minimum":1,"maximum":20,"default":10)"},
    {.name = "offset", .member = &Args::offset, .help = "Pages to skip (0-9)", .keywords = R"("minimum":0,"maximum":9,"default":0)"},
    {"allowed_domains", &Args::allowed_domains, "Only results from these domains"},
    {"blocked_domains", &Args::blocked_domains, "No results from these domains"},
};

constexpr Example examples[] = {
    {"The first result", R"({"query":"example domain","count":1})",
     R"({"success":true,"results":[{"title":"Example Domain","url":"https://www.example.com/","snippet":"For use in documentation."}],"count":1})"},
    {"Only from one domain", R"({"query":"example domain","allowed_domains":["iana.org"]})",
     R"({"success":true,"results":[{"title":"Reserved Domains","url":"https://www.iana.org/domains/reserved","snippet":"Names that nobody can register."}],"count":1})"},
};

constexpr web::Secret brave_secrets[] = {{"BRAVE_API_KEY", "api_key"}};

constexpr web::Service brave{
    .tool = "web_search_brave",
    .name = "Brave Search",
    .address = "https://api.search.brave.com/res/v1/web/search",
    .address_variable = "IKIGAI_BRAVE_URL",
    .section = "brave",
    .secrets = brave_secrets,
    .signup = "Get a key for Brave Search at https://brave.com/search/api/",
    .event_data = R"({"tool":"web_search_brave","credential":"api_key","signup_url":"https://brave.com/search/api/"})",
};

constexpr std::size_t most_characters = 400, most_words = 50;   // of a query

Status check_query(std::string_view query)
{
    auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    auto words = web::one_line(query);
    auto spaces = static_cast<std::size_t>(std::ranges::count(words, ' '));
    if (static_cast<std::size_t>(std::ranges::count_if(query, is_first_byte)) > most_characters)
        return Error{code::invalid_arg, "Brave Search takes queries of at most 400 characters"};
    if (spaces + 1 > most_words)
        return Error{code::invalid_arg, "Brave Search takes queries of at most 50 words"};
    return Done{};
}

// The numbers of a header such as "1, 1419704": one for each limit that the key has.
std::vector<std::int64_t> numbers(std::string_view list)
{
    std::vector<std::int64_t> out;
    for (auto part : split(list, ',')) {
        auto text = trim(part);
        std::int64_t number = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc() && end == text.data() + text.size() && number >= 0)
            out.push_back(number);
    }
    return out;
}

// Seconds until another request is allowed: until the last of the used-up limits is reset.
std::int64_t seconds_to_wait(const Headers& headers)
{
    auto left = numbers(header(headers, "X-RateLimit-Remaining")), resets = numbers(header(headers, "X-RateLimit-Reset"));
    std::int64_t out = 0;
    for (std::size_t i = 0; i < resets.size(); ++i)
        if (i < left.size() ? left[i] == 0 : left.empty() && i == 0)
            out = std::max(out, resets[i]);
    auto plain = numbers(header(headers, "Retry-After"));
    return out == 0 && !plain.empty() ? plain[0] : out;
}

std::string in_words(std::int64_t seconds)
{
    struct Unit { std::int64_t seconds; const char* name; };
    constexpr Unit units[] = {{86400, " days"}, {3600, " hours"}, {60, " minutes"}};
    for (auto& unit : units)
        if (seconds >= 2 * unit.seconds)
            return std::to_string((seconds + unit.seconds - 1) / unit.seconds) + unit.name;
    return std::to_string(seconds) + " s";
}

std::string_view code_of(int status, std::string_view reason)
{
    if (status == 401 || status == 403 || reason == "SUBSCRIPTION_TOKEN_INVALID") return code::auth_invalid;   // which comes with 422
    return status == 429 ? code::rate_limit : code::api_error;
}

// {"type":"ErrorResponse","error":{"status":429,"code":"RATE_LIMITED","detail":"…"}}
Error failure(const HttpAnswer& answer, const web::Secrets& secrets)
{
    auto json = parse_json(answer.body);
    auto* error = json ? json->find("error") : nullptr;
    auto reason = error ? error->text("code") : "";
    std::string said(error && !error->text("detail").empty() ? error->text("detail") : reason);
    auto out = web::refusal(brave, secrets, code_of(answer.status, reason), answer.status, said);
    if (auto wait = out.code == code::rate_limit ? seconds_to_wait(answer.headers) : 0)
        out.message += (out.message.ends_with('.') ? " Try again in " : ". Try again in ") + in_words(wait);
    return out;
}

// {"web":{"results":[{"title","url","description"}]}}; without "web" where nothing was found.
Result<Pages> pages(const HttpAnswer& answer, const web::Secrets& secrets)
{
    auto strange = [&](const char* what) { return web::refusal(brave, secrets, code::api_error, answer.status, what); };
    if (!answer.ok())
        return failure(answer, secrets);
    auto json = parse_json(answer.body);
    if (!json || !json->as<Json::Object>())
        return strange("its answer is no JSON object");
    auto* section = json->find("web");
    auto* results = section ? section->find("results") : nullptr;
    if (!results || results->null())
        return !section || section->null() || section->as<Json::Object>() ? Result(Pages()) : strange("its answer has another form than expected");
    auto* list = results->as<Json::Array>();
    if (!list)
        return strange("its answer has another form than expected");
    Pages out;
    for (auto& each : *list)
        if (!each.text("url").empty())
            out.push_back({web::plain_text(each.text("title")), std::string(each.text("url")), web::plain_text(each.text("description"))});
    return out;
}

Result<Pages> search(const Args& args)
{
    if (auto fits = check_query(args.query); !fits)
        return fits.error();
    auto secrets = web::secrets(brave);
    if (!secrets)
        return secrets.error();
    auto count = args.count.value_or(10);
    auto query = "q=" + web::percent_encoded(args.query) + "&count=" + std::to_string(count) + "&offset=" + std::to_string(args.offset.value_or(0));
    auto answer = web::ask(brave, {{query, {{"X-Subscription-Token", secrets->front()}, {"Accept", "application/json"}}}}).front();
    auto found = answer ? pages(*answer, *secrets) : Result<Pages>(answer.error());
    if (!found)
        return found;
    web::Domains domains(args.allowed_domains, args.blocked_domains);
    return web::merged({domains.admitted(std::move(*found))}, static_cast<std::size_t>(count));
}

Status run(const Args& args, Answer& answer) { return web::tell(brave, search(args), answer); }

}

constinit const Applet applets::web_search_brave = applet<Args, params, run>({
    .name = "web_search_brave",
    .summary = "Search the web with Brave Search: current pages from an independent index",
    .details = "One request is made.\nA page of results has\n.Va count\nof them, and\n.Va offset\npages are skipped.\n"
               "A query has at most 400 characters and 50 words.\n"
               "The lists of domains cover subdomains, whatever the case;\n"
               "what does not fit them is left out of the page, so that fewer results may remain.\n"
               ".Pp\n"
               "The answer has\n.Va success ,\n.Va results\n.Pq each with Va title , url No and Va snippet ,\nand their\n.Va count .\n"
               "It comes within 12 seconds.\n"
               ".Pp\n"
               "The key comes from\n.Lk https://brave.com/search/api/\nand is looked for in the variable\n.Ev BRAVE_API_KEY ,\nthen in\n"
               ".Pa ~/.config/ikigai/credentials.json\n.Po\nor\n.Pa $XDG_CONFIG_HOME/ikigai ;\nmode 600: a file that others can read is not used\n.Pc :\n"
               ".Bd -literal -offset indent\n{\"web_search\":{\"brave\":{\"api_key\":\"...\"}}}\n.Ed\n.Pp\nor\n"
               ".Li {\"BRAVE_API_KEY\":\"...\"} .\n"
               ".Pp\n.Ev IKIGAI_BRAVE_URL\nstands for the service's address.",
    .errors = ".It Dv AUTH_MISSING\nThere is no key.\nThe user is told with an event\n.Li config_required ,\nand the exit status is 1.\n"
              ".It Dv AUTH_INVALID\nThe service refused the key.\n"
              ".It Dv RATE_LIMIT\nThe key allows no more requests for now.\n"
              ".It Dv NETWORK_ERROR\nThe service could not be reached, or did not answer in time.\n"
              ".It Dv API_ERROR\nThe service answered with another error, or with something else than results.\n",
    .examples = examples,
});

}
