#include "chat.h"

#include "agent/context.h"
#include "base/memory.h"
#include "base/places.h"
#include "base/text.h"
#include "commands.h"
#include "say.h"
#include "supervise.h"

#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;                   // with a standard input that neither says anything nor ends

int exit_status(const End& end)
{
    if (end.reason == "end_turn") return 0;
    if (end.reason == "max_turns") return 3;
    bool set_up_wrongly = end.error_code == code::auth_missing || end.error_code == code::usage;
    return set_up_wrongly ? 2 : 1;
}

ModelProcess::Options model_options(const ChatOptions& options, const World& world)
{
    return {.self = world.self, .setup = options.setup, .silence = options.silence};
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
              .person = options.format == Format::person && isatty(0), .audit = options.audit, .secrets = options.secrets}, registry_, sandbox),
      spending_(options.price), model_(model_options(options, world)), lister_(model_options(options, world))
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

bool Chat::idle() const { return !session_.busy() && !calls_.busy() && later_.empty() && !waiting_message_ && !keeper_.asking(); }

void Chat::use_model(const std::string& name)
{
    options_.model = name;
    spending_.use_price(providers::price_of(name, options_.prices));
    session_.use_model(name, providers::model_named(name).context);
}

std::string Chat::figures() const
{
    return spending_.line() + "; about " + std::to_string(session_.tokens()) + " tokens in the next request\n";
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
    for (auto& notice : sandbox_.notices()) mouth_.warn(notice);
    if (options_.keep && !keeper_.keeps()) mouth_.warn("⚠ The conversation is not kept: there is no home. It goes on in memory.");
    if (options_.print)
        static_cast<void>(model_.start());   // it gets ready while we do; why it does not is told when it is asked
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
        model_.add_to(poll, session_.asking());
        lister_.add_to(poll, false);
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
        model_.advance(poll);
        lister_.advance(poll);
        calls_.advance(poll);
        registry_.advance(poll);
        if (refreshing_) refreshing_->advance(poll);

        for (auto& event : std::exchange(later_, {}))
            happen(event);
        hear_signals();
        if (screen_) screen_->advance(poll), hear_screen();
        else if (keyboard_open_ && poll.ready(0)) hear_keyboard();
        hear_model();
        hear_model_names();
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
            leaving_ = true, model_.drop(), calls_.cancel();   // nobody hears the rest
    }
    model_.drop();
    auto unkept = keeper_.end(options_.format == Format::person);
    while (auto notice = keeper_.take_notice()) mouth_.warn(*notice);
    if (unkept) mouth_.warn(*unkept);
    if (screen_) screen_->leave();
    calls_.end(signal_ ? 128 + signal_ : status_);
    tell_trouble();
    if (mouth_.lost() && status_ == 0) {
        mouth_.warn("ikigai: the answer could not be written to standard output");
        status_ = 1;
    }
    return signal_ ? 128 + signal_ : status_;
}

std::vector<pid_t> Chat::others() const
{
    auto out = registry_.ids();
    if (refreshing_)
        for (auto id : refreshing_->ids()) out.push_back(id);
    for (auto* process : {&model_, &lister_})
        if (auto id = process->process()) out.push_back(*id);
    if (auto id = keeper_.process()) out.push_back(*id);
    return out;
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

void Chat::perform(const Ask& ask)
{
    if (auto asked = model_.ask(ask.request); !asked)
        return later_.push_back(ModelFailed{asked.error().message, std::string(code::llm_failed)});
    sandbox_.prepare();   // while the model thinks
    warn_of_cut();
}

void Chat::perform(const Run& run)
{
    mouth_.call(run.call);
    calls_.run(run.call);
}

void Chat::perform(const Cancel&)
{
    model_.drop();
    calls_.cancel();
}

void Chat::perform(const End& end)
{
    if (gave_up_)
        return;   // said already
    mouth_.end(end, session_, keeper_.id(), spending_.cost(session_.usage()));
    spending_.add(session_.usage());
    keeper_.turn_end();
    prompted_ = hinted_ = false;
    bool person_at_keys = options_.format == Format::person && isatty(0);
    if (!person_at_keys)
        status_ = exit_status(end);
    if (!person_at_keys && status_ == 0 && calls_.approval().denied_without_person())
        status_ = 4;
    if (options_.print)
        leaving_ = true;
    else
        give_back_memory();   // the request was as large as the conversation
    if (window_ && window_->assumed && model_.runs())
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
void Chat::give_up(const End& end, int status)
{
    mouth_.end(end, session_, keeper_.id(), spending_.cost(session_.usage()));
    leaving_ = gave_up_ = true;
    status_ = status;
    model_.drop();
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

// What was printed as the answer cannot be taken back; a person and a stream of objects are told.
bool Chat::can_begin_again(const ModelRetried& retried) const
{
    return !(retried.discard && options_.format == Format::text && mouth_.spoke());
}

void Chat::fail_model(std::string why, std::string_view error_code)
{
    model_.drop();
    happen(ModelFailed{std::move(why), std::string(error_code)});
}

void Chat::hear_model()
{
    for (auto& line : model_.take_lines()) {
        if (auto window = server_window(line))
            hear_window(*window);
        auto event = model_event(line);
        if (!event || !session_.asking())
            continue;
        if (auto* retried = std::get_if<ModelRetried>(&*event); retried && !can_begin_again(*retried))
            return fail_model(retried->error, code::network_error);
        happen(*event);
    }
    if (!session_.asking() && !model_.runs())
        model_.drop();
    else if (auto why = model_.failure(); why && session_.asking())
        fail_model(std::move(*why), code::llm_failed);
}

void Chat::show_guides()
{
    if (auto line = guides_.line(); !line.empty() && options_.format == Format::person)
        mouth_.say(harmless(line) + "\n");
    for (auto& sentence : guides_.left_out)
        mouth_.warn(sentence);
}

void Chat::ask_window()
{
    if (options_.ask_window)
        static_cast<void>(model_.ask_window(options_.model));   // what is wrong with it the first message will show
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

void Chat::say_message(std::string text)
{
    if (trim(text).empty())
        return give_up({"error", "there is nothing to ask: the message is empty", std::string(code::usage)}, 2);
    if (!registry_.settled() && options_.format == Format::person && isatty(1))
        mouth_.say("Loading tools…\n");
    waiting_message_ = std::move(text);
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
    if (!options.print)   // one answer has few calls, if any
        wish.self = world.self;
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
