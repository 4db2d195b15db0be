// Screen: the conversation on a terminal: what the person does comes out in order, what is to be shown goes in. It
// composes the parts of term/ and, like a child, is passive: it joins a poll and then advances. Finished lines go to
// the terminal's scrollback; below them live the unfinished text, what runs, and the prompt. Decides nothing: what a
// message, a command or an answer leads to is the caller's business.
//
// From its making on the terminal is in our hands; leave() and ~Screen give it back as it was. Whoever owns the
// signals tells resized() of SIGWINCH, continued() of SIGCONT and suspend() of SIGTSTP. While away() the terminal
// belongs to an editor, and SIGINT is meant for that.
#pragma once

#include "outside.h"
#include "screen_lines.h"
#include "spoken.h"
#include "term/editor.h"
#include "term/history.h"
#include "term/pace.h"
#include "term/tty.h"

#include <deque>

namespace ik {

class Screen {
public:
    struct Options {
        int in = 0, out = 1;
        bool plain = false;                // lines only, typed as the terminal sends them; so it is where $TERM is dumb
        std::string history_path = {};     // empty: in memory
        term::Terminal terminal = {};
        term::Charset charset = term::Charset::utf8;
    };
    static Options from_environment(bool plain, std::string history_path);

    explicit Screen(Options);
    Screen(const Screen&) = delete;
    ~Screen();

    bool usable() const { return tty_.usable(); }   // both descriptors are terminals
    bool plain() const { return plain_; }
    bool lost() const { return lost_; }             // the terminal is gone
    bool away() const { return outside_.has_value(); }

    void add_to(Poll&) const;
    void advance(const Poll&);

    struct Did {
        enum Kind : std::uint8_t {
            said,        // text: a message, a /command, a !command
            stop,        // Esc: what runs
            interrupt,   // Ctrl+C with nothing typed
            quit,
            background,  // Ctrl+T
            answered,    // answer: y once, s this session, a always, n no; w no, and text says why
            took_back,   // text: the last of the queue is in the editor again, and is to leave the queue
            complete,    // text: the word, of: its command; candidates() is the answer
        } kind;
        std::string text = {}, of = {};
        char answer = 0;
    };
    std::optional<Did> next();

    // What is to be shown; the words are those of Mouth.
    void said(std::string_view text);           // by the person, as it is taken
    void event(const Event&);
    void call(const ToolCall&);
    void result(const ToolCall&, const Json& envelope, milliseconds duration);
    void notice(const Json& notice);
    void end(const End&);
    void say(std::string_view text);            // whole lines
    void warn(std::string_view sentence);
    bool spoke() const { return spoke_; }       // text of the reply that runs was shown

    // What goes on, each time that changes; none: nothing, and nobody wakes.
    void status(std::vector<Activity> activities, std::optional<Figures> figures = {});
    void queue(std::vector<std::string> messages);   // typed, and not taken yet
    void candidates(std::vector<term::Candidate>);   // those that do not begin with the word are left out
    bool completes(std::string_view command) const { return editor_.wanted().of == command; }   // an argument of it

    // One question at a time. What was typed before it could be seen goes to the prompt, and answers nothing.
    void ask(Question);
    void ask_no_more();
    bool asking() const { return question_.has_value(); }

    void resized();
    void continued();
    void suspend();

    // The terminal as it was found, with all that was said on it. After this nothing is shown.
    void leave();

private:
    struct Asked {
        Question question;
        std::vector<term::Line> preview;
        bool seen = false;                   // what is typed from now on is an answer
        std::size_t typed_before = 0;        // bytes that were on their way when it was shown
        Clock::time_point deaf_until = {};   // the person was in the middle of typing
        std::optional<term::Editor> why;     // the word to the model
    };

    static constexpr auto tick = std::chrono::seconds(1);
    static constexpr auto between_keys = std::chrono::milliseconds(500);   // of somebody who is typing

    void hear(std::string_view bytes);
    void hear_out();
    void hear_lines(const Poll&);
    void on_key(const term::Key&);
    bool take_back(const term::Key&);
    void answer_key(const term::Key&);
    bool answer_line(std::string_view line);
    void answer(char answer, std::string text = {});
    void obey(const term::Outcome&);
    void complete();
    void edit_outside();
    void come_back();

    void print(std::vector<term::Line> lines);
    void end_text();
    void want() { pace_.want(Clock::now()); }
    void show();
    term::Live live();
    void add_question(term::Live&) const;
    bool ticking() const { return !activities_.empty() && !plain_ && !outside_; }
    bool waits_for_words() const;

    Options options_;
    bool plain_;
    term::Tty tty_;
    term::Keys keys_;
    term::Told told_;
    term::Look look_;
    term::View view_;
    term::Editor editor_;
    term::History history_;
    term::Pace pace_;
    Spoken spoken_;
    std::deque<Did> done_;
    std::optional<Asked> question_;
    std::optional<Outside> outside_;
    std::vector<Activity> activities_;
    std::optional<Figures> figures_;
    std::vector<std::string> queue_;
    std::string typed_;                      // plain: not yet a line
    std::string hint_;                       // until the next key
    std::vector<term::Line> last_call_;      // as it was printed, while nothing stands below it
    Clock::time_point last_key_{}, next_tick_{}, resumed_at_{};
    std::string_view model_does_ = "waiting for the model";
    bool left_ = false, lost_ = false, spoke_ = false, told_history_ = false;
};

}
