#include "agent/policy.h"

#include "agent/shell_risk.h"
#include "base/file.h"
#include "base/text.h"
#include "base/url.h"

#include <algorithm>

namespace ik {
namespace {

enum class Class { reading, writing, web, running };

struct ToolRow { std::string_view name; Class of; std::string_view argument; };
constexpr ToolRow own_tools[] = {
    {"file_read", Class::reading, "file_path"}, {"glob", Class::reading, ""}, {"grep", Class::reading, ""},
    {"file_write", Class::writing, "file_path"}, {"file_edit", Class::writing, "file_path"},
    {"web_fetch", Class::web, "url"}, {"web_search_brave", Class::web, ""}, {"web_search_google", Class::web, ""},
};

constexpr std::pair<std::string_view, Approve> names[] = {
    {"auto", Approve::automatic}, {"edits", Approve::edits}, {"ask", Approve::ask}, {"plan", Approve::plan}};

using Kind = Verdict::Kind;

// The one string called name; nothing where it is missing, no string, or there twice (tools differ in which one counts).
std::optional<std::string> argument(const ToolCall& call, std::string_view name)
{
    auto* members = call.arguments.as<Json::Object>();
    if (!members || std::ranges::count(*members, name, &Json::Member::first) != 1)
        return {};
    auto* text = call.arguments.find(name)->as<std::string>();
    return text && text->find('\0') == std::string::npos ? std::optional(*text) : std::nullopt;
}

// A call, with what is known of it.
class Judged {
public:
    Judged(const ToolCall& call, const Facts& facts) : call_(call), facts_(facts)
    {
        auto row = std::ranges::find(own_tools, call.name, &ToolRow::name);
        bool known = row != std::end(own_tools);
        class_ = known && facts.ours ? row->of : Class::running;
        argument_ = argument(call, call.name == "bash" ? "command" : known ? row->argument : "");
        if (call.name == "bash" && argument_)
            split_ = split_shell(*argument_);
        if (argument_ && known && row->argument == "file_path") {
            path_ = path_from(facts.folder, *argument_);
            resolved_ = path_from(facts.resolve(facts.folder), facts.resolve(absolute(*argument_)));
        }
        if (argument_ && known && row->argument == "url")
            if (auto url = parse_url(*argument_)) host_ = url->host;
    }

    Class of() const { return class_; }
    const std::optional<std::string>& text() const { return argument_; }

    bool writes_outside() const
    {
        return class_ == Class::writing && (!argument_ || !facts_.may_write(facts_.resolve(absolute(*argument_))));
    }

    Match touched_by(const Rule& rule) const
    {
        if (!names_tool(rule, call_.name)) return Match::no;
        if (rule.kind == Rule::Kind::all) return Match::yes;
        if (!argument_) return Match::maybe;
        if (rule.kind == Rule::Kind::path) return path_is(rule, path_, true) || path_is(rule, resolved_, true) ? Match::yes : Match::no;
        if (rule.kind == Rule::Kind::domain) return host_.empty() ? Match::maybe : in_domain(host_, rule.pattern) ? Match::yes : Match::no;
        return touches(rule, *argument_, split_);
    }

    // Why no rule of these allows it; empty when one does.
    std::string unallowed(const std::vector<Rule>& rules) const
    {
        std::vector<Rule> here;
        std::ranges::copy_if(rules, std::back_inserter(here), [&](auto& rule) { return names_tool(rule, call_.name); });
        if (std::ranges::count(here, Rule::Kind::all, &Rule::kind)) return "";
        if (!argument_) return "no rule allows this";
        if (call_.name == "bash") return uncovered(here, *argument_, split_, facts_.folder);
        for (auto& rule : here) {
            if (rule.kind == Rule::Kind::path && path_is(rule, path_, false) && path_is(rule, resolved_, false)) return "";
            if (rule.kind == Rule::Kind::domain && !host_.empty() && in_domain(host_, rule.pattern)) return "";
        }
        return "no rule allows this";
    }

    // The narrowest rule that a person would want; it is offered only where it would allow this very call.
    std::string always() const
    {
        for (auto& text : candidates()) {
            auto rule = parse_rule(text);
            if (rule && text.size() <= 200 && exposed(text) == text && text.find_first_of("\n\t") == std::string::npos && unallowed({*rule}).empty())
                return text;
        }
        return "";
    }

private:
    std::string absolute(const std::string& path) const { return path.starts_with('/') ? path : facts_.folder + "/" + path; }

