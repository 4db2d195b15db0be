// pages: HTML to markdown, beside the parser alone on the same page, in this process; and the memory of a fetch.
// The pages are those of the tests, each repeated up to one megabyte.
#include "rows.h"

#include "applets/html.h"
#include "support/server.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gumbo.h>
#include <iterator>
#include <stdexcept>

namespace ik::bench {
namespace {

constexpr std::size_t page_size = 1'000'000;   // bytes
constexpr int pairs = 15;
constexpr const char* pages[] = {"wiki-article", "docs-sphinx", "statistics-tables", "question-answers"};

std::string page_of(const Place& here, const std::string& name)
{
    auto path = std::filesystem::path(here.bin).parent_path().parent_path() / "tests/pages" / (name + ".html");
    std::ifstream in(path, std::ios::binary);
    std::string one(std::istreambuf_iterator<char>(in), {});
    auto from = one.find('>', one.find("<body")), to = one.find("</body>");
    if (from == one.npos || to == one.npos)
        throw std::runtime_error("no page with a body: " + path.string());
    auto body = one.substr(from + 1, to - from - 1);
    std::string out = one.substr(0, from + 1);
    while (out.size() < page_size)
        out += body;
    return out + "</body></html>\n";
}

void parse(const std::string& page)
{
    auto* output = gumbo_parse_with_options(&kGumboDefaultOptions, page.data(), page.size());
    if (!output)
        throw std::runtime_error("the parser failed");
    gumbo_destroy_output(&kGumboDefaultOptions, output);
}

Line time_line(const std::string& name, const std::string& page)
{
    auto base = *parse_url("http://localhost/");
    auto ours = [&] {
        if (to_markdown(page, base).markdown.empty())
            throw std::runtime_error("no markdown came of " + name);
    };
    auto measured = in_turn(pairs, [&] { return cost_of(ours); }, [&] { return cost_of([&] { parse(page); }); });
    char figure[32];
    std::snprintf(figure, sizeof figure, "ratio %.2f", measured.ratio());
    return {.row = "web", .ours = name + ", 1 MB to markdown", .reference = "gumbo's parser on it", .our_cost = measured.median_of_ours(),
            .reference_cost = measured.median_of_reference(), .figure = figure, .goal = "<= 4", .met = measured.ratio() <= 4};
}

// Of web-fetch and the process that does its work.
Line memory_line(const Place& here, const std::string& page)
{
    test::ModelServer server({{.pieces = {page}, .headers = {"Content-Type: text/html; charset=utf-8"}}});
    auto arguments = here.folder + "/fetch.json";
    std::ofstream(arguments) << R"({"url":")" << server.base_url() << "\"}";
    auto memory = memory_of({.argv = {here.libexec + "/web-fetch-tool"}, .input = arguments, .env = {"IKIGAI_WEB_ALLOW_PRIVATE=1"}}, here.bin);
    auto times = memory.rss_mb * 1e6 / static_cast<double>(page.size());
    char figure[32];
    std::snprintf(figure, sizeof figure, "%.1f x the page", times);
    return {.row = "web", .ours = "  web-fetch's memory for it", .reference = "", .our_memory = memory, .figure = figure, .goal = "< 12", .met = times < 12};
}

}

std::vector<Line> pages_to_markdown(const Place& here)
{
    std::vector<Line> out;
    for (auto* name : pages) {
        auto page = page_of(here, name);
        out.push_back(time_line(name, page));
        out.push_back(memory_line(here, page));
    }
    return out;
}

}
