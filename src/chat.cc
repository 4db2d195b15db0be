#include "chat.h"

#include "agent/context.h"
#include "base/places.h"
#include "base/text.h"
#include "commands.h"
#include "environment.h"
#include "preview.h"
#include "say.h"
#include "supervise.h"

#include <cerrno>
#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;                   // with a standard input that neither says anything nor ends
constexpr std::size_t max_typed = 32 << 20;     // bytes on stdin that are one message
constexpr std::size_t max_model_line = 64 << 20;

int exit_status(const End& end)
{
    if (end.reason == "end_turn") return 0;
    if (end.reason == "max_turns") return 3;
    bool set_up_wrongly = end.error_code == code::auth_missing || end.error_code == code::usage;
    return set_up_wrongly ? 2 : 1;
}

// An answer to a question, with what is said besides; nothing where it is none.
std::pair<std::optional<Approval::Answer>, std::string_view> answer_in(std::string_view line, bool always_offered)
{
    using enum Approval::Answer;
    constexpr std::pair<std::string_view, Approval::Answer> words[] = {
        {"y", once}, {"yes", once}, {"s", session}, {"session", session}, {"a", always}, {"always", always}, {"n", no}, {"no", no},
    };
    auto end = line.find_first_of(" :,");
    auto row = std::ranges::find(words, lower(line.substr(0, end)), [](auto& each) { return std::string(each.first); });
    if (row == std::end(words) || (!always_offered && (row->second == session || row->second == always)))
        return {};
    auto rest = end == line.npos ? "" : line.substr(end);
    return {row->second, trim(rest.substr(std::min(rest.find_first_not_of(" :,"), rest.size())))};
}

bool colour_wanted() { return isatty(1) && variable("NO_COLOR").empty() && variable("TERM") != "dumb"; }

}

Chat::Chat(const ChatOptions& options, const World& world, const std::string& id, Sandbox& sandbox)
    : options_(options), world_(world), mouth_(options.format, colour_wanted()),
      guides_(options.system ? Guides{} : read_guides()),
      session_({.provider = options.provider, .model = options.model, .system = options.system.value_or(system_text(here(), guides_.notes)),
                .thinking = options.thinking, .max_tokens = options.max_tokens, .max_turns = options.max_turns,
                .window = options.window, .compact = options.compact}),
      keeper_({.self = world.self, .off = !options.keep || sessions_file().empty(),
               .what = {.session = id, .kind = "", .provider = options.provider, .model = options.model, .folder = here().folder}}),
      sandbox_(sandbox),
      calls_({.session = id, .outputs = outputs_folder(id), .rules = options.rules,
              .objection = [this](const Tool& tool) { return options_.project.objection(tool); },
              .policy = options.policy, .unconfined = options.sandbox.mode == SandboxMode::off,
              .person = options.format == Format::person && isatty(0), .audit = options.audit, .secrets = options.secrets}, registry_, sandbox)
{
    bool at_terminal = options_.format == Format::person && isatty(0) && isatty(1);
    if (at_terminal && !options_.plain && variable("TERM") != "dumb") {
        screen_.emplace(Screen::from_environment(false, history_file()));
        mouth_.attach(*screen_);
    }
    if (options_.timeout)
        deadline_ = Clock::now() + *options_.timeout;
    keyboard_open_ = !options_.print || !isatty(0);
    if (options_.print && keyboard_open_)
        hint_at_ = Clock::now() + patience;
}

// Without rules no tool is started, not even to be asked for its schema.
Registry::Places Chat::places()
{
    auto rules = sandbox_.confinement();
    auto places = tool_places(world_, options_.project.trusted(), rules ? *rules : nullptr);
    if (!rules)
        places.system = places.user = places.project = "";
    return places;
}

bool Chat::idle() const { return !session_.busy() && !calls_.busy() && later_.empty() && !waiting_message_ && !keeper_.asking(); }

