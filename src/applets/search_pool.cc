#include "applets/search_pool.h"

#include <system_error>

namespace ik {
namespace {

constexpr std::size_t files_at_once = 16, most_waiting = 32, most_done = 64;

}

SearchPool::SearchPool(std::string pattern, unsigned threads, Deliver deliver) : pattern_(std::move(pattern)), deliver_(deliver)
{
    try {
        while (threads_.size() < threads)
            threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        // Those that there are will do.
    }
}

SearchPool::~SearchPool()
{
    close(false);
    for (auto& thread : threads_)
        if (thread.joinable())
            thread.join();
}

bool SearchPool::add(const std::string& path)
{
    next_.push_back(path);
    if (next_.size() < files_at_once)
        return true;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < most_waiting || !wanted_; });
    waiting_.push_back(std::exchange(next_, {}));
    changed_.notify_all();
    return wanted_;
}

void SearchPool::finish()
{
    {
        std::lock_guard lock(mutex_);
        waiting_.push_back(std::exchange(next_, {}));
    }
    close(true);
    for (auto& thread : threads_)
        thread.join();
    if (failure_)
        std::rethrow_exception(failure_);
}

void SearchPool::close(bool wanted)
{
    std::lock_guard lock(mutex_);
    closed_ = true;
    wanted_ &= wanted;
    changed_.notify_all();
}

void SearchPool::work()
{
    try {
        search();
    } catch (...) {
        close(false);
        std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
    }
}

void SearchPool::search()
{
    auto matcher = Matcher::compile(pattern_);
    if (!matcher)
        throw std::bad_alloc();   // it was valid a moment ago
    LineSearch search(*std::move(matcher));
    Paths paths;
    for (std::size_t turn = 0; take(paths, turn);) {
        for (auto& path : paths)
            if (!search.file(path, [&](FoundLines& found) { return deliver_in_turn(turn, found); }))
                break;
        done(turn, std::exchange(search.found(), {}));
    }
}

// Not too far ahead of the one whose turn it is.
bool SearchPool::take(Paths& paths, std::size_t& turn)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !wanted_ || (waiting_.empty() ? closed_ : taken_ < turn_ + most_done); });
    if (!wanted_ || waiting_.empty())
        return false;
    paths = std::move(waiting_.front());
    waiting_.pop_front();
    turn = taken_++;
    changed_.notify_all();
    return true;
}

bool SearchPool::deliver_in_turn(std::size_t turn, FoundLines& found)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == turn || !wanted_; });
    if (!wanted_)
        return false;
    lock.unlock();   // nobody else delivers before this turn is over
    if (deliver_(found))
        return true;
    close(false);
    return false;
}

void SearchPool::done(std::size_t turn, FoundLines found)
{
    std::lock_guard lock(mutex_);
    done_[turn] = std::move(found);
    for (auto first = done_.begin(); first != done_.end() && first->first == turn_; first = done_.erase(first), ++turn_)
        if (wanted_ && (first->second.count || !first->second.unread.empty()) && !deliver_(first->second))
            wanted_ = false;
    changed_.notify_all();
}

}
