#include "llm/offline.h"

#include "base/text.h"
#include "llm/dialect.h"

#include <algorithm>
#include <charconv>

namespace ik::providers {
namespace {

constexpr std::size_t most_lines = 40;

const std::string& word(const Json& slots, std::string_view name) { return *slots.find(name)->as<std::string>(); }
std::int64_t count(const Json& slots, std::string_view name) { return *slots.find(name)->as<std::int64_t>(); }

// How the words of a sentence become arguments, where it is not word for word.

Json first_lines(const Json& s) { return object({{"file_path", word(s, "file_path")}, {"limit", count(s, "n")}}); }

Json some_lines(const Json& s)
{
    auto from = count(s, "from"), to = count(s, "to");
    return object({{"file_path", word(s, "file_path")}, {"offset", from}, {"limit", std::max<std::int64_t>(1, to - from + 1)}});
}

Json lines_from(const Json& s) { return object({{"file_path", word(s, "file_path")}, {"offset", count(s, "from")}}); }
Json everything(const Json&) { return object({{"pattern", "*"}}); }
Json everything_in(const Json& s) { return object({{"pattern", "*"}, {"path", word(s, "path")}}); }

std::string at_any_depth(const std::string& pattern) { return pattern.find('/') == pattern.npos ? "**/" + pattern : pattern; }
Json found(const Json& s) { return object({{"pattern", at_any_depth(word(s, "pattern"))}}); }
Json found_in(const Json& s) { return object({{"pattern", at_any_depth(word(s, "pattern"))}, {"path", word(s, "path")}}); }

// Plain text as a regular expression that matches just that.
std::string literally(const std::string& text)
{
    std::string out;
    for (char c : text) {
        if (std::string_view("\\^$.[]|()*+?{}").find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

// A word with a wildcard or a dot before its end names files, another one a folder.
Json with_place(std::string pattern, const std::string& place)
{
    auto name = place.substr(place.rfind('/') + 1);
    bool files = name.find_first_of("*?[") != name.npos || (name.find('.', 1) != name.npos && name != "..");
    if (files)
        return object({{"pattern", std::move(pattern)}, {"glob", at_any_depth(place)}});
    return object({{"pattern", std::move(pattern)}, {"glob", "**/*"}, {"path", place}});
}

Json searched(const Json& s) { return object({{"pattern", literally(word(s, "text"))}, {"glob", "**/*"}}); }
Json searched_in(const Json& s) { return with_place(literally(word(s, "text")), word(s, "place")); }
Json grepped(const Json& s) { return object({{"pattern", word(s, "text")}, {"glob", "**/*"}}); }
Json grepped_in(const Json& s) { return with_place(word(s, "text"), word(s, "place")); }

Json written(const Json& s) { return object({{"file_path", word(s, "file_path")}, {"content", word(s, "content") + "\n"}}); }

Json replaced_all(const Json& s)
{
    auto out = s;
    out.set("replace_all", true);
    return out;
}

Json where_am_i(const Json&) { return object({{"command", "pwd"}}); }
Json what_time(const Json&) { return object({{"command", "date"}}); }
Json disk(const Json&) { return object({{"command", "df -h"}}); }

// A sentence form: words and slots. {x} is one word or one quoted thing, {x#} a number, {x*} a
// phrase that ends at the first chance, {x+} one that ends at the last. The first row that fits counts.
struct Form {
    std::string_view pattern;
    std::string_view tool;
    Json (*arguments)(const Json& slots);   // null: the slots are the arguments
    std::string_view example;
};

constexpr Form forms[] = {
    {"run {command*}", "bash", nullptr, "run uname -a"},
    {"execute {command*}", "bash", nullptr, "execute df -h"},
    {"! {command*}", "bash", nullptr, ""},
    {"where am i", "bash", where_am_i, "where am I"},
    {"what time is it", "bash", what_time, "what time is it"},
    {"how full is the disk", "bash", disk, "how full is the disk"},
    {"read lines {from#} to {to#} of {file_path}", "file_read", some_lines, "read lines 10 to 20 of notes.txt"},
    {"show lines {from#} to {to#} of {file_path}", "file_read", some_lines, ""},
    {"read the first {n#} lines of {file_path}", "file_read", first_lines, "read the first 5 lines of notes.txt"},
    {"show the first {n#} lines of {file_path}", "file_read", first_lines, ""},
    {"read {file_path} from line {from#}", "file_read", lines_from, "read notes.txt from line 7"},
    {"read the file {file_path}", "file_read", nullptr, ""},
    {"read {file_path}", "file_read", nullptr, "read notes.txt"},
    {"show the file {file_path}", "file_read", nullptr, ""},
    {"show {file_path}", "file_read", nullptr, "show notes.txt"},
    {"what is in this folder", "glob", everything, "what is in this folder?"},
    {"list files in {path}", "glob", everything_in, ""},
    {"list files", "glob", everything, ""},
    {"list the files", "glob", everything, ""},
    {"list", "glob", everything, "list"},
    {"list {path}", "glob", everything_in, "list src"},
    {"find {pattern} in {path}", "glob", found_in, "find *.h in src"},
    {"find {pattern}", "glob", found, "find *.txt"},
    {"search for {text*} in {place}", "grep", searched_in, ""},
    {"search for {text*}", "grep", searched, ""},
    {"search {text+} in {place}", "grep", searched_in, "search \"to do\" in *.txt"},
    {"search {text*}", "grep", searched, "search hello"},
    {"grep {text+} in {place}", "grep", grepped_in, "grep ^[a-z]+= in *.conf"},
    {"grep {text*}", "grep", grepped, ""},
    {"write {content+} to {file_path}", "file_write", written, "write \"Hello\" to notes.txt"},
    {"create {file_path} with {content*}", "file_write", written, "create notes.txt with Hello"},
    {"replace all {old_string*} with {new_string+} in {file_path}", "file_edit", replaced_all, "replace all \"a\" with \"b\" in notes.txt"},
    {"replace {old_string*} with {new_string+} in {file_path}", "file_edit", nullptr, "replace \"Hello\" with \"Bye\" in notes.txt"},
};

constexpr std::string_view polite[] = {"please", "can you", "could you", "would you"};
constexpr std::string_view quotes = "\"'`";

// The quotes around text taken off, when it is one quoted thing.
std::string unquoted(std::string_view text)
{
    bool whole = text.size() >= 2 && quotes.find(text[0]) != quotes.npos && text.back() == text[0] &&
                 text.find(text[0], 1) == text.size() - 1;
    return std::string(whole ? text.substr(1, text.size() - 2) : text);
}

struct Slot {
    explicit Slot(std::string_view token) : name(token.substr(1, token.size() - 2))
    {
        number = name.ends_with('#');
        last = name.ends_with('+');
        phrase = last || name.ends_with('*');
        if (number || phrase) name.remove_suffix(1);
    }
    std::string_view name;
    bool number, phrase, last;

    bool set(Json& slots, std::string_view text) const
    {
        if (!number) {
            auto value = unquoted(text);
            slots.set(name, value);
            return phrase || value.size() < text.size() || value.find_first_of(" \t\n") == value.npos;
        }
        std::int64_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        slots.set(name, value);
        return error == std::errc() && end == text.data() + text.size() && value > 0;
    }
};

// The places where the slot's text may end: before white space or at the end, and behind
// the closing quote when it begins with one.
std::vector<std::size_t> ends(std::string_view text, bool last_first)
{
    if (quotes.find(text[0]) != quotes.npos)
        for (auto close = text.find(text[0], 1); close != text.npos; close = text.find(text[0], close + 1))
            if (close + 1 == text.size() || text[close + 1] == ' ')
                return {close + 1};
    std::vector<std::size_t> out;
    for (std::size_t i = 1; i <= text.size(); ++i)
        if (i == text.size() || (text[i] == ' ' && text[i - 1] != ' '))
            out.push_back(i);
    if (last_first)
        std::ranges::reverse(out);
    return out;
}

bool fits(std::span<const std::string_view> pattern, std::string_view text, Json& slots)
{
    text = trim(text);
    if (pattern.empty() || text.empty())
        return pattern.empty() && text.empty();
    auto token = pattern.front();
    auto rest = pattern.subspan(1);
    if (!token.starts_with('{')) {
        auto end = std::min(text.find_first_of(" \t\n"), text.size());
        auto said = text.substr(0, end);
        while (rest.empty() && end == text.size() && said.size() > token.size() && std::string_view("?.!").find(said.back()) != std::string_view::npos)
            said.remove_suffix(1);
        return lower(said) == token && fits(rest, text.substr(end), slots);
    }
    Slot slot(token);
    if (rest.empty())
        return slot.set(slots, text);
    for (auto end : ends(text, slot.last))
        if (slot.set(slots, text.substr(0, end)) && fits(rest, text.substr(end), slots))
            return true;
    return false;
}

std::string_view without_manners(std::string_view text)
{
    text = trim(text);
    for (auto word : polite)
        if (starts_with_ignoring_case(text, word) && text.size() > word.size() && text[word.size()] == ' ')
            return without_manners(text.substr(word.size()));
    return text;
}

struct Match { const Form* form; Json arguments; };

std::optional<Match> understand(std::string_view sentence)
{
    for (auto& form : forms) {
        Json slots = Json::Object();
        auto pattern = split(form.pattern, ' ');
        if (fits(pattern, without_manners(sentence), slots))
            return Match{&form, form.arguments ? form.arguments(slots) : slots};
    }
    return {};
}

bool offered(const Json& ask, std::string_view tool)
{
    auto* tools = ask.find("tools");
    auto* list = tools ? tools->as<Json::Array>() : nullptr;
    return list && std::ranges::any_of(*list, [&](auto& t) { return t.text("name") == tool; });
}

std::string explanation()
{
    std::string out = "I am the offline provider of ikigai: there is no model behind me, only a table of sentences. These I understand:\n\n";
    for (auto example : offline_examples())
        out += "    " + std::string(example) + "\n";
    return out + "\nFor a real model set a key and start again: OPENAI_API_KEY for OpenAI, or OPENAI_BASE_URL for any server that "
                 "speaks its protocol (Ollama: http://localhost:11434/v1), with the model's name after --model.\n";
}

std::string first_lines_of(std::string_view text)
{
    while (text.ends_with('\n')) text.remove_suffix(1);
    auto lines = split(text, '\n');
    std::string out;
    for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i)
        out += "    " + std::string(utf8_prefix(lines[i], 400)) + "\n";
    if (lines.size() > most_lines)
        out += "    … " + std::to_string(lines.size() - most_lines) + " more lines\n";
    return out;
}

// What came back from one call, in words.
std::string told(std::string_view tool, const Json& envelope)
{
    auto name = std::string(tool);
    auto* result = envelope.find("result");
    if (!result)
        return "That did not work: " + std::string(envelope.text("error")) + ".\n";
    if (auto error = result->text("error"); !error.empty()) {
        auto hint = result->text("hint");
        return "That did not work: " + std::string(error) + (hint.empty() ? "" : " (" + std::string(hint) + ")") + ".\n";
    }
    auto output = result->text("output");
    auto code = number_at(result, {"exit_code"});
    std::string out = output.empty() ? name + " has nothing to say.\n" : "This is what " + name + " says:\n\n" + first_lines_of(output);
    if (code != 0)
        out += "\nIt ended with exit code " + std::to_string(code) + ".\n";
    return out;
}

std::vector<Json> said(std::string text) { return {text_line(std::move(text)), done_line("end_turn", "", nullptr)}; }

std::vector<Json> answer_to(const Json& ask, std::string_view sentence)
{
    auto match = understand(sentence);
    if (!match)
        return said(explanation());
    auto tool = match->form->tool;
    if (!offered(ask, tool))
        return said("For that I would need the tool " + std::string(tool) + ", which this conversation does not have.\n");
    return {call_line(made_id(), std::string(tool), std::move(match->arguments)), done_line("tool_use", "", nullptr)};
}

}

std::vector<std::string_view> offline_examples()
{
    std::vector<std::string_view> out;
    for (auto& form : forms)
        if (!form.example.empty())
            out.push_back(form.example);
    return out;
}

std::vector<Json> offline_answer(const Json& ask)
{
    auto* list = ask.find("messages");
    auto* messages = list ? list->as<Json::Array>() : nullptr;
    if (!messages || messages->empty())
        return said(explanation());
    if (messages->back().text("role") != "tool")
        return answer_to(ask, messages->back().text("text"));
    auto first = messages->end();
    while (first != messages->begin() && (first - 1)->text("role") == "tool") --first;
    std::string text;
    for (auto message = first; message != messages->end(); ++message)
        if (auto* envelope = message->find("envelope"))
            text += told(message->text("name"), *envelope);
    return said(text);
}

}