// US dollars, of the turn that ran last.
std::optional<double> Chat::cost() const
{
    if (!options_.price)
        return {};
    auto& usage = session_.usage();
    auto& price = *options_.price;
    return (static_cast<double>(usage.input - usage.cached) * price.in + static_cast<double>(usage.cached) * price.cached + static_cast<double>(usage.output) * price.out) / 1e6;
}

void Chat::use_model(const std::string& name)
{
    options_.model = name;
    options_.price = providers::price_of(name, options_.prices);
    session_.use_model(name, providers::model_named(name).context);
}

std::string Chat::figures() const
{
    auto out = std::to_string(spent_.input) + " tokens in (" + std::to_string(spent_.cached) + " of them cached), " + std::to_string(spent_.output) + " out";
    char dollars[32];
    std::snprintf(dollars, sizeof dollars, ", $%.4f", cost_);
    return out + (cost_ > 0 ? dollars : ", no price known") + "; about " + std::to_string(session_.tokens()) + " tokens in the next request\n";
}

bool Chat::retry()
{
    auto& events = keeper_.events();
    auto last = std::find_if(events.rbegin(), events.rend(), [](auto& event) { return event.kind == "user"; });
    if (last == events.rend())
        return false;
    auto text = last->content;
    go_back("rewind", last->seq - 1);
    say_message(std::move(text));
    return true;
}

bool Chat::ended() const
{
    if (leaving_)
        return !calls_.busy();
    return !keyboard_open_ && idle() && typed_.find('\n') == typed_.npos && !refreshing_ && !options_.print;
}

int Chat::run()
{
    if (!sandbox_.notice().empty())
        mouth_.warn(sandbox_.notice());
    look_for_kept();
    if (!keeper_.asking()) greet();
    show_guides();
    registry_.start(places());
    ask_window();
    calls_.begin();
    if (options_.print && !keyboard_open_)
        say_message(*options_.print);
    else if (!options_.message.empty())
        say_message(options_.message);

    while (!ended()) {
        show_status();
        if (!screen_ && !prompted_ && idle() && keyboard_open_ && options_.format == Format::person && isatty(0) && isatty(1)) {
            prompted_ = true;
            mouth_.prompt();
        }
        Poll poll;
        if (screen_) screen_->add_to(poll);
        else if (keyboard_open_) poll.read(0);
        poll.read(signals_.fd());
        if (model_) {
            model_->add_to(poll);
            if (session_.asking()) poll.until(heard_model_ + options_.silence);
        }
        calls_.add_to(poll);
        keeper_.add_to(poll);
        registry_.add_to(poll);
        if (refreshing_) refreshing_->add_to(poll);
        if (deadline_ && !leaving_) poll.until(*deadline_);
        if (hint_at_) poll.until(*hint_at_);
        bool something_waits = !later_.empty() || (refreshing_ && refreshing_->settled()) || (waiting_message_ && registry_.settled() && !keeper_.asking());
        if (something_waits) poll.until(Clock::now());
        poll.wait();

        keeper_.advance(poll);   // first: what the model is told of is on its way to the store
        if (model_) model_->advance(poll);
        calls_.advance(poll);
        registry_.advance(poll);
        if (refreshing_) refreshing_->advance(poll);

        for (auto& event : std::exchange(later_, {}))
            happen(event);
        hear_signals();
        if (screen_) screen_->advance(poll), hear_screen();
        else if (keyboard_open_ && poll.ready(0)) hear_keyboard();
        hear_model();
        hear_tools();
        hear_keeper();
        ask_person();
        hear_answer();
        hear_registry();
        obey_at_once();
        obey_user();
        tell_trouble();
        calls_.host().tidy(others());
        if (deadline_ && Clock::now() >= *deadline_ && !leaving_)
            give_up({"timeout", "the time limit of " + std::to_string(options_.timeout->count() / 1000) + " s is reached", std::string(code::timeout)}, 3);
        if (hint_at_ && Clock::now() >= *hint_at_) {
            hint_at_.reset();
            mouth_.warn("ikigai: waiting for the end of standard input (</dev/null for none)");
        }
        if (mouth_.lost() && !leaving_)
            leaving_ = true, drop_model(), calls_.cancel();   // nobody hears the rest
    }
    drop_model();
    if (auto why = keeper_.end(options_.format == Format::person))
        mouth_.warn(*why);
    if (screen_) screen_->leave();
    calls_.end(signal_ ? 128 + signal_ : status_);
    tell_trouble();
    if (mouth_.lost() && status_ == 0) {
        mouth_.warn("ikigai: the answer could not be written to standard output");
        status_ = 1;
    }
    return signal_ ? 128 + signal_ : status_;
}

