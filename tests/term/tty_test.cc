// The terminal's modes and bytes, with a pty whose other end the test holds.
#include "term/tty.h"

#include "support/screen.h"
#include "support/world.h"
#include "term/keys.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;
using namespace std::chrono_literals;
using ik::term::Tty;

namespace {

struct Pty {
    Pty()
    {
        int m, s;
        winsize window{24, 100, 0, 0};
        REQUIRE(openpty(&m, &s, nullptr, nullptr, &window) == 0);
        master = Fd(m);
        slave = Fd(s);
        make_nonblocking(master);
    }
    std::string seen()
    {
        char buffer[65536];
        std::string out;
        for (;;) {
            auto n = read_some(master.get(), buffer, sizeof buffer);
            if (n <= 0)
                return out;
            out.append(buffer, static_cast<std::size_t>(n));
        }
    }
    termios modes() const
    {
        termios out{};
        tcgetattr(slave.get(), &out);
        return out;
    }
    Fd master, slave;
};

bool same(const termios& a, const termios& b)
{
    return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag && std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

// What is typed within a while.
std::string typed(Tty& tty)
{
    std::string out;
    eventually([&] {
        Poll poll;
        tty.add_to(poll);
        poll.until(Clock::now() + 100ms);
        poll.wait();
        tty.advance(poll);
        out += tty.read(poll);
        return !out.empty() || tty.lost();
    });
    return out;
}

}

TEST_CASE("tty: modes are given back as they were")
{
    Pty pty;
    auto before = pty.modes();
    {
        Tty tty(pty.slave.get(), pty.slave.get(), "xterm-256color");
        REQUIRE(tty.usable());
        CHECK(same(before, pty.modes()));
        tty.enter();
        CHECK_FALSE(pty.modes().c_lflag & (ICANON | ECHO | ISIG));
        CHECK_FALSE(pty.modes().c_iflag & (ICRNL | IXON));
        CHECK(pty.modes().c_oflag == before.c_oflag);
        CHECK(pty.seen() == "\x1b[?2004h\x1b[>1u\x1b[>4;1m");
        tty.leave("bye\r\n");
        CHECK(same(before, pty.modes()));
        CHECK(pty.seen() == "bye\r\r\n\x1b[>4m\x1b[<u\x1b[?2004l\x1b[?7h\x1b[?25h");
        tty.leave("twice");
        CHECK(pty.seen() == "");
        tty.enter();
        pty.seen();
    }
    CHECK(same(before, pty.modes()));
    CHECK(pty.seen() == "\x1b[>4m\x1b[<u\x1b[?2004l\x1b[?7h\x1b[?25h");
    CHECK_FALSE(fcntl(pty.slave.get(), F_GETFL) & O_NONBLOCK);
}

TEST_CASE("tty: simple terminals are asked for nothing that they would print")
{
    for (auto term : {"linux", "vt220", ""}) {
        Pty pty;
        Tty tty(pty.slave.get(), pty.slave.get(), term);
        tty.enter();
        tty.leave();
        CHECK(pty.seen() == "\x1b[?2004h\x1b[?2004l\x1b[?7h\x1b[?25h");
        CHECK(tty.question() == "");
    }
    Pty pty;
    Tty dumb(pty.slave.get(), pty.slave.get(), "dumb");
    dumb.enter();
    dumb.leave();
    CHECK(pty.seen() == "");
}

TEST_CASE("tty: what is no terminal")
{
    auto pipe = make_pipe();
    REQUIRE(pipe);
    Tty tty(pipe->read.get(), pipe->write.get(), "xterm");
    CHECK_FALSE(tty.usable());
    tty.enter();
    CHECK_FALSE(tty.entered());
    tty.leave();
    CHECK(tty.question() == "");
    setenv("COLUMNS", "33", 1);
    setenv("LINES", "x", 1);
    CHECK(tty.size() == term::Size{33, 24});
    unsetenv("COLUMNS");
    unsetenv("LINES");
    CHECK(tty.size() == term::Size{80, 24});
}

TEST_CASE("tty: its size")
{
    Pty pty;
    Tty tty(pty.slave.get(), pty.slave.get(), "xterm");
    CHECK(tty.size() == term::Size{100, 24});
    winsize window{50, 200, 0, 0};
    ioctl(pty.master.get(), TIOCSWINSZ, &window);
    CHECK(tty.size() == term::Size{200, 50});
}

TEST_CASE("tty: keys come as bytes, also Ctrl+C")
{
    Pty pty;
    Tty tty(pty.slave.get(), pty.slave.get(), "xterm");
    tty.enter();
    REQUIRE(write_all(pty.master.get(), "a\x03\r\x13"));
    std::string all;
    CHECK(eventually([&] { return (all += typed(tty)).size() == 4; }));
    CHECK(all == "a\x03\r\x13");
}

TEST_CASE("tty: a terminal that does not read is waited for by nobody")
{
    Pty pty;
    Tty tty(pty.slave.get(), pty.slave.get(), "xterm");
    tty.enter();
    std::string text(1 << 20, 'x');
    tty.send(text);
    CHECK(tty.behind());
    std::string seen;
    CHECK(eventually([&] {
        Poll poll;
        tty.add_to(poll);
        poll.until(Clock::now());
        poll.wait();
        tty.advance(poll);
        seen += pty.seen();
        return !tty.behind();
    }));
    seen += pty.seen();
    CHECK(seen.size() == text.size() + std::string_view("\x1b[?2004h\x1b[>1u\x1b[>4;1m").size());
}

TEST_CASE("tty: a terminal that vanishes")
{
    Pty pty;
    Tty tty(pty.slave.get(), pty.slave.get(), "xterm");
    tty.enter();
    pty.master.reset();
    CHECK(typed(tty) == "");
    CHECK(tty.lost());
    tty.send("into nothing");
    CHECK_FALSE(tty.behind());
    tty.leave("bye");
    Poll poll;
    tty.add_to(poll);
    poll.until(Clock::now());
    poll.wait();
    CHECK(tty.read(poll) == "");
}

TEST_CASE("tty: what a terminal answers to the question")
{
    Screen screen(80, 24);
    Pty pty;
    Tty tty(pty.slave.get(), pty.slave.get(), "xterm");
    screen.feed(tty.question());
    auto replies = screen.replies();
    REQUIRE(replies != "");
    term::Keys keys;
    term::Told told;
    for (auto& key : keys.on(replies, Clock::now())) {
        CHECK(key.kind == term::Key::reply);
        told.hear(key.words);
    }
    CHECK(told.complete);
    CHECK(screen.everything().empty());   // and it shows nothing of it
}

// In a session of its own, with the pty as its terminal and a parent that plays the shell.
TEST_CASE("tty: suspended and continued")
{
    Pty pty;
    auto before = pty.modes();
    pid_t shell = fork();
    if (shell == 0) {
        setsid();
        ioctl(pty.slave.get(), TIOCSCTTY, 0);
        signal(SIGTTOU, SIG_IGN);
        pid_t job = fork();
        if (job == 0) {
            setpgid(0, 0);
            tcsetpgrp(pty.slave.get(), getpgrp());
            signal(SIGTTOU, SIG_DFL);
            Tty tty(pty.slave.get(), pty.slave.get(), "xterm");
            tty.enter();
            bool was = tty.entered();
            tty.suspend("stopped\r\n");
            _exit(was && tty.entered() ? 0 : 1);   // without leave(): the modes show that it has entered again
        }
        int status = 0;
        waitpid(job, &status, WUNTRACED);
        termios now{};
        tcgetattr(pty.slave.get(), &now);
        bool given_back = WIFSTOPPED(status) && same(now, before);
        kill(-job, SIGCONT);
        waitpid(job, &status, 0);
        tcgetattr(pty.slave.get(), &now);
        bool taken_again = !(now.c_lflag & ICANON);
        _exit(given_back && taken_again && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1);
    }
    int status = 0;
    std::string seen;
    REQUIRE(eventually([&] { seen += pty.seen(); return waitpid(shell, &status, WNOHANG) == shell; }));
    CHECK(status == 0);
    CHECK(seen.find("stopped\r\r\n") != std::string::npos);
}
