// web_fetch: a page of the web as markdown.
#include "applets/applet.h"

#include "applets/apart.h"
#include "applets/charset.h"
#include "applets/fetch.h"
#include "applets/html.h"
#include "base/text.h"

#include <cstdlib>

namespace ik {
namespace {

struct Args {
    std::string url;
    std::optional<std::int64_t> offset, limit;
};

constexpr Param<Args> params[] = {
    {.name = "url", .member = &Args::url, .help = "URL to fetch", .keywords = R"("format":"uri")"},
    {.name = "offset", .member = &Args::offset, .help = "Markdown line to start from (1-based)", .keywords = R"("minimum":1)"},
    {.name = "limit", .member = &Args::limit, .help = "Lines to return", .keywords = R"("minimum":1)"},
};

constexpr Example examples[] = {
    {"Only the web is fetched", R"({"url":"file:///etc/passwd"})",
     R"({"success":false,"error":"Not an http or https address: file:///etc/passwd","error_code":"INVALID_URL"})"},
    {"Nor what is inside", R"({"url":"http://169.254.169.254/"})",
     R"({"success":false,"error":"169.254.169.254 is not an address of the public internet","error_code":"BLOCKED_ADDRESS","hint":"IKIGAI_WEB_ALLOW_PRIVATE=1 in the environment allows it."})"},
};

constexpr auto fetch_time = std::chrono::seconds(10), whole_time = std::chrono::seconds(11);
constexpr std::size_t max_body = 10'000'000;
constexpr std::size_t max_memory = 2u << 30;
constexpr const char* cut_note = "\n\n[The document is longer than 10 MB: the rest is not here.]";

enum class Kind { html, markup, text, other };

struct TypeRow { std::string_view type; Kind kind; };
constexpr TypeRow types[] = {
    {"text/html", Kind::html}, {"application/xhtml+xml", Kind::html},
    {"text/xml", Kind::markup}, {"application/xml", Kind::markup},
    {"application/json", Kind::text}, {"application/javascript", Kind::text}, {"application/ecmascript", Kind::text}, {"application/x-javascript", Kind::text},
    {"application/x-ndjson", Kind::text}, {"application/yaml", Kind::text}, {"application/x-yaml", Kind::text}, {"application/toml", Kind::text},
    {"application/sql", Kind::text}, {"application/x-sh", Kind::text}, {"application/x-httpd-php", Kind::text},
};

Kind kind_of(std::string_view type)
{
    if (auto* row = std::ranges::find(types, type, &TypeRow::type); row != std::end(types)) return row->kind;
    if (type.ends_with("+xml")) return Kind::markup;
    return type.starts_with("text/") || type.ends_with("+json") ? Kind::text : Kind::other;
}

// Of a document without a type, by its first bytes.
Kind sniffed(std::string_view body)
{
    constexpr std::string_view starts[] = {"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<style", "<div", "<p>", "<p ", "<h1", "<table", "<a ", "<br", "<!--"};
    auto begin = body.substr(0, 1024);
    if (begin.starts_with("\xFF\xFE") || begin.starts_with("\xFE\xFF")) return Kind::text;
    if (begin.starts_with("\xEF\xBB\xBF")) begin.remove_prefix(3);
    bool binary = std::ranges::any_of(begin, [](unsigned char c) { return c < 32 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B; });
    if (binary) return Kind::other;
    begin = trim(begin);
    return std::ranges::any_of(starts, [&](auto start) { return starts_with_ignoring_case(begin, start); }) ? Kind::html : Kind::text;
}

Error unsupported(const Fetched& document)
{
    auto size = document.wanted ? std::optional<std::uint64_t>(document.body.size()) : document.size;
    return {code::unsupported_type, document.address() + " is " + (document.type.empty() ? "of no text type" : document.type) + ", "
            + (size ? std::to_string(*size) + " bytes" : "of unknown size") + ": only HTML, text, JSON and XML can be shown"};
}

// title and content.
Result<Page> read(const Fetched& document)
{
    auto kind = document.type.empty() ? sniffed(document.body) : kind_of(document.type);
    if (!document.wanted || kind == Kind::other)
        return unsupported(document);
    auto text = to_utf8({.bytes = document.body, .label = document.charset, .markup = kind != Kind::text, .cut = document.truncated});
    if (!text)
        return Error{text.error().code, document.address() + ": " + text.error().message};
    auto page = kind == Kind::html ? to_markdown(*text, document.url) : Page{"", std::move(*text)};
    if (document.truncated) page.markdown += cut_note;
    return page;
}

// Where the line begins; the size of the text where there is none.
std::size_t line_start(std::string_view text, std::int64_t line)
{
    std::size_t at = 0;
    for (; line > 1 && at < text.size(); --line) {
        auto end = text.find('\n', at);
        at = end == text.npos ? text.size() : end + 1;
    }
    return at;
}

void tell(const Args& args, const Fetched& document, const Page& page, Answer& answer)
{
    std::string_view text = page.markdown;
    auto lines = std::ranges::count(text, '\n') + !(text.empty() || text.ends_with('\n'));
    auto part = text.substr(line_start(text, args.offset.value_or(1)));
    auto size = args.limit && *args.limit < lines ? line_start(part, *args.limit + 1) : part.size();
    bool more = size < part.size();
    answer.member("success", true);
    answer.member("url", document.address());
    answer.member("title", page.title);
    answer.member("content", part.substr(0, size - more));   // without the last line's end
    answer.member("lines_total", lines);
    answer.member("more", more);
    if (document.truncated) answer.member("truncated", true);
}

void refuse(const Error& error, Answer& answer)
{
    answer.member("success", false);
    answer.fail(error);
}

std::string fetched(const Args& args, const Url& url, Clock::time_point begin)
{
    auto allowed = std::getenv("IKIGAI_WEB_ALLOW_PRIVATE");
    FetchLimits limits{.until = begin + fetch_time, .body = max_body, .private_addresses = allowed && std::string_view(allowed) == "1"};
    auto document = fetch(url, limits, [](const Fetched& head) { return head.type.empty() || kind_of(head.type) != Kind::other; });
    auto page = document ? read(*document) : Result<Page>(document.error());
    Answer answer;
    if (page) tell(args, *document, *page, answer);
    else refuse(page.error(), answer);
    answer.end();
    return answer.take();
}

Status run(const Args& args, Answer& answer)
{
    auto begin = Clock::now();
    auto url = fetchable_url(args.url);
    if (!url) {
        refuse(url.error(), answer);
        return Done{};
    }
    auto outcome = work_apart([&] { return fetched(args, *url, begin); }, begin + whole_time, max_memory);
    if (outcome.ending == Outcome::late)
        refuse({code::network_error, url->host + ": no whole answer within 10 s"}, answer);
    auto told = outcome.ending == Outcome::done ? parse_json(outcome.bytes) : Result<Json>(Json());
    if (outcome.ending == Outcome::died || !told)
        refuse({code::parse_error, url->origin() + url->path + ": the document cannot be converted"}, answer);
    else if (auto* members = told->as<Json::Object>())
        for (auto& [name, value] : *members) answer.member(name, value);
    return Done{};
}

}

constinit const Applet applets::web_fetch = applet<Args, params, run>({
    .name = "web_fetch",
    .summary = "Fetch a URL and return its content as markdown",
    .details =
        "The answer's members are\n.Va success\n(true),\n.Va url\n(after redirects),\n.Va title ,\n.Va content ,\n.Va lines_total\n(of the whole content) and\n"
        ".Va more\n(whether lines follow those of\n.Va content ) ;\nor\n.Va success\n(false) with\n.Va error\nand\n.Va error_code .\n"
        ".Pp\n"
        "Only http and https are spoken.\n"
        "Up to 10 redirects are followed, and all is over after 10 seconds.\n"
        "Of a document that is longer than 10 MB the beginning is shown, with a note as the last line and\n.Va truncated\n(true).\n"
        "HTML becomes markdown; text, JSON and XML come as they are.\n"
        "Without a Content-Type the first bytes decide.\n"
        "The charset is that of the byte order mark, the Content-Type or the document's own word, else UTF-8, else windows-1252;\n"
        "known are those, UTF-16, ISO 8859-1, -2, -5, -7, -9 and -15, Windows 1250 to 1254 and 1257, KOI8-R, KOI8-U and IBM 866.\n"
        ".Ss Addresses\n"
        "Every address is checked before it is connected to, again after each redirect:\n"
        "none is fetched from that is of the loopback, a private or local network, multicast, reserved, or where a cloud keeps its metadata,\n"
        "nor an IPv6 address that stands for such a one, unless\n.Ev IKIGAI_WEB_ALLOW_PRIVATE\nis 1.\n"
        "Names are looked up once, and what was checked is what is connected to.\n"
        "Through a proxy\n.Pq Ev HTTP_PROXY , HTTPS_PROXY , ALL_PROXY , NO_PROXY\n"
        "the proxy looks names up:\n"
        "addresses, and names that can be looked up here, are checked all the same, but not what the proxy makes of a name;\n"
        "that is for the proxy's own rules.\n"
        "No cookies are kept and no user names or passwords are sent.\n"
        ".Ss Markdown\n"
        ".Bl -bullet -compact\n"
        ".It\nBlocks have one blank line between them; a paragraph is one line, in which white space is one space and\n.Li br\na line end.\n"
        ".It\nHeadings are\n.Li #\nto\n.Li ###### ,\nwithout emphasis in them.\n"
        ".It\nEmphasis is\n.Li *x* ,\n.Li **x** ,\n.Li ~~x~~\nand\n.Li `x` .\n"
        ".It\nLinks and images have absolute addresses.\nA link to a fragment or a script is its text;\n"
        "a link around blocks is on the first words in it.\nImages without meaning (an empty alt, data, a size of 1) are dropped.\n"
        ".It\nLists keep their numbers and are indented by the width of their marks.\n"
        "Items have blank lines between them where one has several blocks.\n"
        ".It\nQuotes are\n.Li > ,\nrules\n.Li --- ,\npre a fence with the language of its class, byte for byte.\n"
        ".It\nTables have their first row as the head; columns and rows that a cell spans are empty behind it.\n"
        "Tables that arrange the page (one row or column without a\n.Li th ,\nor with blocks in their cells) are blocks.\n"
        ".It\nA term of a definition list is\n.Li **term** ,\na definition\n.Li \": text\" .\n"
        ".It\nScripts, styles, navigation, hidden elements and form fields are dropped;\n.Li noscript\nand\n.Li template\ncount where there is nothing else.\n"
        ".It\nOnly what would be read as a block at the start of a line has a backslash before it, and | in tables.\n"
        ".It\nBeyond 300 open elements, 60 open marks and 48 indents, nesting is ignored; the text stays.\n"
        ".El",
    .errors = ".It Dv INVALID_URL\nThe URL, or where it redirects to, is no http or https address, or has a user name in it.\n"
              ".It Dv BLOCKED_ADDRESS\nThe host is not on the public internet.\n"
              ".It Dv NETWORK_ERROR\nThe host cannot be found or reached, cannot be trusted, or is too slow.\n"
              ".It Dv HTTP_ERROR\nThe server's answer is an error, or one redirect too many.\n"
              ".It Dv UNSUPPORTED_TYPE\nThe document is no text, or its charset is not known.\n"
              ".It Dv PARSE_ERROR\nThe document is beyond what can be converted.\n",
    .examples = examples,
});

}
