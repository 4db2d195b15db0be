#include "base/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <span>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t much = 1 << 20;   // for who says that, a longer pipe is worth its while
constexpr std::size_t long_pipe = 512 << 10;

// Hands what can be read now to take; closes fd at its end. A bound on the rounds keeps one
// loud child from starving the others. False where it cannot be read any more, though it has not ended.
bool drain(Fd& fd, std::span<char> buffer, int rounds, auto take)
{
    while (fd && rounds-- > 0) {
        auto n = read_some(fd.get(), buffer.data(), buffer.size());
        if (n > 0) {
            take(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
            if (static_cast<std::size_t>(n) < buffer.size())
                return true;   // that was all
        } else if (n < 0 && errno == EAGAIN)
            return true;
        else {
            fd.reset();
            if (n < 0)
                return false;
        }
    }
    return true;
}

}

Result<Child> Child::start(Options options)
{
    auto in = make_pipe(), out = make_pipe(), err = make_pipe();
    if (!in) return in.error();
    if (!out) return out.error();
    if (!err) return err.error();
    if (options.no_stdin)
        in->read = nothing();

    Program program{.argv = std::move(options.argv), .env = std::move(options.env),
                    .in = in->read.get(), .out = out->write.get(), .err = err->write.get(),
                    .outlives_us = options.outlives_us, .confinement = options.confinement};
    auto ready = options.standby ? std::move(*options.standby).become(program) : std::nullopt;
    auto process = ready ? Result(std::move(*ready)) : Process::start(program);
    if (!process)
        return process.error();

    Child child;
    child.process_ = std::move(*process);
    child.in_ = std::move(in->write);
    child.out_ = std::move(out->read);
    child.err_ = std::move(err->read);
    child.input_ = std::move(options.input);
    child.keep_stdin_ = options.keep_stdin;
    child.max_out_ = options.max_out;
    child.max_err_ = options.max_err;
    child.grace_ = options.grace;
    child.started_ = Clock::now();
    if (options.limit)
        child.deadline_ = child.started_ + *options.limit;
    make_nonblocking(child.in_);
    make_nonblocking(child.out_);
    make_nonblocking(child.err_);
    child.feed();
    return child;
}

void Child::feed()
{
    while (in_ && fed_ < input_.size()) {
        auto n = ::write(in_.get(), input_.data() + fed_, input_.size() - fed_);
        if (n > 0)
            fed_ += static_cast<std::size_t>(n);
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            in_.reset();   // it does not want to read: that is its right
    }
    std::string().swap(input_);   // its memory too, which an assignment keeps: what was said may have been a whole conversation
    fed_ = 0;
    if (!keep_stdin_)
        in_.reset();
}

void Child::stop()
{
    if (exit || stopping_)
        return;
    stopping_ = true;
    deadline_ = Clock::now() + grace_;
    process_.signal_group(SIGTERM);
    process_.signal_group(SIGCONT);   // a stopped one must hear it too
}

void Child::lift_limit()
{
    if (!stopping_)
        deadline_.reset();
}

void Child::add_to(Poll& poll) const
{
    if (exit)
        return;
    if (!input_.empty())
        poll.write(in_);
    poll.read(out_);
    poll.read(err_);
    poll.read(process_.ended());
    if (deadline_)
        poll.until(*deadline_);
}

void Child::advance(const Poll& poll, const Take& take)
{
    if (exit)
        return;
    if (poll.ready(in_) || !input_.empty() || (in_ && !keep_stdin_))
        feed();

    // Its end is looked at first: what it wrote before that is in the pipes by now.
    Exit status;
    bool gone = (!process_.ended() || poll.ready(process_.ended())) && process_.reap(status, stopping_);
    std::array<char, 65536> small;
    auto buffer = large_ ? std::span(large_.get(), long_pipe) : std::span(small);
    int rounds = gone ? 64 : 16;   // 64 are more than a pipe holds: somebody else writes on
    auto take_out = [&](std::string_view bytes) {
        if (printed_ + bytes.size() > max_out_) {
            too_much_ = true;
            bytes = bytes.substr(0, max_out_ - std::min(max_out_, printed_));
        }
        printed_ += bytes.size();
        if (take) take(bytes);
        else out += bytes;
    };
    auto take_err = [&](std::string_view bytes) { err += bytes.substr(0, max_err_ - std::min(max_err_, err.size())); };
    bool heard = !(gone || poll.ready(out_)) || drain(out_, buffer, rounds, take_out);
    if (gone || poll.ready(err_)) drain(err_, buffer, rounds, take_err);

    if (gone) {
        in_.reset();
        out_.reset();
        err_.reset();
        ended_ = Clock::now();
        exit = status;
        return;
    }
    if (too_much_ || !heard)   // whoever speaks to nobody would never come to an end
        stop();
    if (!large_ && printed_ >= much) {
        large_ = std::make_unique_for_overwrite<char[]>(long_pipe);
        fcntl(out_.get(), F_SETPIPE_SZ, long_pipe);   // where it may not, the turns are shorter
    }
    if (deadline_ && Clock::now() >= *deadline_) {
        if (stopping_) {
            process_.signal_group(SIGKILL);
            deadline_.reset();
        } else {
            timed_out_ = true;
            stop();
        }
    }
}

void wait_for(Child& child)
{
    while (!child.exit) {
        Poll poll;
        child.add_to(poll);
        poll.wait();
        child.advance(poll);
    }
}

}
