// Chat: the one loop. Bytes become events, the session turns events into effects, effects become
// children or words. Nothing else in the program waits.
#pragma once

#include "agent/session.h"
#include "base/signals.h"
#include "calls.h"
#include "guides.h"
#include "keeper.h"
#include "model_process.h"
#include "mouth.h"
#include "screen.h"
#include "spending.h"
#include "trust.h"
#include "world.h"

namespace ik {

struct ChatOptions {
    std::optional<std::string> print;      // -p: one answer, then the end
    std::string message;                   // said first in a conversation
    std::string provider, model;
    std::string setup;                     // the first line for `ikigai llm`, with the key in it
    std::optional<std::string> system;     // instead of our own
    std::string thinking;
    Format format = Format::person;
    std::int64_t max_turns = 50;
    std::int64_t max_tokens = 0;           // 0: the provider's own limit
    std::int64_t window = 0;               // what the model reads, in tokens; 0: not known
    bool ask_window = false;               // its server may say so
    bool compact = true;                   // a conversation that has nearly filled it
    std::optional<providers::Price> price; // of the model, where it is known
    Json prices = Json::Object{};          // as configured
    ToolRules rules;                       // limits and grants of the tools
    milliseconds silence = std::chrono::seconds(300);   // `ikigai llm` speaks at least this often while it is asked
    SandboxWish sandbox;                   // of the tools; its outputs are chat's
    bool trust = false;                    // --trust: the project is trusted for this run
    ProjectTrust project;                  // of the current folder
    std::vector<std::string> only_tools;   // only these are offered
    std::optional<milliseconds> timeout;   // of the whole
    Policy policy;                         // who may do what
    std::optional<std::string> resume;     // a conversation that was kept: the beginning of its id; empty: the last of this folder
    bool plain = false;                    // a terminal whose cursor stays where it is
    bool choose = false;                   // the person chooses one
    std::string id;                        // of the conversation, where it is named: it goes on where it was kept
    bool keep = true;                      // what is said is written down
    Audit::To audit = Audit::To::nowhere;
    std::vector<std::string> secrets;      // that no log may hold
};

// Exit status: 0 answered; 1 failed; 2 usage; 3 a limit was reached; 128 + N: of signal N.
int chat(const ChatOptions&, const World&);

class Chat {
public:
    // sandbox: borrowed; of the tools.
    Chat(const ChatOptions&, const World&, const std::string& id, Sandbox& sandbox);
    int run();

    // for commands
    const Registry& registry() const { return registry_; }
    Mouth& mouth() { return mouth_; }
    void refresh();
    bool compact(std::string keep);        // false: there is nothing to compact
    void quit() { leaving_ = true; }
    Session& session() { return session_; }
    void use_model(const std::string& name);
    std::string figures() const;           // of the conversation so far, for a person
    bool retry();                          // the last message again; false: there is none
    Keeper& keeper() { return keeper_; }
    void resume(const std::string& id);           // empty: the person chooses
    void list_sessions();
    void begin_anew();
    void go_back(std::string kind, std::int64_t seq);   // a branch: fork or rewind, what was up to seq and no more
    Calls& calls() { return calls_; }
    std::vector<pid_t> others() const;   // the processes that run for us and are no tool calls

private:
    bool happen(const Event&);   // false: nothing came of it
    void perform(const Ask&);
    void perform(const Run&);
    void perform(const Cancel&);
    void perform(const End&);
    void perform(const SayCompacting&);
    void perform(const Compacted&);

    Registry::Places places();
    void fail_model(std::string why, std::string_view error_code);
    bool can_begin_again(const ModelRetried&) const;
    void hear_keyboard();
    void hear_screen();
    void show_status();
    void complete(std::string_view of);
    void hear_model_names();
    std::optional<std::string> take_message();
    void run_shell(std::string_view line);
    bool hear_shell(Finished&);
    void interrupt();
    void hear_signals();
    void hear_model();
    void show_guides();
    void ask_window();
    void hear_window(const ServerWindow&);
    void warn_of_cut();
    void hear_tools();
    void hear_registry();
    void obey_user();
    void tell_trouble();
    void look_for_kept();
    void hear_keeper();
    void go_on_with(const SessionRow&, std::vector<StoredEvent>);
    void choose(std::string_view number);
    void greet();
    void ask_person();
    void hear_answer();
    void obey_at_once();
    void say_message(std::string text);
    std::string with_files(std::string_view text);
    void give_up(const End& end, int status);
    bool idle() const;
    bool ended() const;

    ChatOptions options_;
    World world_;
    Mouth mouth_;
    std::optional<Screen> screen_;         // where a person sits at a terminal that can do more than lines
    std::deque<std::string> queue_;        // said on it, and not yet taken
    std::map<int, Clock::time_point> began_;   // the calls that are shown as running
    Guides guides_;
    Session session_;
    Keeper keeper_;
    bool looking_ = false;                 // at the start, for what was kept
    bool choosing_ = false;                // the list that comes is to choose from
    std::vector<SessionRow> choices_;      // that the person is shown
    Registry registry_;
    std::optional<Registry> refreshing_;
    Sandbox& sandbox_;
    Calls calls_;
    Spending spending_;
    ModelProcess model_;
    ModelProcess lister_;                  // asks which models there are: no message waits behind it
    std::vector<std::string> model_names_;   // to complete with; empty: not asked yet
    std::optional<ServerWindow> window_;  // as its server says
    Signals signals_{SIGTERM, SIGINT, SIGHUP, SIGWINCH, SIGCONT, SIGTSTP};
    std::optional<Clock::time_point> deadline_;
    std::optional<Clock::time_point> hint_at_;   // when to say that standard input is waited for
    std::vector<Event> later_;            // events of our own making, for the next turn of the loop
    std::string typed_;                   // of the keyboard, not yet a message
    std::string held_;                    // of it what came before a question was shown: no answer to that
    bool asked_ = false;                  // the question that waits is shown
    std::optional<std::string> waiting_message_;   // said before the tools were there
    bool keyboard_open_ = true, prompted_ = false, leaving_ = false, hinted_ = false, told_failure_ = false, gave_up_ = false, told_cut_ = false;
    int status_ = 0, signal_ = 0;
};

}
