// A command line taken apart, and what a policy says of it.
#include "fuzz/fuzz.h"

#include "agent/policy.h"
#include "base/text.h"

namespace ik::fuzz {

void shell(std::string_view bytes)
{
    auto split = split_shell(bytes);
    claim(split.commands.size() <= 2000, "the commands are bounded");
    Policy policy;
    policy.allow.push_back(*parse_rule("bash(git log:*)"));
    policy.deny.push_back(*parse_rule("bash(rm:*)"));
    auto may_write = [](const std::string&) { return true; };
    auto resolve = [](const std::string& path) { return path; };
    auto verdict = decide(policy, {"1", "bash", object({{"command", clean_utf8(bytes)}})},
                          {.sandboxed = false, .ours = false, .folder = "/f", .may_write = may_write, .resolve = resolve});
    if (verdict.kind == Verdict::Kind::allow)
        claim(split.unclear.empty() && bytes.find("git") != bytes.npos && bytes.find("log") != bytes.npos, "only what a rule names is allowed");
}

}
