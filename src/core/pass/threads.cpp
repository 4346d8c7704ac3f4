#include "pass/threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "pass/exact_pairs.h"
#include "support/float_mode.h"

namespace deadheat {

namespace {

/// The pieces that have ended, for those that wait for them.
class Ended {
public:
    Ended(Index n, const StopFlag &stop) : ended_(at(n)), stop_(stop) {}

    void wait(Index below) {
        std::unique_lock hold(lock_);
        while (first_ < below && !stop_) more_.wait_for(hold, std::chrono::milliseconds(50));
        if (stop_) throw Stopped();
    }
    void add(Index piece) {
        const std::lock_guard hold(lock_);
        ended_[at(piece)] = 1;
        const Index before = first_;
        while (first_ < static_cast<Index>(ended_.size()) && ended_[at(first_)]) ++first_;
        if (first_ > before) more_.notify_all();
    }

private:
    std::mutex lock_;
    std::condition_variable more_;
    std::vector<char> ended_;
    Index first_ = 0;
    const StopFlag &stop_;
};

}  // namespace

void Threads::each(Index n, const std::function<void(Index)> &work, const std::function<Index(Index)> &after) {
    std::atomic<Index> next{0};
    std::mutex lock;
    std::condition_variable over;
    std::exception_ptr error;
    Ended ended(n, stop);
    Index running = std::min<Index>(n_, n);
    const auto piece = [&](Index i) {
        const Index below = after ? after(i) : 0;
        if (below > 0) ended.wait(below);
        work(i);
        if (after) ended.add(i);
    };
    const auto run = [&] {
        const FloatMode mode;
        try {
            for (Index i = next++; i < n && !stop; i = next++) piece(i);
        } catch (const Stopped &) {
        } catch (...) {
            const std::lock_guard hold(lock);
            if (!error) error = std::current_exception();
            stop = true;
        }
        const std::lock_guard hold(lock);
        --running;
        over.notify_all();
    };
    std::vector<std::thread> threads;
    for (Index k = running; k > 0; --k) {
        try {
            threads.emplace_back(run);
        } catch (...) {  // no more threads, or no memory for one: those that there are do the work, or this one alone
            const std::lock_guard hold(lock);
            running -= k;
            break;
        }
    }
    if (threads.empty()) ++running, run();
    std::unique_lock hold(lock);
    while (!over.wait_for(hold, std::chrono::milliseconds(50), [&] { return running == 0; })) {
        hold.unlock();
        try {
            if (!stop) poll_();
        } catch (...) {
            const std::lock_guard again(lock);
            if (!error) error = std::current_exception();
            stop = true;
        }
        hold.lock();
    }
    hold.unlock();
    for (std::thread &thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace deadheat