bool Chat::happen(const Event& event)
{
    bool of_summary = session_.compacting() && (std::holds_alternative<ModelSaid>(event) || std::holds_alternative<ModelThought>(event));
    if (!of_summary)
        mouth_.event(event);
    auto effects = session_.on(event);
    keeper_.after(event, effects, session_);
    for (auto& effect : effects)
        std::visit([this](auto& e) { perform(e); }, effect);
    return !effects.empty();
}

bool Chat::start_model()
{
    if (model_)
        return true;
    auto child = Child::start({.argv = {world_.self, "llm"}, .env = without_secrets(environment()), .input = options_.setup + "\n", .keep_stdin = true});
    if (!child) {
        later_.push_back(ModelFailed{child.error().message, std::string(code::llm_failed)});
        return false;
    }
    model_ = std::move(*child);
    return true;
}

// It holds nothing that is worth waiting for.
void Chat::drop_model() { model_.reset(); }

void Chat::perform(const Ask& ask)
{
    if (!start_model())
        return;
    heard_model_ = Clock::now();
    model_->say(ask.request.dump() + "\n");
    warn_of_cut();
}

void Chat::perform(const Run& run)
{
    mouth_.call(run.call);
    calls_.run(run.call);
}

void Chat::perform(const Cancel&)
{
    if (session_.asking() || model_)
        drop_model();
    calls_.cancel();
}

void Chat::perform(const End& end)
{
    if (gave_up_)
        return;   // said already
    mouth_.end(end, session_, keeper_.id(), cost());
    auto& used = session_.usage();
    spent_ = {spent_.input + used.input, spent_.output + used.output, spent_.cached + used.cached};
    cost_ += cost().value_or(0);
    keeper_.turn_end();
    prompted_ = hinted_ = false;
    bool person_at_keys = options_.format == Format::person && isatty(0);
    if (!person_at_keys)
        status_ = exit_status(end);
    if (!person_at_keys && status_ == 0 && calls_.approval().denied_without_person())
        status_ = 4;
    if (options_.print)
        leaving_ = true;
    if (window_ && window_->assumed && model_)
        ask_window();   // the model is loaded now: its server knows more
}

void Chat::perform(const SayCompacting& compacting)
{
    mouth_.notice(object({{"kind", "compacting"}, {"content", "Compacting the conversation (" + std::to_string(compacting.tokens) + " tokens)…"},
                          {"data", object({{"tokens", compacting.tokens}})}}));
}

void Chat::perform(const Compacted& done)
{
    mouth_.notice(object({{"kind", "compacted"}, {"content", "Compacted: " + std::to_string(done.before) + " → " + std::to_string(done.after) + " tokens"},
                          {"data", object({{"before", done.before}, {"after", done.after}})}}));
    prompted_ = false;
}

bool Chat::compact(std::string keep) { return happen(CompactionWanted{std::move(keep)}); }

// Ends the run in the middle of a turn.
void Chat::give_up(End end, int status)
{
    mouth_.end(end, session_, keeper_.id(), cost());
    leaving_ = gave_up_ = true;
    status_ = status;
    drop_model();
    calls_.cancel();
}

