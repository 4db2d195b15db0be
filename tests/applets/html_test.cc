// The conventions of the markdown, one after the other; pages made to hurt; and pages with their markdown in tests/pages.
#include "applets/html.h"

#include "base/text.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

using namespace ik;

namespace {

Url base() { return *parse_url("https://example.com/docs/page"); }
std::string md(std::string_view html) { return to_markdown(html, base()).markdown; }

std::string times(std::size_t n, std::string_view text)
{
    std::string out;
    while (n--) out += text;
    return out;
}

std::vector<std::string> words(const std::string& text)
{
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

}

TEST_CASE("html: blocks have one blank line between them")
{
    CHECK(md("") == "");
    CHECK(md("  \n ") == "");
    CHECK(md("<p>a</p>\n\n\n<p>b</p><p> </p><div>c</div>") == "a\n\nb\n\nc");
    CHECK(md("<div>a<p>b</p>c</div>d") == "a\n\nb\n\nc\n\nd");
}

TEST_CASE("html: white space is one space, and none at the ends of blocks")
{
    CHECK(md("<p> a \t\r\n\f b&nbsp;&nbsp;c </p>") == "a b c");
    CHECK(md("<p>a<br> b <br/>\n</p>") == "a\nb");
    CHECK(md("<p><br>a<br><br><br>b") == "a\n\nb");
    CHECK(md("<p>a <b> b </b> c") == "a **b** c");
}

TEST_CASE("html: headings")
{
    CHECK(md("<h1>a</h1><h2>b</h2><h3>c</h3><h4>d</h4><h5>e</h5><h6>f</h6>") == "# a\n\n## b\n\n### c\n\n#### d\n\n##### e\n\n###### f");
    CHECK(md("<h1></h1><h2> <b> </b></h2>x") == "x");
    CHECK(md("<h2>a <em>b</em> <strong>c</strong> <code>d</code> <a href=/e>e</a></h2>") == "## a b c `d` [e](https://example.com/e)");
    CHECK(md("<h1><div>a</div><div>b<br>c</div></h1>") == "# a b c");
    CHECK(md("<b><h1>a</h1>b</b>") == "# a\n\n**b**");
    CHECK(md("<h1>a<ul><li>b</ul>c") == "# a\n\n- b\n\nc");
}

TEST_CASE("html: emphasis")
{
    for (auto* tag : {"em", "i", "cite", "dfn", "var"})
        CHECK(md(std::string("a <") + tag + ">x</" + tag + "> b") == "a *x* b");
    for (auto* tag : {"strong", "b"})
        CHECK(md(std::string("a <") + tag + ">x</" + tag + "> b") == "a **x** b");
    for (auto* tag : {"del", "s", "strike"})
        CHECK(md(std::string("a <") + tag + ">x</" + tag + "> b") == "a ~~x~~ b");
    for (auto* tag : {"code", "kbd", "samp", "tt"})
        CHECK(md(std::string("a <") + tag + ">x</" + tag + "> b") == "a `x` b");
    CHECK(md("<code>a`b</code>") == "`` a`b ``");
    CHECK(md("a<b> x </b>b") == "a **x** b");
    CHECK(md("a<b> </b>b<i></i>c") == "a bc");
    CHECK(md("<b>a<strong>b</strong>c</b>") == "**abc**");
    CHECK(md("<b><i>a</i></b>") == "***a***");
    CHECK(md("<b>a</b><b>b</b>") == "**ab**");
    CHECK(md("<b>a<p>b</p>c</b>") == "**a**\n\n**b**\n\n**c**");
    CHECK(md("x<sup>2</sup> H<sub>2</sub>O <u>u</u> <mark>m</mark> <small>s</small> <abbr>HTML</abbr> <span>sp</span><my-tag>!</my-tag>") == "x2 H2O u m s HTML sp!");
    CHECK(md("<code>a <b>b</b></code>") == "`a b`");
    CHECK(md("<code>List&lt;<a href=/s>String</a>&gt;</code>") == "`List<`[`String`](https://example.com/s)`>`");
}

TEST_CASE("html: links")
{
    CHECK(md("<a href='http://x.org/a?b=c#d'>x</a>") == "[x](http://x.org/a?b=c#d)");
    CHECK(md("<a href=b>x</a> <a href=../b>x</a> <a href=/b>x</a> <a href='?q'>x</a> <a href='//c.org'>x</a>")
          == "[x](https://example.com/docs/b) [x](https://example.com/b) [x](https://example.com/b) [x](https://example.com/docs/page?q) [x](https://c.org)");
    CHECK(md("<a href='mailto:a@b.c'>x</a> <a href=' /a b '>x</a>") == "[x](mailto:a@b.c) [x](https://example.com/a%20b)");
    CHECK(md("<base href='/other/'><a href=b>x</a>") == "[x](https://example.com/other/b)");
    CHECK(md("<base href='http://o.org/p/q'><a href=b>x</a>") == "[x](http://o.org/p/b)");
    CHECK(md("a<a href=b></a><a href=b> </a>c") == "a c");
    CHECK(md("<a>x</a> <a href='#y'>y</a> <a href=' JavaScript:alert(1)'>z</a> <a href='java\nscript:a'>w</a>") == "x y z w");
    CHECK(md("<a href=b> <b>x</b> </a>y") == "[**x**](https://example.com/docs/b) y");
    CHECK(md("<a href=b><h3>T</h3><p>p</p>q</a>") == "### [T](https://example.com/docs/b)\n\np\n\nq");
    CHECK(md("<a href=b><div><img src=i.png></div><p>p</p></a>") == "![](https://example.com/docs/i.png)\n\n[p](https://example.com/docs/b)");
    CHECK(md("<a href=b><img src=i.png alt=A></a>") == "[![A](https://example.com/docs/i.png)](https://example.com/docs/b)");
    CHECK(md("<a href=b><img src=i.png alt=A> t</a>") == "[![A](https://example.com/docs/i.png) t](https://example.com/docs/b)");
}

TEST_CASE("html: images")
{
    CHECK(md("<img src=a.png alt=' A  B '>") == "![A B](https://example.com/docs/a.png)");
    CHECK(md("<img src=a.png>") == "![](https://example.com/docs/a.png)");
    CHECK(md("a<img src=a.png alt=''><img src='data:image/png;base64,AA' alt=x><img src=a width=1 alt=x><img src=a height=0 alt=x><img alt=x>b") == "ab");
    CHECK(md("<picture><source srcset=b><img src=a alt=A></picture>") == "![A](https://example.com/docs/a)");
    CHECK(md("<video>v</video><audio>a</audio><canvas>c</canvas><object>o</object><iframe>i</iframe><svg><title>s</title><text>t</text></svg>") == "vacos");
}

TEST_CASE("html: lists")
{
    CHECK(md("<ul><li>a<li>b</ul>") == "- a\n- b");
    CHECK(md("<ol><li>a</li><li>b</li></ol>") == "1. a\n2. b");
    CHECK(md("<ol start=9><li>a<li>b<li value=20>c<li>d</ol>") == "9. a\n10. b\n20. c\n21. d");
    CHECK(md("<ol reversed><li>a<li>b</ol>") == "2. a\n1. b");
    CHECK(md("<ul><li>a<ol><li>b<ul><li>c</ul></ol><li>d</ul>") == "- a\n  1. b\n     - c\n- d");
    CHECK(md("<ol start=10><li>a<ul><li>b</ul></ol>") == "10. a\n    - b");
    CHECK(md("<ul><li><p>a</p></li><li><p>b</p></li></ul>") == "- a\n- b");
    CHECK(md("<ul><li><p>a</p><p>b</p><li>c</ul>") == "- a\n\n  b\n\n- c");
    CHECK(md("<ul><li>a<pre>x\n\ny</pre></ul>") == "- a\n\n  ```\n  x\n\n  y\n  ```");
    CHECK(md("<ul><li>a<br>b</ul>") == "- a\n  b");
    CHECK(md("<ul>t<li>a</ul>") == "- t\n- a");
    CHECK(md("<div><li>a<li>b</div>c") == "- a\n- b\n\nc");
    CHECK(md("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>") == "- a\n  - b\n- c");
    CHECK(md("<ul><li><ul><li>a<li>b</ul></ul>") == "- - a\n  - b");
    CHECK(md("<ul><li></li><li>a</ul>x<ul></ul>") == "- a\n\nx");
    CHECK(md("<ol><li>a<li> <li>c</ol>") == "1. a\n3. c");
    CHECK(md("<ul><li><input type=checkbox> a<li><label><input type=checkbox checked>b</label></ul>") == "- [ ] a\n- [x] b");
}

TEST_CASE("html: quotes, rules")
{
    CHECK(md("<blockquote><p>a<br>b<p>c<ul><li>d</ul></blockquote>e") == "> a\n> b\n>\n> c\n>\n> - d\n\ne");
    CHECK(md("<blockquote>a<blockquote>b</blockquote></blockquote>") == "> a\n>\n> > b");
    CHECK(md("<ul><li>a<blockquote>b<p>c</blockquote></ul>") == "- a\n\n  > b\n  >\n  > c");
    CHECK(md("a<hr>b") == "a\n\n---\n\nb");
    CHECK(md("<blockquote></blockquote>") == "");
}

TEST_CASE("html: code")
{
    CHECK(md("<pre>a\n  b\n\n</pre>") == "```\na\n  b\n```");
    CHECK(md("<pre>\n\n a</pre>") == "```\n\n a\n```");
    CHECK(md("<pre><code>\n a</code></pre>") == "```\n a\n```");
    CHECK(md("<pre><code class='hljs language-c++'>x</code></pre>") == "```c++\nx\n```");
    CHECK(md("<pre class=lang-sh>x</pre>") == "```sh\nx\n```");
    CHECK(md("<div class='highlight highlight-source-shell'><pre>x</pre></div>") == "```shell\nx\n```");
    CHECK(md("<figure class=language-go><pre>x</pre></figure>") == "```go\nx\n```");
    CHECK(md("<pre>a ``` b <b>c</b> <a href=x>d</a><br>e&lt;</pre>") == "````\na ``` b c d\ne<\n````");
    CHECK(md("<pre>\n</pre>") == "");
    CHECK(md("<pre><div>a</div><div>b</div></pre>") == "```\na\nb\n```");
    CHECK(md("<pre><span>a</span> <span hidden>b</span><span>c</span></pre>") == "```\na c\n```");
}

TEST_CASE("html: tables")
{
    CHECK(md("<table><tr><th>a<th>b<tr><td>1<td>2</table>") == "| a | b |\n| --- | --- |\n| 1 | 2 |");
    CHECK(md("<table><tr><td>a<td>b<tr><td>1<td>2</table>") == "| a | b |\n| --- | --- |\n| 1 | 2 |");
    CHECK(md("<table><caption>C</caption><tbody><tr><td>1<td>2</tbody><thead><tr><th>a<th>b</thead></table>") == "C\n\n| a | b |\n| --- | --- |\n| 1 | 2 |");
    CHECK(md("<table><tr><th>a<th><tr><td><p>x</p><p>y<br>z|</p><td><b>c</b></table>") == "| a |  |\n| --- | --- |\n| x y z\\| | **c** |");
    CHECK(md("<table><tr><td colspan=2>a<td>b<tr><td>1</table>") == "| a |  | b |\n| --- | --- | --- |\n| 1 |  |  |");
    CHECK(md("<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td>d<td>e</table>") == "| a | b |\n| --- | --- |\n|  | c |\n| d | e |");
    CHECK(md("<table><tr><td>a<tr><td>b</table>") == "a\n\nb");
    CHECK(md("<table><tr><td>a<td>b</table>") == "a\n\nb");
    CHECK(md("<table><tr><th>a<tr><td>b</table>") == "| a |\n| --- |\n| b |");
    CHECK(md("<table><tr><td>a<td><ul><li>b</ul><tr><td>c<td>d</table>") == "a\n\n- b\n\nc\n\nd");
    CHECK(md("<table><tr><td>a<td><table><tr><th>b<th>c</table><tr><td>d<td>e</table>") == "a\n\n| b | c |\n| --- | --- |\n\nd\n\ne");
    CHECK(md("<table><tr><td><td><tr><td><td></table>") == "");
    CHECK(md("<ul><li>a<table><tr><th>b</table></ul>") == "- a\n\n  | b |\n  | --- |");
}

TEST_CASE("html: definitions")
{
    CHECK(md("<dl><dt>a <b>b</b></dt><dd>c</dd><dd><p>d</p><p>e</p><ul><li>f</ul></dd></dl>") == "**a b**\n\n: c\n\n: d\n\n  e\n\n  - f");
    CHECK(md("<dl><div><dt><code>a</code><dd>b</div></dl>") == "**`a`**\n\n: b");
}

TEST_CASE("html: what is not shown")
{
    CHECK(md("<head><title>t</title><style>s</style></head>a<script>'<p>x</p>'</script><style>b</style><nav>n</nav><template>t</template><!-- c --><noscript>ns</noscript>") == "a");
    CHECK(md("a<p hidden>b</p><p style='color:red; Display : NONE !important'>c</p><p style='visibility:hidden'>d</p><p aria-hidden=true>e</p><p aria-hidden=false>f</p>") == "a\n\nf");
    CHECK(md("<input value=a><select><option>b</select><textarea>c</textarea><datalist><option>d</datalist><button>e</button>") == "e");
    CHECK(md("<dialog>a</dialog><dialog open>b</dialog><div role=navigation>c</div><rp>d</rp>") == "b");
    CHECK(md("<noscript><p>a</p></noscript>") == "a");
    CHECK(md("<template>a<p>b</p></template>") == "a\n\nb");
    CHECK(md("<body style='display:none'>a") == "a");
    CHECK(md("<span hidden>a<span>b</span>c</span>d") == "d");
    CHECK(md("<script><!-- <script>a</script> b --></script>c") == "c");
    CHECK(md("a<!-- > -- -->b<!-->c<!--->d<!-- x --!>e") == "abcde");
}

TEST_CASE("html: blocks of many names, and the rest")
{
    for (auto* tag : {"header", "footer", "main", "article", "section", "aside", "div", "form", "fieldset", "figure", "address", "details", "center"})
        CHECK(md(std::string("a<") + tag + ">b</" + tag + ">c") == "a\n\nb\n\nc");
    CHECK(md("<details><summary>a</summary>b</details><figure><img src=i><figcaption>c</figcaption></figure><fieldset><legend>d</legend><label>e</label> f</fieldset>")
          == "a\n\nb\n\n![](https://example.com/docs/i)\n\nc\n\nd\n\ne f");
    CHECK(md("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>") == "漢(kan)");
    CHECK(md("a <q>b <q>c</q></q>") == "a \"b \"c\"\"");
    CHECK(md("soft&shy;hyphen wo<wbr>rd") == "softhyphen word");
    CHECK(md("<math><mi>x</mi><mo>=</mo><mn>1</mn></math>") == "x=1");
}

TEST_CASE("html: text that would be read as a block is escaped")
{
    CHECK(md("<p># a<p>## a<p>#a<p>&gt;a<p>- a<p>+ a<p>* a<p>1. a<p>1.5<p>2024. a<p>---<p>--<p>====<p>___<p>***<p>```<p>~~~ x")
          == "\\# a\n\n\\## a\n\n#a\n\n\\>a\n\n\\- a\n\n\\+ a\n\n\\* a\n\n1\\. a\n\n1.5\n\n2024\\. a\n\n\\---\n\n--\n\n\\====\n\n\\___\n\n\\***\n\n\\```\n\n\\~~~ x");
    CHECK(md("<p>a<br>- b") == "a\n\\- b");
    CHECK(md("<ul><li>- a</ul>") == "- \\- a");
    CHECK(md("a_b_c *d* [e](f) &lt;g&gt; | \\") == "a_b_c *d* [e](f) <g> | \\");
}

TEST_CASE("html: the title")
{
    CHECK(to_markdown("<title> a\n &amp; b </title><title>c</title>x", base()).title == "a & b");
    CHECK(to_markdown("<svg><title>a</title></svg>", base()).title == "");
    CHECK(to_markdown("", base()).title == "");
}

TEST_CASE("html: nothing in a page makes it slow, deep or crash")
{
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t many = 100'000;
    std::vector<std::pair<std::string, std::string>> pages;
    for (std::string tag : {"div", "b", "i", "blockquote", "table", "ul", "ol", "dl", "span", "p", "a href=x", "em", "object", "svg", "button", "q", "ruby", "select",
                            "font color=red", "nobr", "h1", "form", "x-y", "li", "dd", "template", "math", "code", "pre", "noscript", "details", "option", "rt", "marquee"})
        pages.emplace_back(tag, times(many, "<" + tag + ">x"));
    pages.emplace_back("ul li", times(many, "<ul><li>x"));
    pages.emplace_back("table td", times(many, "<table><tr><td>x"));
    pages.emplace_back("closed", times(many, "<div>") + "x" + times(many, "</div>"));
    pages.emplace_back("end tags", times(many, "</p></div></b></li></br>"));
    pages.emplace_back("misnested", times(many, "<b><p>x</b><a href=y><div>y</a></div></i>"));
    pages.emplace_back("rows", "<table>" + times(many, "x<tr>") + "</table>");
    pages.emplace_back("wide", "<table>" + times(100, "<tr><td colspan=1000 rowspan=65534>x") + "<tr>" + times(50'000, "<td>y") + "</table>");
    pages.emplace_back("<", times(1 << 20, "<"));
    pages.emplace_back("&", times(1 << 20, "&"));
    pages.emplace_back("</", times(1 << 19, "</"));
    pages.emplace_back("<!--", times(1 << 18, "<!--"));
    pages.emplace_back("<![CDATA[", "<svg>" + times(many, "<![CDATA["));
    pages.emplace_back("<script>", times(many, "<script><!--"));
    pages.emplace_back("NUL", std::string(1 << 20, '\0'));
    pages.emplace_back("NUL in tags", times(many, std::string("<a\0b href\0=\0>x\0</a\0b>", 22)));
    pages.emplace_back("no UTF-8", times(many, "<p>\xFF\xFE\xC3<b \xF0=\x9F>\xED\xA0\x80"));
    pages.emplace_back("attribute", "<a href='" + std::string(1 << 20, 'x') + "'>x</a><p class='" + std::string(1 << 20, ' '));
    auto attributes = std::string("<p ");
    for (int i = 0; i < 100'000; ++i) attributes += "a" + std::to_string(i) + "=1 ";
    pages.emplace_back("attributes", attributes + ">x");
    auto formatting = std::string();
    for (int i = 0; i < 20'000; ++i) formatting += "<code class=language-" + std::to_string(i) + ">x";
    pages.emplace_back("formatting", formatting + times(20'000, "<p>y"));

    for (auto& [name, page] : pages) {
        INFO(name);
        auto begin = Clock::now();
        auto markdown = md(page);
        auto seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        CHECK(seconds < (test::sanitized() ? 60 : 5));
        CHECK(markdown.size() < 20u << 20);
        CHECK(valid_utf8(markdown));
    }
    CHECK(words(md(times(many, "<div>x"))).size() >= many);
    CHECK(words(md(times(many, "<blockquote>x <b>y"))).size() >= 2 * many);
    CHECK(words(md("<table><tr><td colspan=1000 rowspan=65534>x" + times(50'000, "<td>y") + "</table>")).size() >= 50'000);
}

namespace {

// The words that a reader sees, by a way of its own: the pages of this test are well formed and have no entities.
std::vector<std::string> seen_words(const std::string& html)
{
    std::string text;
    for (std::size_t at = 0; at < html.size();) {
        if (html[at] != '<') {
            text += html[at++];
            continue;
        }
        auto end = html.find('>', at);
        auto tag = html.substr(at + 1, end - at - 1);
        bool hidden = tag == "script" || tag == "nav" || tag.find(" hidden") != tag.npos;
        at = hidden ? html.find("</" + tag.substr(0, tag.find(' ')) + ">", at) : end + 1;
        auto name = tag.substr(tag.starts_with('/'), tag.find(' '));
        for (auto* inline_name : {"b", "i", "a", "code", "span", "s", "wbr"})
            if (name == inline_name) name.clear();
        if (!name.empty()) text += ' ';
    }
    return words(text);
}

// The words of markdown without its marks: the words of the page have only letters and digits.
std::vector<std::string> written_words(const std::string& markdown)
{
    std::string text;
    for (std::size_t at = 0; at < markdown.size(); ++at) {
        if (markdown.substr(at, 2) == "](") at = markdown.find(')', at);
        else if (std::isalnum(static_cast<unsigned char>(markdown[at]))) text += markdown[at];
        else if (std::string_view("*`~[").find(markdown[at]) == std::string_view::npos) text += ' ';
    }
    return words(text);
}

// Pages of all sorts of elements in one another, the same for the same seed.
class Pages {
public:
    explicit Pages(unsigned seed) : state_(seed) {}

    std::string page()
    {
        std::string out;
        for (int i = 0; i < 8; ++i) out += block(0);
        return out;
    }

private:
    unsigned next(unsigned below)
    {
        state_ = state_ * 1664525 + 1013904223;
        return (state_ >> 16) % below;
    }
    std::string word() { return "w" + std::to_string(++words_); }

    std::string words(int depth)
    {
        std::string out;
        for (auto n = 1 + next(4); n > 0; --n) {
            static constexpr const char* marks[] = {"b", "i", "code", "s", "span", "a href=/x", "span hidden"};
            std::string mark = marks[next(7)];
            auto name = mark.substr(0, mark.find(' '));
            if (depth < 3 && next(3) == 0) out += (next(2) ? " " : "") + std::string("<") + mark + ">" + words(name == "code" || mark.ends_with("hidden") ? 9 : depth + 1) + "</" + name + ">" + (next(2) ? " " : "");
            else out += " " + word() + (next(4) ? " " : "");
        }
        return out;
    }

    std::string block(int depth)
    {
        auto inside = [&] { return depth < 4 ? block(depth + 1) : words(0); };
        switch (next(12)) {
        case 0: return "<ul><li>" + inside() + "</li><li>" + inside() + "</li></ul>";
        case 1: return "<blockquote>" + inside() + inside() + "</blockquote>";
        case 2: return "<div>" + words(0) + inside() + words(0) + "</div>";
        case 3: return "<table><tr><td>" + inside() + "</td><td>" + words(0) + "</td></tr><tr><td>" + words(0) + "</td></tr></table>";
        case 4: return "<dl><dt>" + words(0) + "</dt><dd>" + inside() + "</dd></dl>";
        case 5: return "<h2>" + words(0) + "</h2>";
        case 6: return "<pre>" + words(9) + "</pre>";
        case 7: return "<section hidden>" + words(0) + "</section><nav>" + words(0) + "</nav><script>" + word() + "</script>";
        case 8: return "<table><tr><th>" + words(0) + "</th><th>" + words(0) + "</th></tr></table>";
        case 9: return "<li>" + words(0) + "</li>" + words(0);
        default: return "<p>" + words(0) + "</p>";
        }
    }

    unsigned state_;
    int words_ = 0;
};

}

TEST_CASE("html: every word that is seen is there once, in order")
{
    for (unsigned seed = 1; seed <= 400; ++seed) {
        auto page = Pages(seed).page();
        INFO("seed " << seed << "\n" << page << "\n-> " << md(page));
        auto seen = seen_words(page);
        std::erase_if(seen, [](auto& word) { return !word.starts_with('w'); });
        auto written = written_words(md(page));
        std::erase_if(written, [](auto& word) { return !word.starts_with('w'); });
        REQUIRE(written == seen);
    }
}

TEST_CASE("html: the pages in tests/pages become their markdown")
{
    auto folder = std::filesystem::path(test::root()) / "tests/pages";
    int count = 0;
    if (std::filesystem::is_directory(folder))
        for (auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".html")
                continue;
            ++count;
            auto expected = test::contents_of(std::filesystem::path(entry.path()).replace_extension(".md"));
            while (expected.ends_with('\n')) expected.pop_back();
            INFO(entry.path().filename().string());
            CHECK(md(test::contents_of(entry.path())) == expected);
        }
    std::cout << "html: " << count << " pages\n";
}
