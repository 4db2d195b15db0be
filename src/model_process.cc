#include "model_process.h"

#include "base/text.h"
#include "environment.h"

namespace ik {
namespace {

constexpr std::size_t max_line = 64 << 20;

}

Status ModelProcess::start()
{
    if (child_)
        return Done{};
    auto child = Child::start({.argv = {options_.self, "llm"}, .env = without_secrets(environment()), .input = options_.setup + "\n", .keep_stdin = true});
    if (!child)
        return child.error();
    child_ = std::move(*child);
    return Done{};
}

Status ModelProcess::say(const Json& line)
{
    auto started = start();
    if (started) child_->say(line.dump() + "\n");
    return started;
}

Status ModelProcess::ask(const Json& request)
{
    heard_ = Clock::now();
    return say(request);
}

Status ModelProcess::ask_window(std::string_view model) { return say(object({{"type", "window"}, {"model", std::string(model)}})); }

Status ModelProcess::ask_models() { return say(object({{"type", "models"}})); }

void ModelProcess::add_to(Poll& poll, bool awaited) const
{
    if (!child_)
        return;
    child_->add_to(poll);
    if (awaited) poll.until(heard_ + options_.silence);
}

void ModelProcess::advance(const Poll& poll)
{
    if (child_) child_->advance(poll);
}

std::vector<std::string> ModelProcess::take_lines()
{
    auto end = child_ ? child_->out.rfind('\n') : std::string::npos;
    if (end == std::string::npos)
        return {};
    heard_ = Clock::now();
    auto& bytes = child_->out;
    auto lines = split(std::string_view(bytes).substr(0, end), '\n');
    std::vector<std::string> out(lines.begin(), lines.end());
    bytes.erase(0, end + 1);
    return out;
}

std::optional<std::string> ModelProcess::failure() const
{
    if (!child_)
        return {};
    if (auto exit = child_->exit)
        return "the model process ended unexpectedly (" + (exit->signal ? "signal " + std::to_string(exit->signal) : "exit " + std::to_string(exit->code)) + ")" +
               (child_->err.empty() ? "" : ": " + std::string(trim(child_->err)));
    if (Clock::now() >= heard_ + options_.silence)
        return "the model process was silent for " + std::to_string(options_.silence.count() / 1000) + " s";
    if (child_->out.size() > max_line)
        return "the model process said a line of more than 64 MB";
    return {};
}

}
