#include "agent/shell_lex.h"

#include <algorithm>
#include <utility>

namespace ik {
namespace {

constexpr int deepest = 40;
constexpr std::string_view ending = " \t\n;&|<>()";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Brace expansion is bash's: {a,b} and {1..9}.
bool may_be_braces(std::string_view shape)
{
    auto open = shape.find('{');
    if (open == shape.npos)
        return false;
    auto rest = shape.substr(open);
    return rest.find(',') != rest.npos || rest.find("..") != rest.npos;
}

bool has_wildcard(std::string_view shape)
{
    auto open = shape.find('[');
    return shape.find_first_of("*?") != shape.npos || (open != shape.npos && shape.find(']', open) != shape.npos);
}

bool has_tilde(std::string_view shape)
{
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == '~' && (i == 0 || shape[i - 1] == ':' || shape[i - 1] == '='))
            return true;
    return false;
}

}

bool ShellReader::unclear(std::string why)
{
    if (out_.unclear.empty()) out_.unclear = std::move(why);
    return false;
}

void ShellReader::skip_blanks()
{
    for (;;)
        if (peek() == ' ' || peek() == '\t') ++at_;
        else if (next_is("\\\n")) at_ += 2;
        else return;
}

bool ShellReader::skip_comment()
{
    if (inside_)
        return unclear("a comment in a command substitution");
    while (!at_end() && peek() != '\n') ++at_;
    return true;
}

// The end of a line, with the here-documents that it announced.
bool ShellReader::newline()
{
    ++at_;
    if (outer_pending_)
        return unclear("a line end between a here-document and its announcement");
    auto documents = std::exchange(pending_, {});
    return std::ranges::all_of(documents, [&](auto& document) { return here_document(document); });
}

bool ShellReader::here_document(const HereDocument& document)
{
    auto begin = at_;
    while (!at_end()) {
        auto line_begin = at_;
        auto end = std::min(text_.find('\n', at_), text_.size());
        auto line = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        while (document.tabs && line.starts_with('\t')) line.remove_prefix(1);
        if (line == document.delimiter)
            return document.quoted || here_text(text_.substr(begin, line_begin - begin));
    }
    return unclear("a here-document without its end");
}

// Its text is expanded as between double quotes, where a double quote is nothing special.
bool ShellReader::here_text(std::string_view body)
{
    if (body.find("\\\n") != body.npos)
        return unclear("a line continuation in a here-document");
    ShellReader inner(body, out_, depth_ + 1);
    if (inner.depth_ > deepest)
        return unclear("nested too deep");
    Word ignored;
    while (!inner.at_end()) {
        bool fine = true;
        if (inner.peek() == '\\') inner.at_ += 2;
        else if (inner.peek() == '$') fine = inner.dollar(ignored, true);
        else if (inner.peek() == '`') fine = inner.backquotes(ignored, true);
        else ++inner.at_;
        if (!fine)
            return false;
    }
    return true;
}

bool ShellReader::ends_word() const { return at_end() || ending.find(peek()) != ending.npos; }

void ShellReader::add(Word& word, char c, bool quoted)
{
    if (word.known) word.text += c;
    word.shape += quoted ? '\1' : c;
    word.quoted |= quoted;
}

void ShellReader::expand(Word& word, bool quoted)
{
    word.known = false;
    word.splits |= !quoted;
    word.shape += '\2';
}

bool ShellReader::read_word(Word& word)
{
    if (peek() == '#')
        return unclear("a comment where a word must be");
    while (!ends_word()) {
        char c = peek();
        bool fine = true;
        if (c == '\\') {
            if (at_ + 1 >= text_.size())
                return unclear("a backslash at the end");
            if (peek(1) != '\n') add(word, peek(1), true);
            at_ += 2;
        } else if (c == '\'') fine = single_quotes(word);
        else if (c == '"') fine = double_quotes(word);
        else if (c == '$') fine = dollar(word, false);
        else if (c == '`') fine = backquotes(word, false);
        else {
            add(word, c, false);
            ++at_;
        }
        if (!fine)
            return false;
    }
    if (peek() == '(')
        return unclear("a parenthesis behind a word: a function, an array or a pattern of bash");
    return finish_word(word);
}

// What only the whole word shows.
bool ShellReader::finish_word(Word& word)
{
    if (may_be_braces(word.shape))
        return unclear("a brace expansion");
    if (!has_wildcard(word.shape) && !has_tilde(word.shape))
        return true;
    auto begin = word.shape.find_first_of("*?[~\2");
    word.text.resize(std::min(word.text.size(), begin));
    word.known = false;
    return true;
}

bool ShellReader::single_quotes(Word& word)
{
    auto end = text_.find('\'', at_ + 1);
    if (end == text_.npos)
        return unclear("a quote without its end");
    auto inside = text_.substr(at_ + 1, end - at_ - 1);
    if (!pending_.empty() && inside.find('\n') != inside.npos)
        return unclear("a quoted line end behind the announcement of a here-document");
    for (char c : inside) add(word, c, true);
    word.quoted = true;
    at_ = end + 1;
    return true;
}