// Ctrl+C where something runs: what runs; then what is typed; then, once more, the conversation.
void Chat::interrupt()
{
    if (session_.busy() && !calls_.busy())
        happen(Interrupted{});
    else if (calls_.busy() && !hinted_) {
        hinted_ = true;
        happen(Interrupted{});
    } else if (!hinted_) {
        hinted_ = true;
        typed_.clear();
        mouth_.say("\n");
        mouth_.warn("Ctrl+C once more, or Ctrl+D, ends the conversation");
        prompted_ = false;
    } else
        leaving_ = true, mouth_.say("\n"), calls_.cancel();
}

void Chat::hear_signals()
{
    while (auto number = signals_.take()) {
        bool at_keys = options_.format == Format::person && !options_.print;
        if (number == SIGWINCH || number == SIGCONT || number == SIGTSTP) {
            if (screen_) number == SIGWINCH ? screen_->resized() : number == SIGCONT ? screen_->continued() : screen_->suspend();
        } else if (number == SIGINT && screen_ && screen_->away())
            ;   // meant for the editor
        else if (number == SIGINT && at_keys)
            interrupt();
        else {
            signal_ = *number;
            if (session_.busy()) happen(Interrupted{});
            leaving_ = true;
            calls_.cancel();
        }
    }
}

void Chat::hear_keyboard()
{
    char buffer[65536];
    auto n = read_some(0, buffer, sizeof buffer);
    hint_at_.reset();
    if (n > 0 && typed_.size() < max_typed) {
        typed_.append(buffer, static_cast<std::size_t>(n));
        hinted_ = false;
        return;
    }
    if (n > 0)
        return give_up({"error", "standard input is longer than 32 MB", ""}, 2);
    keyboard_open_ = false;
    if (calls_.question())
        happen(Interrupted{});   // nobody can answer any more
    if (options_.print)
        say_message(typed_.empty() ? *options_.print : *options_.print + (options_.print->empty() ? "" : "\n\n") + clean_utf8(std::exchange(typed_, {})));
    else if (!typed_.empty() && typed_.back() != '\n')
        typed_ += '\n';
    if (prompted_)
        mouth_.say("\n");
}

// What was printed as the answer cannot be taken back; a person and a stream of objects are told.
bool Chat::can_begin_again(const ModelRetried& retried) const
{
    return !(retried.discard && options_.format == Format::text && mouth_.spoke());
}

void Chat::fail_model(std::string why, std::string_view error_code)
{
    drop_model();
    happen(ModelFailed{std::move(why), std::string(error_code)});
}

void Chat::hear_model()
{
    if (!model_)
        return;
    auto& bytes = model_->out.memory;
    auto end = bytes.rfind('\n');
    if (end != bytes.npos) {
        auto lines = bytes.substr(0, end);
        bytes.erase(0, end + 1);
        heard_model_ = Clock::now();
        for (auto line : split(lines, '\n')) {
            if (auto window = server_window(line))
                hear_window(*window);
            auto event = model_event(line);
            if (!event || !session_.asking())
                continue;
            if (auto* retried = std::get_if<ModelRetried>(&*event); retried && !can_begin_again(*retried))
                return fail_model(retried->error, code::network_error);
            happen(*event);
        }
    }
    if (!model_)
        return;
    if (!session_.asking()) {
        if (model_->exit) drop_model();
        return;
    }
    auto fail = [&](std::string why) { fail_model(std::move(why), code::llm_failed); };
    if (model_->exit)
        fail("the model process ended unexpectedly (" + (model_->exit->signal ? "signal " + std::to_string(model_->exit->signal)
                                                                            : "exit " + std::to_string(model_->exit->code)) + ")"
             + (model_->err.empty() ? "" : ": " + std::string(trim(model_->err))));
    else if (Clock::now() >= heard_model_ + options_.silence)
        fail("the model process was silent for " + std::to_string(options_.silence.count() / 1000) + " s");
    else if (bytes.size() > max_model_line)
        fail("the model process said a line of more than 64 MB");
}