    // A pattern may be written from the folder or from the root.
    bool path_is(const Rule& rule, const std::string& path, bool hidden) const
    {
        auto whole = path.starts_with('/') ? path : path_from("/", facts_.folder + "/" + path);
        return path_matches(rule.pattern, path, hidden) || path_matches(rule.pattern, whole.starts_with('/') ? whole : "/" + whole, hidden);
    }

    std::vector<std::string> candidates() const
    {
        if (call_.name == "bash")
            return bash_candidates();
        if (!path_.empty()) {
            if (path_.find_first_of("*?") != std::string::npos) return {};
            auto folder = path_.find('/') == std::string::npos || path_.starts_with('/') ? path_ : folder_name(path_) + "/**";
            return {call_.name + "(" + folder + ")", call_.name + "(" + path_ + ")"};
        }
        if (!host_.empty())
            return {call_.name + "(domain:" + host_ + ")"};
        return class_ == Class::running || class_ == Class::web ? std::vector{call_.name} : std::vector<std::string>();
    }

    std::vector<std::string> bash_candidates() const
    {
        if (!argument_)
            return {};
        std::vector<std::string> out;
        if (split_.commands.size() == 1 && split_.commands[0].words.size() > 1) {
            auto& words = split_.commands[0].words;
            auto plain = [](auto& word) {
                return word.known && !word.text.empty() && std::ranges::all_of(word.text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
            };
            bool with_options = harmless(words[0].text);
            if (plain(words[0]) && with_options) out.push_back("bash(" + words[0].text + ":*)");
            else if (plain(words[0]) && plain(words[1]) && words[1].text[0] != '-') out.push_back("bash(" + words[0].text + " " + words[1].text + ":*)");
        }
        out.push_back("bash(" + std::string(trim(*argument_)) + ")");
        return out;
    }

    const ToolCall& call_;
    const Facts& facts_;
    Class class_ = Class::running;
    std::optional<std::string> argument_;   // the one that rules look at
    ShellSplit split_;
    std::string path_, resolved_, host_;
};

// What the mode says where no rule does. Nothing where it is free.
std::string asked_by_mode(const Policy& policy, const Judged& call, const Facts& facts)
{
    auto mode = policy.approve;
    if (call.of() == Class::reading || (call.of() == Class::web && mode != Approve::ask))
        return "";
    if (mode == Approve::ask)
        return call.of() == Class::web ? "it goes to the network" : "every change is asked about";
    if (call.of() == Class::writing)
        return call.writes_outside() ? (call.text() ? *call.text() + " is outside of what may be written" : "it is not clear which file is meant") : "";
    if (mode == Approve::edits)
        return "commands are asked about";
    return facts.sandboxed ? "" : "there is no sandbox around it";
}

// A rule for every tool does not ask about reading: nothing would be left to work with.
bool asks_too(const Rule& rule, const Judged& call) { return rule.tool != "*" || call.of() != Class::reading; }

}

std::optional<Approve> approve_named(std::string_view name)
{
    auto row = std::ranges::find(names, name, &std::pair<std::string_view, Approve>::first);
    return row == std::end(names) ? std::nullopt : std::optional(row->second);
}

std::string_view name_of(Approve approve) { return names[static_cast<int>(approve)].first; }

Verdict decide(const Policy& policy, const ToolCall& tool_call, const Facts& facts)
{
    Judged call(tool_call, facts);
    Verdict out{.kind = Kind::ask, .reason = "", .always = "", .outside = call.writes_outside()};
    auto with = [&](Kind kind, std::string reason) { return out.kind = kind, out.reason = std::move(reason), out; };

    std::string unseen;   // a rule that may mean this
    for (auto& rule : policy.deny) {
        auto match = call.touched_by(rule);
        if (match == Match::yes) return with(Kind::deny, "the rule " + rule.text + " denies it");
        if (match == Match::maybe) unseen = "it cannot be seen whether the rule " + rule.text + " denies it";
    }
    if (policy.approve == Approve::plan && (call.of() == Class::writing || call.of() == Class::running))
        return with(Kind::deny, "in plan mode nothing may change");
    for (auto& rule : policy.ask)
        if (call.touched_by(rule) != Match::no && asks_too(rule, call)) return with(Kind::ask, "the rule " + rule.text + " asks");
    if (!unseen.empty())
        return with(Kind::ask, unseen);

    auto by_mode = asked_by_mode(policy, call, facts);
    auto by_rules = by_mode.empty() ? "" : call.unallowed(policy.allow);
    if (by_mode.empty() || by_rules.empty())
        return with(Kind::allow, "");
    if (!policy.closed) out.always = call.always();
    return with(Kind::ask, by_rules.starts_with("no rule allows") ? by_mode : by_mode + "; " + by_rules);
}

}
