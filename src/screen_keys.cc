// The half of the screen that hears the person.
#include "screen.h"

#include "base/text.h"
#include "paths.h"

#include <cerrno>

namespace ik {

using namespace std::chrono_literals;
using term::Key;
using term::Outcome;

namespace {

constexpr std::size_t longest_line = 8 << 20;   // typed, in plain mode

bool is_control(const Key& key, char letter) { return key.kind == Key::text && key.ctrl && !key.alt && key.words == std::string(1, letter); }

}

void Screen::hear(std::string_view bytes)
{
    auto now = Clock::now();
    auto keys = bytes.empty() ? keys_.late(now) : keys_.on(bytes, now);
    for (auto& key : keys) {
        if (key.kind == Key::reply) {
            told_.hear(key.words);
            if (told_.light && *told_.light != look_.palette.light) {
                look_.palette.light = *told_.light;
                view_.look(look_);
                want();
            }
            continue;
        }
        on_key(key);
        if (outside_ || left_)
            return;
    }
    if (question_ && question_->seen) question_->typed_before -= std::min(question_->typed_before, bytes.size());
}

void Screen::on_key(const Key& key)
{
    auto now = Clock::now();
    bool typing_on = question_ && now < question_->deaf_until;
    if (typing_on) question_->deaf_until = now + between_keys;
    bool answers = question_ && question_->seen && question_->typed_before == 0 && !typing_on;
    last_key_ = now;
    if (!hint_.empty()) {
        hint_.clear();
        want();
    }
    if (is_control(key, 'z')) return suspend();
    if (answers) return answer_key(key);
    if (question_ && (key.kind == Key::enter || key.kind == Key::escape)) return;   // a message does not leave under a question
    if (take_back(key)) return;
    obey(editor_.on(key, history_.entries()));
}

// Up on an empty line takes the last message of the queue back.
bool Screen::take_back(const Key& key)
{
    bool wanted = (key.kind == Key::up && !key.ctrl && !key.alt) || is_control(key, 'p');
    if (!wanted || queue_.empty() || !editor_.empty())
        return false;
    editor_.set_text(queue_.back());
    done_.push_back({.kind = Did::took_back, .text = std::move(queue_.back())});
    queue_.pop_back();
    want();
    return true;
}

void Screen::obey(const Outcome& outcome)
{
    using Kind = Outcome::Kind;
    if (outcome.kind != Kind::nothing) want();
    switch (outcome.kind) {
    case Kind::send:
        history_.add(outcome.text);
        if (!history_.problem().empty() && !std::exchange(told_history_, true)) warn(history_.problem());
        return void(done_.push_back({.kind = Did::said, .text = outcome.text}));
    case Kind::leave_asked:
        hint_ = "Ctrl+C once more, or Ctrl+D, ends the conversation";
        return void(done_.push_back({.kind = Did::interrupt}));
    case Kind::quit: return void(done_.push_back({.kind = Did::quit}));
    case Kind::stop: return void(done_.push_back({.kind = Did::stop}));
    case Kind::background: return void(done_.push_back({.kind = Did::background}));
    case Kind::outside: return edit_outside();
    case Kind::clear_screen: return tty_.send(view_.clear_screen());
    case Kind::suspend: return suspend();
    case Kind::complete: return complete();
    case Kind::nothing:
    case Kind::changed:
    case Kind::cleared: return;
    }
}

// Paths are known here; what else there is the caller knows.
void Screen::complete()
{
    auto wanted = editor_.wanted();
    if (wanted.kind == term::Wanted::path) return candidates(path_candidates(wanted.word));
    done_.push_back({.kind = Did::complete, .text = wanted.word, .of = wanted.of});
}

// ---- questions

void Screen::answer(char answer, std::string text)
{
    question_.reset();
    done_.push_back({.kind = Did::answered, .text = std::move(text), .answer = answer});
    want();
}

void Screen::answer_key(const Key& key)
{
    auto& asked = *question_;
    if (asked.why) {
        auto outcome = asked.why->on(key, {});
        if (outcome.kind == Outcome::send) return answer('w', std::move(outcome.text));
        bool back = outcome.kind == Outcome::stop || outcome.kind == Outcome::leave_asked || outcome.kind == Outcome::quit;
        if (back) asked.why.reset();
        return want();
    }
    if (is_control(key, 'c')) return void(done_.push_back({.kind = Did::interrupt}));
    if (key.kind == Key::escape) return answer('n');
    bool is_word = key.kind == Key::text && !key.ctrl && !key.alt && key.words.size() == 1;
    auto given = key.kind == Key::tab ? 'w' : is_word ? answer_of(key.words[0], asked.question) : '\0';
    if (given == 'w') {
        asked.why.emplace();
        return want();
    }
    if (given) answer(given);
}

// ---- lines, where keys do not come one by one

void Screen::hear_lines(const Poll& poll)
{
    if (!poll.ready(options_.in))
        return;
    char bytes[65536];
    auto n = read_some(options_.in, bytes, sizeof bytes);
    if (n < 0 && errno != EAGAIN) lost_ = true;
    if (n == 0) done_.push_back({.kind = Did::quit});   // Ctrl+D
    typed_.append(bytes, static_cast<std::size_t>(std::max<std::ptrdiff_t>(n, 0)));
    if (typed_.size() > longest_line) typed_.clear();
    while (auto line = take_line(typed_)) {
        view_.forget();
        want();
        auto text = trim(*line);
        bool answered = question_ && question_->seen && answer_line(text);
        if (!answered && !text.empty()) obey({Outcome::send, clean_utf8(text)});
    }
}

// A letter alone, or w and the word to the model. Any other line was begun before the question could be seen.
bool Screen::answer_line(std::string_view line)
{
    auto given = line.empty() ? '\0' : answer_of(line[0], question_->question);
    bool is_answer = given && (line.size() == 1 || (given == 'w' && line[1] == ' '));
    if (is_answer) answer(given, clean_utf8(trim(line.substr(1))));
    return is_answer;
}

// ---- an editor of the person's own

void Screen::edit_outside()
{
    auto text = editor_.whole();
    tty_.leave(view_.leave());
    auto started = Outside::start(text, options_.in, options_.out);
    if (started) {
        outside_ = std::move(*started);
        return;
    }
    tty_.enter();
    warn(started.error().message);
}

void Screen::come_back()
{
    auto text = outside_->finish();
    outside_.reset();
    tty_.enter();
    view_.forget();
    if (text) editor_.set_text(*text);
    else warn(text.error().message);
    resized();
}

}