void Chat::show_guides()
{
    if (auto line = guides_.line(); !line.empty() && options_.format == Format::person)
        mouth_.say(harmless(line) + "\n");
    for (auto& sentence : guides_.left_out)
        mouth_.warn(sentence);
}

// The answer comes before that of the next request, within a second or not at all.
void Chat::ask_window()
{
    if (options_.ask_window && start_model())
        model_->say(object({{"type", "window"}, {"model", options_.model}}).dump() + "\n");
}

void Chat::hear_window(const ServerWindow& window)
{
    window_ = window;
    if (window.tokens > 0 && !window.assumed)
        session_.learn_window(window.tokens);
    if (session_.asking())
        warn_of_cut();
}

// Once: whoever is cut off has lost the system text and the task.
void Chat::warn_of_cut()
{
    if (told_cut_ || !window_ || !window_->cuts || window_->tokens <= 0 || session_.tokens() <= window_->tokens)
        return;
    told_cut_ = true;
    mouth_.warn("⚠ " + window_->server + " reads " + std::to_string(window_->tokens) + " tokens" + (window_->assumed ? " unless it is told otherwise" : "") +
                " and this request has about " + std::to_string(session_.tokens()) + ": it leaves out the beginning without a word. Set num_ctx in the model's Modelfile, or OLLAMA_CONTEXT_LENGTH for the server, higher.");
}

void Chat::hear_tools()
{
    for (auto& finished : calls_.take_finished()) {
        if (hear_shell(finished))
            continue;
        mouth_.result(finished.call, finished.envelope, finished.duration);
        for (auto& notice : finished.notices) {
            mouth_.notice(notice);
            if (notice.text("kind") == "config_required") keeper_.note("config_required", std::string(notice.text("content")), notice);
        }
        happen(ToolDone{finished.call.id, std::move(finished.envelope)});
    }
    for (auto& [number, finished] : calls_.take_ended()) {
        mouth_.notice(object({{"kind", "background_ended"}, {"content", "In the background, " + std::to_string(number) + " (" + finished.call.name + ") has ended"},
                              {"data", object({{"number", number}, {"id", finished.call.id}, {"result", finished.envelope}})}}));
        prompted_ = false;
        happen(Noted{told_of_end(finished.call, number, finished.envelope, finished.duration)});
    }
}

std::vector<pid_t> Chat::others() const
{
    auto out = registry_.ids();
    if (refreshing_)
        for (auto id : refreshing_->ids()) out.push_back(id);
    if (model_ && !model_->exit) out.push_back(model_->id());
    if (auto id = keeper_.process()) out.push_back(*id);
    return out;
}

void Chat::tell_trouble()
{
    while (auto why = calls_.take_trouble())
        mouth_.warn(*why);
}

// What was typed before a person could read the question is no answer to it.
void Chat::ask_person()
{
    auto* question = calls_.question();
    if (!question || asked_)
        return;
    asked_ = true;
    held_ += std::exchange(typed_, {});
    mouth_.question(*question, preview_of(question->call));
}

void Chat::hear_answer()
{
    if (screen_) {   // which tells of an answer by itself
        if (asked_ && !calls_.question()) screen_->ask_no_more(), asked_ = false;
        return;
    }
    while (asked_ && calls_.question()) {
        auto line = take_line(typed_);
        if (!line)
            return;
        auto [answer, word] = answer_in(trim(*line), !calls_.question()->always.empty());
        if (!answer) {
            mouth_.question(*calls_.question(), {});
            continue;
        }
        asked_ = false;
        calls_.answer(*answer, clean_utf8(word));
        ask_person();
    }
    if (asked_)
        asked_ = false;   // it was settled otherwise
    if (!calls_.question())
        typed_ = std::exchange(held_, {}) + typed_;
}

