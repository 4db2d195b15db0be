#include "calls.h"

namespace ik {

using Step = Approval::Next::Kind;

Calls::Calls(Options options, const Registry& registry, Sandbox& sandbox)
    : registry_(registry), sandbox_(sandbox),
      host_({.session = options.session, .outputs = options.outputs, .rules = std::move(options.rules), .sandbox = &sandbox, .objection = std::move(options.objection)}),
      approval_({.policy = std::move(options.policy), .sandbox = &sandbox, .unconfined = options.unconfined, .person = options.person}),
      audit_({.to = options.audit, .session = options.session, .path = audit_log(), .secrets = std::move(options.secrets)})
{
}

void Calls::run(const ToolCall& call)
{
    audit_.call(call);
    go_on(approval_.consider(call, registry_.find(call.name)));
}

void Calls::run_by_person(const ToolCall& call)
{
    audit_.call(call);
    go_on({.kind = Step::run_outside, .call = call, .envelope = {}, .decision = "allow", .by = "a person's own"});
}

void Calls::go_on(const Approval::Next& next)
{
    if (!next.decision.empty())
        audit_.decision(next.call, next.decision, next.by);
    if (next.kind == Step::answered)
        answered_.push_back({next.call, next.envelope, {}, {}, {}});
    if (next.kind == Step::run || next.kind == Step::run_outside)
        host_.run(registry_.find(next.call.name), next.call, next.kind == Step::run_outside);
}

void Calls::answer(Approval::Answer answer, std::string_view word)
{
    if (!approval_.question())
        return;
    for (auto& next : approval_.answer(answer, word, trouble_))
        go_on(next);
}

void Calls::cancel()
{
    for (auto& next : approval_.cancel())
        go_on(next);
    host_.cancel();
}

void Calls::add_to(Poll& poll) const
{
    host_.add_to(poll);
    bool ended = !answered_.empty() || (host_.busy() && !host_.running());
    if (ended) poll.until(Clock::now());   // what is to be taken needs no waiting
}

std::vector<Finished> Calls::take_finished()
{
    std::vector<Finished> out;
    for (auto& finished : host_.take_finished())
        if (!(finished.refused && approval_.offer_outside(finished.call, finished.envelope)))
            out.push_back(std::move(finished));
    for (auto& finished : std::exchange(answered_, {}))
        out.push_back(std::move(finished));
    for (auto& finished : out) {
        finished.envelope = guard_.judged(finished.call, std::move(finished.envelope));
        audit_.result(finished.call, finished.envelope, finished.duration);
    }
    return out;
}

std::optional<std::string> Calls::take_trouble()
{
    if (!trouble_.empty())
        return std::exchange(trouble_, {});
    auto why = audit_.take_trouble();
    return why ? std::optional("ikigai: " + *why) : std::nullopt;
}

}
