// What a conversation has to do with the screen: the part of chat.h that is about a person at a terminal.
#include "chat.h"

#include "attach.h"
#include "base/text.h"
#include "commands.h"

namespace ik {
namespace {

constexpr std::size_t most_of_output = 16 << 10;   // bytes of a shell command's output that the model is told

std::string activity_of(const Job& job) { return job.tool + ": " + job.command.substr(0, job.command.find('\n')); }

}

void Chat::hear_screen()
{
    using Did = Screen::Did;
    while (auto did = screen_->next()) {
        hinted_ &= did->kind == Did::interrupt;
        switch (did->kind) {
        case Did::said:
            if (!idle() && is_for_any_time(trim(did->text))) run_command(*this, trim(did->text));
            else queue_.push_back(std::move(did->text));
            break;
        case Did::stop:
            if (session_.busy() || calls_.busy()) happen(Interrupted{}), calls_.busy() && !session_.busy() ? calls_.cancel() : void();
            break;
        case Did::interrupt: interrupt(); break;
        case Did::quit:
            leaving_ = true;
            calls_.cancel();
            break;
        case Did::background:
            if (calls_.running()) run_command(*this, "/bg");
            break;
        case Did::answered:
            if (calls_.question()) {
                using enum Approval::Answer;
                asked_ = false;
                calls_.answer(did->answer == 'y' ? once : did->answer == 's' ? session : did->answer == 'a' ? always : no, did->text);
                ask_person();
            }
            break;
        case Did::took_back:
            if (!queue_.empty()) queue_.pop_back();
            break;
        case Did::complete: complete(did->of); break;
        }
    }
    if (screen_->lost() && !leaving_) signal_ = SIGHUP, leaving_ = true, model_.drop(), calls_.cancel();
    screen_->queue({queue_.begin(), queue_.end()});
}

// The names of models are asked for once, and offered when they come.
void Chat::complete(std::string_view of)
{
    std::vector<term::Candidate> out;
    if (of.empty())
        out = command_candidates();
    else if (of == "/tool")
        for (auto& tool : registry_.tools()) out.push_back({tool.name, std::string(tool.schema.text("description"))});
    else if (of == "/approve")
        for (auto* mode : {"auto", "edits", "ask", "plan"}) out.push_back({mode, ""});
    else if (of == "/model")
        for (auto& name : model_names_) out.push_back({name, ""});
    if (of == "/model" && model_names_.empty() && !lister_.runs())
        static_cast<void>(lister_.ask_models());   // without an answer nothing is offered
    screen_->candidates(std::move(out));
}

void Chat::hear_model_names()
{
    for (auto& line : lister_.take_lines()) {
        auto said = parse_json(line);
        model_names_ = model_names(said ? *said : Json()).value_or(std::vector<std::string>());
        lister_.drop();
        if (!model_names_.empty() && screen_->completes("/model")) complete("/model");
    }
    if (!lister_.runs()) lister_.drop();
}

void Chat::show_status()
{
    if (!screen_)
        return;
    std::vector<Activity> all;
    std::map<int, Clock::time_point> began;
    for (auto& job : calls_.host().calls()) {
        if (job.state != Job::State::running)
            continue;
        auto known = began_.find(job.number);
        auto since = known == began_.end() ? Clock::now() - job.age : known->second;
        began[job.number] = since;
        all.push_back({.what = activity_of(job), .since = since, .limit = job.limit});
    }
    began_ = std::move(began);
    if (session_.asking()) all.push_back({.what = "", .since = model_.heard()});
    std::optional<Figures> figures;
    if (session_.usage().input + session_.usage().output > 0) figures = Figures{session_.usage(), spending_.cost(session_.usage())};
    screen_->status(std::move(all), figures);
}

std::optional<std::string> Chat::take_message()
{
    if (!screen_)
        return take_line(typed_);
    if (queue_.empty())
        return {};
    auto out = std::move(queue_.front());
    queue_.pop_front();
    screen_->queue({queue_.begin(), queue_.end()});
    return out;
}

// Files that are named with @ go with the message, but for those that tools may not read.
std::string Chat::with_files(std::string_view text)
{
    auto clean = clean_utf8(text);
    if (!screen_)
        return clean;
    auto with = attach(clean, [&](const std::string& path) { return sandbox_.may_read(path); });
    for (auto& why : with.refused) mouth_.warn(why);
    return with.text;
}

// "!command" is the person's own: it runs with all their rights, and the model is told with the next message; "!!" is between
// the two of us.
void Chat::run_shell(std::string_view line)
{
    auto command = std::string(trim(line.substr(line.find_first_not_of('!') == line.npos ? line.size() : line.find_first_not_of('!'))));
    if (command.empty())
        return;
    bool secret = line.starts_with("!!");
    calls_.run_by_person({secret ? "!!" : "!", "bash", object({{"command", command}})});
}

bool Chat::hear_shell(Finished& finished)
{
    if (!finished.call.id.starts_with('!'))
        return false;
    auto output = result_text(finished.envelope);
    mouth_.say(output + (output.ends_with('\n') ? "" : "\n"));
    prompted_ = false;
    if (finished.call.id == "!")
        happen(Noted{"The user has run this command: " + std::string(finished.call.arguments.text("command")) + "\nIts output:\n" + std::string(utf8_prefix(output, most_of_output))});
    return true;
}

}