void Chat::refresh()
{
    mouth_.say("Refreshing tools...\n");
    refreshing_.emplace();
    options_.project = ProjectTrust::here(options_.trust);   // it may have changed, or be trusted by now
    if (auto line = options_.project.line(); !line.empty())
        mouth_.warn(line);
    refreshing_->start(places());
}

void Chat::hear_registry()
{
    if (refreshing_ && refreshing_->settled() && !session_.busy()) {
        auto fresh = std::move(*refreshing_);
        refreshing_.reset();
        if (fresh.state() == Registry::State::failed)
            mouth_.warn("Refresh failed: " + fresh.failure());
        else {
            registry_ = std::move(fresh);
            mouth_.say("Tools refreshed. " + std::to_string(registry_.tools().size()) + " tools available.\n");
        }
        prompted_ = false;
    }
    if (!registry_.settled())
        return;
    if (registry_.state() == Registry::State::failed && !std::exchange(told_failure_, true))
        mouth_.warn("Some tools could not be looked for: " + registry_.failure());
    if (waiting_message_ && !session_.busy() && !keeper_.asking()) {
        session_.offer(offered_tools(registry_.tools(), options_.only_tools));
        auto text = std::move(*waiting_message_);
        waiting_message_.reset();
        calls_.begin_turn();
        happen(UserSaid{std::move(text)});
    }
}

void Chat::say_message(std::string text)
{
    if (trim(text).empty())
        return give_up({"error", "there is nothing to ask: the message is empty", std::string(code::usage)}, 2);
    if (!registry_.settled() && options_.format == Format::person && isatty(1))
        mouth_.say("Loading tools…\n");
    waiting_message_ = std::move(text);
}

// Commands that are for the time while something runs. At a terminal they overtake what was typed before.
void Chat::obey_at_once()
{
    if (options_.print || leaving_ || idle())
        return;
    std::string kept;
    auto later = std::exchange(typed_, {});
    while (auto line = take_line(later)) {
        if (!kept.empty() && !isatty(0)) {
            kept += *line + "\n";
            break;
        }
        auto text = trim(*line);
        if (is_for_any_time(text)) {
            mouth_.begin_block();
            run_command(*this, text);
        } else
            kept += *line + "\n";
    }
    typed_ = kept + later + typed_;
}

// Takes the next line that was typed, once nothing else goes on.
void Chat::obey_user()
{
    while (!options_.print && !leaving_ && idle() && !refreshing_) {
        auto line = take_message();
        if (!line)
            return;
        prompted_ = false;
        auto text = trim(*line);
        if (!choices_.empty()) {
            choose(text);
            continue;
        }
        if (text.empty())
            continue;
        if (text.starts_with('/')) {
            if (!registry_.settled()) {   // commands show the tools that there are
                if (screen_) queue_.push_front(*line);
                else typed_ = *line + "\n" + typed_;
                return;
            }
            mouth_.said(text);
            if (!keeper_.events().empty()) keeper_.note("command", std::string(text));
            run_command(*this, text);
        } else if (text.starts_with('!')) {
            mouth_.said(text);
            run_shell(text);
        } else {
            mouth_.said(text);
            say_message(with_files(text));
            hear_registry();
        }
    }
}

int chat(const ChatOptions& options, const World& world)
{
    auto id = options.id.empty() ? new_id() : options.id;
    auto wish = options.sandbox;
    wish.outputs = outputs_folder(id);
    auto sandbox = Sandbox::make(std::move(wish));
    if (!sandbox)
        return fail(sandbox.error().message, 1);
    int status = Chat(options, world, id, *sandbox).run();
    sweep_outputs();   // not while somebody waits for the prompt
    end_what_is_left();
    if (status > 128)
        die_of(status - 128);
    return status;
}

}
