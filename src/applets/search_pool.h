// SearchPool: many files searched by several threads, in bounded memory; what they find comes in the order of the
// files, as if there were one.
#pragma once

#include "applets/line_search.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace ik {

class SearchPool {
public:
    // pattern has been compiled before. deliver must outlive the pool; it is called by its threads, one at a time.
    SearchPool(std::string pattern, unsigned threads, Deliver deliver);
    ~SearchPool();

    bool started() const { return !threads_.empty(); }   // the system may allow no threads
    bool add(const std::string& path);                   // waits while much is waiting; false: no more is wanted
    void finish();                                       // waits until all is delivered; throws what a thread threw

private:
    using Paths = std::vector<std::string>;

    void work();
    void search();
    bool take(Paths&, std::size_t& turn);
    bool deliver_in_turn(std::size_t turn, FoundLines&);
    void done(std::size_t turn, FoundLines);
    void close(bool wanted);

    std::string pattern_;
    Deliver deliver_;
    Paths next_;                               // what add() collects

    std::mutex mutex_;                         // for all that follows
    std::condition_variable changed_;
    std::deque<Paths> waiting_;
    std::size_t taken_ = 0, turn_ = 0;         // how many were taken from waiting_; whose turn it is to deliver
    std::map<std::size_t, FoundLines> done_;   // before their turn
    bool closed_ = false, wanted_ = true;
    std::exception_ptr failure_;

    std::vector<std::thread> threads_;
};

}
