#include "running.h"

#include "base/family.h"
#include "base/text.h"
#include "environment.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_so_far = 16 << 10;
constexpr auto between_looks = 100ms;

bool is_required(const Json& parameters, const std::string& name)
{
    auto* required = parameters.find("required");
    auto* names = required ? required->as<Json::Array>() : nullptr;
    return names && std::ranges::find(*names, Json(name)) != names->end();
}

// What the kernel keeps for each process, and the means for what no control group holds.
std::vector<ResourceLimit> resource_limits(const ToolLimits& limits, const Cgroup& group, long threads)
{
    std::vector<ResourceLimit> out;
    if (limits.files) out.push_back({RLIMIT_NOFILE, limits.files});
    if (limits.disk) out.push_back({RLIMIT_FSIZE, limits.disk});
    if (limits.memory && !group.limits_memory()) out.push_back({RLIMIT_DATA, limits.memory});
    // It counts all processes of the user, and never those of root: those of the machine are more than the user has now.
    if (limits.processes && !group.limits_processes() && geteuid() != 0 && threads > 0)
        out.push_back({RLIMIT_NPROC, static_cast<rlim_t>(threads) + limits.processes});
    return out;
}

// Without a control group nobody tells why memory was refused, but the one who was.
bool speaks_of_memory(std::string_view words)
{
    constexpr std::string_view known[] = {"Cannot allocate memory", "MemoryError", "bad_alloc", "ut of memory", "memory exhausted", "allocation failed"};
    return std::ranges::any_of(known, [&](auto each) { return words.find(each) != words.npos; });
}

std::string with_hint(std::string_view before, const std::string& hint) { return before.empty() ? hint : std::string(before) + "; " + hint; }

// The last bytes of a file.
std::string end_of(const std::string& path, std::size_t most)
{
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat info {};
    if (!file || fstat(file.get(), &info) < 0 || !S_ISREG(info.st_mode))
        return "";
    auto size = static_cast<std::size_t>(info.st_size);
    std::string out(std::min(size, most), '\0');
    auto n = pread(file.get(), out.data(), out.size(), static_cast<off_t>(size - out.size()));
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
}

}

Result<Json> fitting_arguments(const Tool& tool, const Json& arguments)
{
    auto& parameters = *tool.schema.find("parameters");
    Json fitting = arguments.null() ? Json(Json::Object{}) : arguments;
    if (auto* members = fitting.as<Json::Object>())
        std::erase_if(*members, [&](auto& m) { return m.second.null() && !is_required(parameters, m.first); });
    if (auto ok = validate(parameters, fitting); !ok)
        return Error{code::invalid_params, "Tool '" + tool.name + "': " + ok.error().message};
    return fitting;
}

Result<Running> Running::start(const Tool& tool, ToolCall call, Plan plan)
{
    auto arguments = fitting_arguments(tool, call.arguments);
    if (!arguments)
        return arguments.error();
    auto& limits = plan.limits;
    Cgroup group;
    if (auto made = plan.cgroups && (limits.memory || limits.processes)
                        ? plan.cgroups->make(std::to_string(plan.number), {limits.memory, limits.processes}) : std::nullopt)
        group = std::move(*made);

    Outbox outbox(plan.outputs, call.id);
    bool we_count = limits.processes && !group.limits_processes();
    auto threads = we_count ? threads_of_machine() : 0;
    auto readable = readable_files(tool, plan.grants);
    auto sandbox = plan.sandbox ? plan.sandbox->confinement(readable) : Result<const Confinement*>(static_cast<const Confinement*>(nullptr));
    if (!sandbox)
        return Error{code::tool_crashed, "Tool '" + tool.name + "' cannot be started: " + sandbox.error().message};
    Confinement confinement = *sandbox ? **sandbox : Confinement{};
    confinement.limits = resource_limits(limits, group, threads);
    confinement.join = group.doors();
    auto standby = plan.sandbox ? plan.sandbox->take_standby(readable) : std::nullopt;
    auto child = Child::start({.argv = tool.argv, .env = tool_environment({tool.name, plan.session, plan.output, plan.sandbox ? plan.sandbox->temporary() : "", plan.number}, plan.grants.env),
                               .input = arguments->dump(), .confinement = &confinement, .standby = standby ? &*standby : nullptr, .limit = limits.time,
                               .max_out = limits.output});
    if (!child && !confinement.join.empty()) {   // a group that may not be entered
        group.remove();
        plan.cgroups = nullptr;
        return start(tool, std::move(call), std::move(plan));
    }
    if (!child)
        return Error{code::tool_crashed, "Tool '" + tool.name + "' cannot be started: " + child.error().message};

    Running running(plan.number, std::move(call), std::move(*child), std::move(outbox));
    running.leader_ = running.child_.id();
    running.session_ = std::move(plan.session);
    running.output_ = std::move(plan.output);
    running.limits_ = limits;
    running.sandbox_ = plan.sandbox;
    running.cgroup_ = std::move(group);
    running.least_threads_ = threads;
    if (limits.processes && !running.cgroup_.tells())
        running.look_at_ = Clock::now() + between_looks;
    return running;
}

