#include "approval.h"

#include "agent/wire.h"
#include "base/places.h"

#include <filesystem>

namespace ik {
namespace {

namespace fs = std::filesystem;
using Step = Approval::Next::Kind;

std::string resolved(const std::string& path)
{
    std::error_code failed;
    auto out = fs::weakly_canonical(path, failed).string();
    return failed ? fs::path(path).lexically_normal().string() : out;
}

// Without a sandbox to ask: the folder that we are in.
bool in_folder(const std::string& path, const std::string& folder)
{
    auto relative = fs::path(resolved(path)).lexically_relative(folder).string();
    return !relative.empty() && relative != ".." && !relative.starts_with("../");
}

Json denied(const ToolCall& call, const std::string& why)
{
    return failure(code::tool_denied, "Tool '" + call.name + "' was not run: " + why);
}

bool is_ours(const Tool& tool)
{
    std::error_code failed;
    return !tool.argv.empty() && fs::equivalent(tool.argv[0], "/proc/self/exe", failed);
}

}

Verdict Approval::judged(const ToolCall& call, bool ours) const
{
    auto folder = resolved(".");
    bool active = options_.sandbox && options_.sandbox->active();
    auto may_write = [&](const std::string& path) { return active ? options_.sandbox->may_write(path) : options_.unconfined || in_folder(path, folder); };
    auto resolve = [](const std::string& path) { return resolved(path); };
    return decide(options_.policy, call, {.sandboxed = active || options_.unconfined, .ours = ours, .folder = folder, .may_write = may_write, .resolve = resolve});
}

Approval::Next Approval::consider(const ToolCall& call, const Tool* tool)
{
    if (!tool)
        return {Step::run, call, {}, "", ""};   // the host says that there is none
    auto verdict = judged(call, is_ours(*tool));
    if (verdict.kind == Verdict::Kind::allow)
        return {verdict.outside ? Step::run_outside : Step::run, call, {}, "allow", "the policy"};
    if (verdict.kind == Verdict::Kind::deny)
        return {Step::answered, call, denied(call, verdict.reason), "deny", verdict.reason};
    if (!options_.person) {
        denied_ = true;
        auto why = verdict.reason + ", and nobody is there to be asked";
        return {Step::answered, call, denied(call, why), "deny", why};
    }
    waiting_.push_back({.call = call, .reason = verdict.reason, .always = verdict.always, .outside = verdict.outside, .ours = is_ours(*tool)});
    return {Step::waits, call, {}, "ask", verdict.reason};
}

bool Approval::offer_outside(const ToolCall& call, const Json& envelope)
{
    if (options_.person)
        waiting_.push_back({.call = call, .reason = "the sandbox may have refused it", .outside = true, .refused = envelope});
    return options_.person;
}

std::vector<Approval::Next> Approval::answer(Answer given, std::string_view word, std::string& warning)
{
    auto question = std::move(waiting_.front());
    waiting_.pop_front();
    if (given == Answer::no) {
        if (question.refused)
            return {{Step::answered, question.call, *question.refused, "deny", "a person: not outside of the sandbox"}};
        auto why = "the user said no" + (word.empty() ? "" : ": " + std::string(word));
        return {{Step::answered, question.call, denied(question.call, why), "deny", why}};
    }
    bool rule = given != Answer::once && !question.always.empty();
    std::vector<Next> out{{question.outside ? Step::run_outside : Step::run, question.call, {}, "allow", rule ? "a person: " + question.always : "a person"}};
    if (!rule)
        return out;
    options_.policy.allow.push_back(*parse_rule(question.always));
    if (given == Answer::always)
        if (auto written = add_rule(question.always); !written)
            warning = written.error().message;
    std::erase_if(waiting_, [&](auto& later) {
        bool allowed = !later.refused && judged(later.call, later.ours).kind == Verdict::Kind::allow;
        if (allowed) out.push_back({later.outside ? Step::run_outside : Step::run, later.call, {}, "allow", "a person: " + question.always});
        return allowed;
    });
    return out;
}

std::vector<Approval::Next> Approval::cancel()
{
    std::vector<Next> out;
    for (auto& question : std::exchange(waiting_, {}))
        out.push_back({Step::answered, question.call, question.refused ? *question.refused : failure(code::tool_cancelled, "Tool '" + question.call.name + "' was cancelled before it ran"), "deny", "cancelled"});
    return out;
}

}
