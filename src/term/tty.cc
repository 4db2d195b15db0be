#include "term/tty.h"

#include "base/places.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ik::term {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_farewell = 1000ms;

// What we turn on, and off again. Bracketed paste is known everywhere or ignored; the keyboards are kitty's
// (push, pop) and xterm's modifyOtherKeys.
constexpr std::string_view paste_on = "\x1b[?2004h", paste_off = "\x1b[?2004l";
constexpr std::string_view keyboard_on = "\x1b[>1u\x1b[>4;1m", keyboard_off = "\x1b[>4m\x1b[<u";
constexpr std::string_view wrap_and_cursor_on = "\x1b[?7h\x1b[?25h";   // which the view turns off for a moment

// The keyboard flags, the background, and a question that every terminal answers.
constexpr std::string_view questions = "\x1b[?u\x1b]11;?\x1b\\\x1b[c";

// Terminals that print what they do not know of this.
constexpr std::string_view simple[] = {"", "dumb", "linux", "vt100", "vt102", "vt220", "ansi", "cons25", "emacs", "unknown"};

bool is_simple(std::string_view term) { return std::find(std::begin(simple), std::end(simple), term) != std::end(simple); }

int from_variable(const char* name)
{
    int n = std::atoi(variable(name).c_str());
    return n > 0 && n <= 10'000 ? n : 0;
}

}

std::string modes_off(std::string_view term)
{
    if (term == "dumb")
        return {};
    return std::string(is_simple(term) ? "" : keyboard_off).append(paste_off).append(wrap_and_cursor_on);
}

Tty::Tty(int in, int out, std::string term) : in_(in), out_(out), term_(std::move(term))
{
    usable_ = isatty(in_) && isatty(out_) && tcgetattr(in_, &before_) == 0;
    if (usable_)
        own_ = Fd(open(("/proc/self/fd/" + std::to_string(out_)).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

Tty::~Tty() { leave(); }

// Changing the modes from the background would stop us, or take the terminal from the shell.
bool Tty::in_foreground() const
{
    auto group = tcgetpgrp(in_);
    return group < 0 || group == getpgrp();
}

void Tty::enter()
{
    if (!usable_ || entered_ || !in_foreground())
        return;
    tcgetattr(in_, &before_);   // the shell may have changed it while we were stopped
    set_modes();
}

void Tty::enter_again()
{
    if (!entered_) enter();   // that was not possible from the background
    else if (in_foreground()) set_modes();
}

void Tty::set_modes()
{
    auto raw = before_;
    raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO | ECHONL | ISIG | IEXTEN));
    raw.c_iflag &= static_cast<tcflag_t>(~(ICRNL | INLCR | IGNCR | IXON | ISTRIP | BRKINT));
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(in_, TCSANOW, &raw) != 0) {
        lost_ = errno == EIO;
        return;
    }
    entered_ = true;
    if (term_ != "dumb") send(paste_on);
    if (!is_simple(term_)) send(keyboard_on);
}

void Tty::leave(std::string_view bytes)
{
    if (!entered_)
        return;
    entered_ = false;
    if (!in_foreground())
        return;   // the terminal is somebody else's now
    send(std::string(bytes) + modes_off(term_));
    auto end = Clock::now() + longest_farewell;
    while (behind() && !lost_ && Clock::now() < end) {
        pollfd ready{own_.get(), POLLOUT, 0};
        ::poll(&ready, 1, 50);
        flush();
    }
    pending_.clear();
    written_ = 0;
    if (!lost_) tcsetattr(in_, TCSANOW, &before_);
}

void Tty::suspend(std::string_view bytes)
{
    bool was = entered_;
    leave(bytes);
    sigset_t stop, old;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    auto* handler = std::signal(SIGTSTP, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &stop, &old);
    kill(0, SIGTSTP);
    sigprocmask(SIG_SETMASK, &old, nullptr);
    std::signal(SIGTSTP, handler);
    if (was) enter();
}

std::string_view Tty::question() const { return usable_ && !is_simple(term_) ? questions : std::string_view(); }

Size Tty::size() const
{
    winsize window{};
    if (ioctl(out_, TIOCGWINSZ, &window) != 0) window = {};
    int columns = window.ws_col ? window.ws_col : from_variable("COLUMNS");
    int rows = window.ws_row ? window.ws_row : from_variable("LINES");
    return {columns ? columns : 80, rows ? rows : 24};
}

void Tty::send(std::string_view bytes)
{
    pending_ += bytes;
    flush();
}

void Tty::flush()
{
    if (!own_ && !lost_) {
        lost_ = !write_all(out_, pending_);
        written_ = pending_.size();
    }
    while (behind() && !lost_) {
        auto n = ::write(own_.get(), pending_.data() + written_, pending_.size() - written_);
        if (n >= 0)
            written_ += static_cast<std::size_t>(n);
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            lost_ = true;
    }
    pending_.clear();
    written_ = 0;
}

void Tty::add_to(Poll& poll) const
{
    if (lost_)
        return;
    poll.read(in_);
    if (behind()) poll.write(own_);
}

void Tty::advance(const Poll& poll)
{
    if (behind() && poll.ready(own_)) flush();
}

std::string Tty::read(const Poll& poll)
{
    if (lost_ || !poll.ready(in_))
        return {};
    std::string out(64 << 10, '\0');
    auto n = read_some(in_, out.data(), out.size());
    lost_ = n <= 0 && !(n < 0 && errno == EAGAIN);   // end of file, or EIO when the line is hung up
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
}

}