void Running::cancel()
{
    cancelled_ = true;
    child_.stop();
}

void Running::add_to(Poll& poll) const
{
    child_.add_to(poll);
    if (ended() || too_many_)
        return;
    if (cgroup_.tells())
        poll.urgent(cgroup_.events());
    if (look_at_)
        poll.until(*look_at_);
}

void Running::advance(const Poll& poll)
{
    child_.advance(poll, [this](std::string_view bytes) { printed_.append(bytes); });
    look_at_processes(poll);
}

// More than it may have: all but the tool itself end at once, and it may say what there was.
void Running::look_at_processes(const Poll& poll)
{
    if (too_many_)
        return;
    bool due = look_at_ && Clock::now() >= *look_at_;
    bool told = ended() || due || (cgroup_.tells() && poll.ready(cgroup_.events()));
    if (cgroup_.limits_processes())
        too_many_ = told && cgroup_.processes_exceeded();
    else
        too_many_ = due && !ended() && too_many_processes();
    if (due)
        look_at_ = Clock::now() + between_looks;
    if (too_many_ && !ended()) {
        end_all(leader_);
        child_.stop();
    }
}

// The walk through /proc is done only when the machine has many more threads than it had.
bool Running::too_many_processes()
{
    auto now = threads_of_machine();
    least_threads_ = std::min(least_threads_, now);
    if (now - least_threads_ < static_cast<long>(limits_.processes / 2))
        return false;
    auto all = descendants(getpid(), true);   // the kernel counts the dead as well
    only_own(all);
    return all.size() > limits_.processes;
}

// The call's processes: what it started, whoever their parent is by now.
void Running::only_own(std::vector<Relative>& all) const
{
    auto number = std::to_string(number_);
    std::vector<pid_t> own{leader_};
    std::erase_if(all, [&](auto& each) {
        bool is_own = each.id == leader_ || each.session == leader_ || std::ranges::binary_search(own, each.parent)
                      || (each.parent == getpid() && variable_of(each.id, "IKIGAI_CALL") == number && variable_of(each.id, "IKIGAI_SESSION") == session_);
        if (is_own)
            own.insert(std::ranges::upper_bound(own, each.id), each.id);
        return !is_own;
    });
}

void Running::end_all(pid_t except)
{
    if (cgroup_.limits_processes())
        return cgroup_.kill(except);
    kill_in_rounds([&](auto& all) {
        only_own(all);
        std::erase_if(all, [&](auto& each) { return each.id == except; });
    }, 3s);
}

std::string Running::output_file() const
{
    return end_of(output_, 1).empty() ? "" : output_;
}

std::string Running::output_so_far() const
{
    auto text = end_of(output_, max_so_far);
    return clean_utf8(text.empty() ? printed_.end(max_so_far) : text);
}

Finished Running::finish()
{
    bool stopped = cancelled_ || child_.timed_out() || child_.too_much() || too_many_;
    if (stopped)
        end_all(0);
    bool failed = child_.exit->signal || child_.exit->code;
    bool refused = limits_.memory && !cgroup_.limits_memory() && failed && speaks_of_memory(child_.err);
    Ending ending{.exit = *child_.exit, .timed_out = child_.timed_out(), .cancelled = cancelled_,
                  .too_much = child_.too_much(), .too_big = refused || cgroup_.memory_exceeded(), .too_many = too_many_,
                  .broken = printed_.failure() ? std::strerror(printed_.failure()) : "",
                  .limit = limits_.time, .output = limits_.output, .memory = limits_.memory, .processes = limits_.processes};
    auto told = report(call_, ending, printed_.read(), child_.err);
    auto after = sandbox_ ? aftermath(*sandbox_, told.envelope) : Aftermath{};
    if (!after.hint.empty())
        told.envelope.set("hint", with_hint(told.envelope.text("hint"), after.hint));
    Finished finished{std::move(call_), {}, std::move(told.notices), std::move(told.words), age(), after.refused};
    finished.envelope = capped(std::move(told), printed_);
    return finished;
}

}
