#include "screen.h"

#include "base/places.h"
#include "base/text.h"

#include <sys/ioctl.h>

namespace ik {

using namespace std::chrono_literals;
using term::Line;

namespace {

constexpr auto patience = 150ms;          // with the answers of the terminal, when we leave

Line prompt() { return {"❯ ", {.ink = term::Ink::prompt}}; }

// The bytes that have come and are not read.
std::size_t on_their_way(int fd)
{
    int n = 0;
    return ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? static_cast<std::size_t>(n) : 0;
}

}

Screen::Options Screen::from_environment(bool plain, std::string history_path)
{
    return {.plain = plain,
            .history_path = std::move(history_path),
            .terminal = {variable("TERM"), variable("COLORTERM"), variable("NO_COLOR"), variable("COLORFGBG")},
            .charset = term::charset_for(variable("LC_ALL"), variable("LC_CTYPE"), variable("LANG"))};
}

Screen::Screen(Options options)
    : options_(std::move(options)), plain_(options_.plain || options_.terminal.term == "dumb"),
      tty_(options_.in, options_.out, options_.terminal.term),
      look_{term::palette_for(options_.terminal), options_.charset}, view_(look_, tty_.size(), plain_),
      history_(options_.history_path), spoken_({.columns = tty_.size().columns, .charset = options_.charset}, plain_)
{
    if (!plain_) {
        tty_.enter();
        tty_.send(tty_.question());
    }
    want();
}

Screen::~Screen() { leave(); }

void Screen::leave()
{
    if (std::exchange(left_, true))
        return;
    outside_.reset();
    question_.reset();
    end_text();
    hear_out();
    if (plain_) tty_.send(view_.leave());
    else tty_.leave(view_.leave());
}

// What the terminal was asked and has not answered yet would be typed into the shell.
void Screen::hear_out()
{
    bool asked = tty_.entered() && !tty_.question().empty();
    for (auto end = Clock::now() + patience; asked && !told_.complete && !tty_.lost() && Clock::now() < end;) {
        Poll poll;
        tty_.add_to(poll);
        poll.until(end);
        poll.wait();
        tty_.advance(poll);
        for (auto& key : keys_.on(tty_.read(poll), Clock::now()))
            if (key.kind == term::Key::reply) told_.hear(key.words);
    }
}

// ---- the loop

void Screen::add_to(Poll& poll) const
{
    if (left_ || lost_)
        return;
    if (outside_)
        return outside_->add_to(poll);
    tty_.add_to(poll);
    if (pace_.due() && !tty_.behind()) poll.until(*pace_.due());
    if (keys_.until()) poll.until(*keys_.until());
    if (ticking()) poll.until(next_tick_);
}

void Screen::advance(const Poll& poll)
{
    if (left_ || lost_)
        return;
    if (outside_) {
        if (outside_->ended()) come_back();
        return;
    }
    tty_.advance(poll);
    if (plain_) hear_lines(poll);
    else hear(tty_.read(poll));
    lost_ = lost_ || tty_.lost();
    auto now = Clock::now();
    if (ticking() && now >= next_tick_) {
        next_tick_ = now + tick;
        pace_.want(now);
    }
    if (outside_ || tty_.behind() || !pace_.take(now))
        return;
    show();
    pace_.took(Clock::now() - now);
}

std::optional<Screen::Did> Screen::next()
{
    if (done_.empty())
        return {};
    auto out = std::move(done_.front());
    done_.pop_front();
    return out;
}

// ---- the frame

void Screen::show()
{
    // What is typed before a question could be seen is no answer to it.
    if (question_ && !question_->seen && on_their_way(options_.in))
        return want();
    for (auto& line : spoken_.take_final()) view_.print(std::move(line));
    tty_.send(view_.show(live()));
    if (!question_ || question_->seen)
        return;
    if (tty_.behind())
        return want();
    question_->seen = true;
    question_->typed_before = on_their_way(options_.in);
    auto now = Clock::now();
    if (!editor_.empty() && now - last_key_ < between_keys) question_->deaf_until = now + between_keys;
}

bool Screen::waits_for_words() const { return !plain_ || (activities_.empty() && !spoken_.running()); }

term::Live Screen::live()
{
    term::Live out;
    out.text = spoken_.live();
    out.status = status_lines(activities_, figures_, model_does_, Clock::now());
    for (auto& line : queue_lines(queue_)) out.status.push_back(std::move(line));
    if (question_)
        add_question(out);
    else if (waits_for_words()) {
        auto drawn = editor_.draw(prompt());
        out.input = std::move(drawn.lines);
        out.cursor = drawn.cursor;
        out.below = editor_.menu();
        if (!hint_.empty()) out.below.push_back(Line("  " + hint_, faint_style));
    }
    return out;
}

void Screen::add_question(term::Live& live) const
{
    auto& asked = *question_;
    live.input = asked.preview;
    live.input.insert(live.input.begin(), question_line(asked.question));
    if (asked.why) {
        auto drawn = asked.why->draw(Line("  No, because: ", {.ink = term::Ink::prompt}));
        live.cursor = {live.input.size() + drawn.cursor.line, drawn.cursor.byte};
        for (auto& line : drawn.lines) live.input.push_back(std::move(line));
        return;
    }
    live.input.push_back(answers_line(asked.question));
    live.cursor = {live.input.size() - 1, live.input.back().text.size()};
    if (!editor_.empty())
        for (auto& line : editor_.draw(Line("❯ ", faint_style)).lines) live.below.push_back(std::move(line));
}

void Screen::print(std::vector<Line> lines)
{
    end_text();
    last_call_.clear();
    for (auto& line : lines) view_.print(std::move(line));
    want();
}

void Screen::end_text()
{
    bool some = spoken_.running();
    spoken_.end();
    for (auto& line : spoken_.take_final()) view_.print(std::move(line));
    if (some) want();
}

// ---- the terminal

void Screen::resized()
{
    view_.resize(tty_.size());
    spoken_.resize(view_.size().columns);
    want();
}

// Stopped and continued by somebody else: the shell has used the terminal meanwhile. The news may come twice, from the
// shell and from our outer process.
void Screen::continued()
{
    if (left_ || outside_ || Clock::now() - resumed_at_ < between_keys)
        return;
    resumed_at_ = Clock::now();
    if (!plain_) tty_.enter_again();
    view_.forget();
    resized();
}

void Screen::suspend()
{
    if (left_ || outside_)
        return;
    tty_.suspend(plain_ ? std::string() : view_.leave());
    resumed_at_ = Clock::now();
    view_.forget();
    resized();
}

}