bool ShellReader::double_quotes(Word& word)
{
    word.quoted = true;
    for (++at_; !at_end();) {
        char c = peek();
        bool fine = true;
        if (c == '"') {
            ++at_;
            return true;
        }
        if (c == '\n' && !pending_.empty())
            return unclear("a quoted line end behind the announcement of a here-document");
        if (c == '\\' && peek(1) == '\n') at_ += 2;
        else if (c == '\\' && peek(1) != '\0' && std::string_view("$`\"\\").find(peek(1)) != std::string_view::npos) {
            add(word, peek(1), true);
            at_ += 2;
        } else if (c == '$') fine = dollar(word, true);
        else if (c == '`') fine = backquotes(word, true);
        else {
            add(word, c, true);
            ++at_;
        }
        if (!fine)
            return false;
    }
    return unclear("a quote without its end");
}

bool ShellReader::dollar(Word& word, bool quoted)
{
    char next = peek(1);
    if (next == '(')
        return peek(2) == '(' ? arithmetic(word, quoted) : substitution(word, quoted);
    if (next == '{')
        return parameter(word, quoted);
    if (next == '[')
        return unclear("$[ ]");
    if (next == '\\' && peek(2) == '\n')
        return unclear("a line continuation in an expansion");
    if (!quoted && (next == '\'' || next == '"'))
        return unclear(std::string("$") + next);
    if (is_letter(next)) {
        for (++at_; is_letter(peek()) || is_digit(peek()); ++at_) {}
        if (next_is("\\\n") || (peek() == '[' && !quoted))
            return unclear("a line continuation or a bracket behind a variable");
        expand(word, quoted);
        return true;
    }
    if (next != '\0' && (is_digit(next) || std::string_view("@*#?-$!").find(next) != std::string_view::npos)) {
        expand(word, quoted && next != '@');
        at_ += 2;
        return true;
    }
    add(word, '$', quoted);
    ++at_;
    return true;
}

// ${name}, ${#name}, and ${name:-plain text} with - + ? # % ; no other has the same meaning everywhere, or none that matters.
bool ShellReader::parameter(Word& word, bool quoted)
{
    auto end = text_.find('}', at_);
    if (end == text_.npos)
        return unclear("an expansion without its end");
    auto inside = text_.substr(at_ + 2, end - at_ - 2);
    if (inside.size() > 1 && inside.starts_with('#')) inside.remove_prefix(1);
    std::size_t name = 0;
    while (name < inside.size() && (is_letter(inside[name]) || (is_digit(inside[name]) && (name > 0 || inside.size() == 1)))) ++name;
    if (name == 0)
        return unclear("${" + std::string(inside) + "}");
    auto rest = inside.substr(name);
    if (rest.starts_with(':')) rest.remove_prefix(1);
    bool plain = std::ranges::all_of(rest.substr(std::min<std::size_t>(1, rest.size())), [](char c) {
        return is_letter(c) || is_digit(c) || std::string_view("./,+-%@*#: ").find(c) != std::string_view::npos;
    });
    bool sound = rest.empty() ? inside.size() == name : std::string_view("-+?#%").find(rest[0]) != std::string_view::npos;
    if (!sound || !plain)
        return unclear("${" + std::string(inside) + "}");
    expand(word, quoted);
    at_ = end + 1;
    return true;
}

// Numbers and operators only: bash runs commands that stand in the values of variables.
bool ShellReader::arithmetic(Word& word, bool quoted)
{
    int open = 0;
    for (at_ += 3; !at_end(); ++at_) {
        char c = peek();
        if (c == ')' && open == 0) {
            if (peek(1) != ')')
                return unclear("two parentheses that are no arithmetic");
            at_ += 2;
            expand(word, quoted);
            return true;
        }
        if (c == '(') ++open;
        else if (c == ')') --open;
        else if (!is_digit(c) && std::string_view(" +-*/%<>&|^~!").find(c) == std::string_view::npos)
            return unclear("arithmetic with names");
    }
    return unclear("arithmetic without its end");
}

bool ShellReader::substitution(Word& word, bool quoted)
{
    if (++depth_ > deepest)
        return unclear("nested too deep");
    at_ += 2;
    auto pending = std::exchange(pending_, {});
    bool was_inside = std::exchange(inside_, true), was_outer = std::exchange(outer_pending_, outer_pending_ || !pending.empty());
    if (!list({")"}))
        return false;
    if (!pending_.empty())
        return unclear("a here-document without its end");
    pending_ = std::move(pending);
    inside_ = was_inside;
    outer_pending_ = was_outer;
    --depth_;
    expand(word, quoted);
    return true;
}

bool ShellReader::backquotes(Word& word, bool quoted)
{
    auto end = text_.find('`', at_ + 1);
    if (end == text_.npos)
        return unclear("a backquote without its end");
    auto inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find_first_of(quoted ? "\\\"#" : "\\#") != inside.npos)
        return unclear("backslashes, quotes or comments in backquotes");
    if (depth_ + 1 > deepest)
        return unclear("nested too deep");
    if (inside.find('\n') != inside.npos && (!pending_.empty() || outer_pending_))
        return unclear("a line end between a here-document and its announcement");
    ShellReader inner(inside, out_, depth_ + 1);
    if (!inner.whole())
        return false;
    at_ = end + 1;
    expand(word, quoted);
    return true;
}

}
