#include "agent/shell_split.h"

#include "agent/shell_lex.h"
#include "base/text.h"

#include <algorithm>
#include <array>

namespace ik {
namespace {

constexpr std::size_t longest = 64 << 10, most_commands = 2000;
constexpr int deepest = 40;

constexpr std::string_view reserved_words[] = {"!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac",
                                               "[[", "select", "function", "coproc"};

bool is_name(std::string_view text)
{
    auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !text.empty() && letter(text[0]) && std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Characters that a person does not see as the shell does.
std::string strange(std::string_view line)
{
    if (!valid_utf8(line))
        return "bytes that are not UTF-8";
    for (std::size_t i = 0; i < line.size(); i += utf8_length(line.substr(i))) {
        auto c = static_cast<unsigned char>(line[i]);
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
            return "a control character";
        if (c >= 0x80 && invisible(line.substr(i, utf8_length(line.substr(i)))))
            return "an invisible character, or a blank that is none";
    }
    return "";
}

}

// The reserved word that is next, unless it is only the beginning of a longer word.
std::string_view ShellReader::reserved() const
{
    auto rest = text_.substr(at_);
    auto word = rest.substr(0, rest.find_first_of(" \t\n;&|<>()"));
    return std::ranges::count(reserved_words, word) ? word : std::string_view();
}

bool ShellReader::take(std::string_view word)
{
    if (reserved() != word)
        return unclear("no " + std::string(word) + " where one must be");
    at_ += word.size();
    return true;
}

bool ShellReader::whole()
{
    if (!list({}))
        return false;
    return pending_.empty() || unclear("a here-document without its end");
}

// Comments go with the blanks in front of them.
bool ShellReader::skip_newlines()
{
    for (;;) {
        skip_blanks();
        if (peek() != '#' && peek() != '\n')
            return true;
        if (peek() == '#' ? !skip_comment() : !newline())
            return false;
    }
}

// Commands up to one of ends, which is taken; up to the end of the text where there are none. At least one, but in a text.
bool ShellReader::list(std::initializer_list<std::string_view> ends)
{
    auto ended = [&] {
        for (auto end : ends)
            if (end == ")" || end == ";;" ? next_is(end) : reserved() == end)
                return at_ += end.size(), true;
        return false;
    };
    for (bool first = true;; first = false) {
        if (!skip_newlines())
            return false;
        if (at_end() && ends.size() == 0)
            return true;
        if (ended())
            return (!first || ends.begin()[0] == ")" || ends.begin()[0] == ";;") || unclear("nothing where a command must be");
        if (at_end())
            return unclear("the end, where more must follow");
        for (bool more = true; more;)
            if (!pipeline() || !separator(more))
                return false;
    }
}

// What stands behind a pipeline; more: another one must follow.
bool ShellReader::separator(bool& more)
{
    skip_blanks();
    more = next_is("&&") || next_is("||");
    if (more) {
        at_ += 2;
        return skip_newlines();
    }
    if (next_is("&>") || next_is("|&") || next_is(";&"))
        return unclear("an operator of bash: " + std::string(text_.substr(at_, 2)));
    if (next_is(";;"))
        return true;
    if (peek() == ';' || peek() == '&') {
        ++at_;
        return true;
    }
    if (at_end() || peek() == '\n' || peek() == ')')
        return true;
    if (peek() == '#')
        return skip_comment();
    return unclear("something behind a command that does not belong there");
}

bool ShellReader::pipeline()
{
    if (reserved() == "!") {
        at_ += 1;
        skip_blanks();
    }
    for (;;) {
        if (!command())
            return false;
        skip_blanks();
        if (peek() != '|' || peek(1) == '|' || peek(1) == '&')
            return true;
        ++at_;
        if (!skip_newlines())
            return false;
    }
}

bool ShellReader::command()
{
    if (++depth_ > deepest)
        return unclear("nested too deep");
    auto word = reserved();
    bool fine = false, compound = true;
    if (next_is("((")) fine = unclear("(( ))");
    else if (peek() == '(') ++at_, fine = group(")");
    else if (word.empty()) fine = simple(), compound = false;
    else if (word == "{") ++at_, fine = group("}");
    else if (word == "if") fine = conditional();
    else if (word == "while" || word == "until") at_ += word.size(), fine = loop();
    else if (word == "for") fine = for_loop();
    else if (word == "case") fine = choice();
    else fine = unclear(std::string(word) + " where a command must be");
    --depth_;
    return fine && (!compound || redirections_behind());
}

bool ShellReader::group(std::string_view end)
{
    auto before = out_.commands.size();
    if (!list({end}))
        return false;
    return out_.commands.size() > before || unclear("nothing where a command must be");
}

bool ShellReader::conditional()
{
    at_ += 2;
    if (!list({"then"}))
        return false;
    for (;;) {
        if (!list({"elif", "else", "fi"}))
            return false;
        if (text_.substr(0, at_).ends_with("fi"))
            return true;
        if (text_.substr(0, at_).ends_with("else"))
            return list({"fi"});
        if (!list({"then"}))
            return false;
    }
}

bool ShellReader::loop() { return list({"do"}) && list({"done"}); }

bool ShellReader::for_loop()
{
    at_ += 3;
    skip_blanks();
    Word name;
    if (!read_word(name))
        return false;
    if (!name.known || name.quoted || !is_name(name.text))
        return unclear("a for without a name");
    ShellCommand head;
    head.loop = true;
    head.assignments.push_back({name.text, ShellWord{.text = "", .known = false, .splits = false, .quoted = false}});
    if (!skip_newlines())
        return false;
    if (next_is("in") && (peek(2) == ' ' || peek(2) == '\t' || peek(2) == '\n' || peek(2) == ';')) {
        for (at_ += 2, skip_blanks(); peek() != ';' && peek() != '\n'; skip_blanks()) {
            Word word;
            if (ends_word() || peek() == '#')
                return unclear("a for that goes on strangely");
            if (!read_word(word))
                return false;
            head.words.push_back(word);
        }
    }
    if (peek() == ';') ++at_;
    return keep(std::move(head)) && skip_newlines() && take("do") && list({"done"});
}

bool ShellReader::choice()
{
    at_ += 4;
    skip_blanks();
    Word subject;
    if (ends_word())
        return unclear("a case without a word");
    if (!read_word(subject) || !skip_newlines())
        return false;
    if (!next_is("in") || std::string_view(" \t\n").find(peek(2)) == std::string_view::npos || peek(2) == '\0')
        return unclear("a case without in");
    at_ += 2;
    for (;;) {
        if (!skip_newlines())
            return false;
        if (reserved() == "esac")
            return take("esac");
        if (!choice_arm())
            return false;
        if (text_.substr(0, at_).ends_with("esac"))
            return true;
    }
}

// (PATTERN | PATTERN) LIST ;; or the last one, up to esac.
bool ShellReader::choice_arm()
{
    if (peek() == '(') ++at_;
    for (;;) {
        skip_blanks();
        Word pattern;
        if (ends_word())
            return unclear("a case without a pattern");
        if (!read_word(pattern))
            return false;
        skip_blanks();
        if (peek() == ')')
            return ++at_, list({";;", "esac"});
        if (peek() != '|')
            return unclear("a pattern that goes on strangely");
        ++at_;
    }
}

bool ShellReader::redirections_behind()
{
    ShellCommand here;
    for (;;) {
        skip_blanks();
        std::string descriptor;
        if (peek() >= '0' && peek() <= '9' && (peek(1) == '<' || peek(1) == '>')) descriptor = peek(), ++at_;
        if (peek() != '<' && peek() != '>')
            return here.redirections.empty() || keep(std::move(here));
        if (!redirection(here, descriptor))
            return false;
    }
}

bool ShellReader::redirection(ShellCommand& to, std::string descriptor)
{
    constexpr std::array<std::string_view, 10> operations = {"<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">"};
    auto operation = *std::ranges::find_if(operations, [&](auto each) { return next_is(each); });
    at_ += operation.size();
    if (operation == "<<<")
        return unclear("<<<");
    if (peek() == '(')
        return unclear("a process substitution");
    skip_blanks();
    if (ends_word())
        return unclear("a redirection to nowhere");
    Word target;
    if (!read_word(target))
        return false;
    if (operation.starts_with("<<")) {
        bool plain = target.known && std::ranges::all_of(target.text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; });
        if (!plain || target.text.empty())
            return unclear("a strange end of a here-document");
        pending_.push_back({target.text, target.quoted, operation == "<<-"});
    }
    bool copies = operation == ">&" || operation == "<&";
    if (copies && !(target.known && (target.text == "-" || (target.text.size() == 1 && target.text[0] >= '0' && target.text[0] <= '9'))))
        return unclear("a redirection that shells read differently");
    to.redirections.push_back({std::string(operation), std::move(descriptor), target});
    return true;
}

bool ShellReader::simple()
{
    ShellCommand here;
    for (;;) {
        skip_blanks();
        if (peek() == '#' && !at_end())
            break;
        if (peek() == '<' || peek() == '>') {
            if (!redirection(here, ""))
                return false;
        } else if (peek() == '(') {
            return unclear("a parenthesis behind a word: a function, an array or a pattern of bash");
        } else if (ends_word()) {
            break;
        } else if (!simple_word(here)) {
            return false;
        }
    }
    if (here.words.empty() && here.assignments.empty() && here.redirections.empty())
        return unclear("nothing where a command must be");
    return keep(std::move(here));
}

// A word, an assignment in front of the words, or the number in front of a redirection.
bool ShellReader::simple_word(ShellCommand& to)
{
    Word word;
    if (!read_word(word))
        return false;
    if (to.words.empty() && !word.quoted && std::ranges::count(reserved_words, word.text))
        return unclear("a word of the shell that is written strangely");
    bool number = !word.quoted && word.known && std::ranges::all_of(word.shape, [](char c) { return c >= '0' && c <= '9'; });
    if (number && (peek() == '<' || peek() == '>')) {
        if (word.text.size() != 1)
            return unclear("a descriptor of two digits");
        return redirection(to, word.text);
    }
    auto equals = word.shape.find('=');
    if (!to.words.empty() || equals == std::string::npos) {
        to.words.push_back(std::move(word));
        return true;
    }
    auto name = word.shape.substr(0, equals);
    if (is_name(name)) {
        // The value is what is behind the sign; text ends at the first expansion, which is never in the name.
        ShellWord value = word;
        value.text.erase(0, std::min(value.text.size(), equals + 1));
        to.assignments.push_back({name, std::move(value)});
        return true;
    }
    if (name.find_first_of("[+") != name.npos)
        return unclear("an assignment of bash");
    to.words.push_back(std::move(word));
    return true;
}

bool ShellReader::keep(ShellCommand command)
{
    if (out_.commands.size() >= most_commands)
        return unclear("more than 2000 commands");
    out_.commands.push_back(std::move(command));
    return true;
}

ShellSplit split_shell(std::string_view line)
{
    ShellSplit out;
    if (line.size() > longest) {
        out.unclear = "it is longer than 64 KB";
        return out;
    }
    if (out.unclear = strange(line); out.unclear.empty())
        ShellReader(line, out, 0).whole();
    return out;
}

}
