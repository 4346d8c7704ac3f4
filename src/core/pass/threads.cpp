#include "pass/threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <system_error>
#include <thread>
#include <utility>

#include "pass/exact_pairs.h"
#include "support/float_mode.h"

namespace deadheat {

// The record ---------------------------------------------------------------------------------------------------------

namespace record {

namespace {

std::atomic<bool> on{false};
std::atomic<int> most_threads{0};
std::atomic<std::int64_t> n_call{0};
std::mutex recording;
std::vector<Part> parts;
thread_local Part now;
thread_local double since;

double processor_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
#endif
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The seconds since the last call.
double passed() {
    const double before = since;
    return (since = processor_seconds()) - before;
}

void begin_piece(std::int64_t call, Index piece, Index after) {
    now = {call, piece, after, 0, 0, 0};
    passed();
}

void end_part(const void *lock, double held) {
    now.lock = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(lock)), now.held = held;
    const std::lock_guard hold(recording);
    parts.push_back(now);
}

}  // namespace

void start(int threads) {
    const std::lock_guard hold(recording);
    parts.clear();
    most_threads = threads, on = true;
}

std::vector<Part> stop() {
    const std::lock_guard hold(recording);
    on = false;
    return std::exchange(parts, {});
}

}  // namespace record

Hold::Hold(std::mutex &lock) : hold_(lock), lock_(&lock) {
    if (record::on) record::now.free = record::passed();
}

Hold::~Hold() {
    if (record::on) record::end_part(lock_, record::passed());
}

// Threads ------------------------------------------------------------------------------------------------------------

namespace {

/// The pieces that have ended, for those that wait for them.
class Ended {
public:
    Ended(Index n, const std::atomic<bool> &stop) : ended_(at(n)), stop_(stop) {}

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
    const std::atomic<bool> &stop_;
};

}  // namespace

void Threads::each(Index n, const std::function<void(Index)> &work, const std::function<Index(Index)> &after) {
    std::atomic<Index> next{0};
    std::mutex lock;
    std::condition_variable over;
    std::exception_ptr error;
    Ended ended(n, stop);
    Index running = std::min<Index>(record::on ? std::min<int>(n_, record::most_threads) : n_, n);
    const std::int64_t call = record::n_call++;
    const auto piece = [&](Index i) {
        const Index below = after ? after(i) : 0;
        if (below > 0) ended.wait(below);
        if (record::on) record::begin_piece(call, i, below);
        work(i);
        if (record::on) record::now.free = record::passed(), record::end_part(nullptr, 0);
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
        } catch (const std::system_error &) {  // no more of them are to be had: those that there are do the work
            const std::lock_guard hold(lock);
            running -= k;
            if (threads.empty()) throw;
            break;
        }
    }
    std::unique_lock hold(lock);
    while (!over.wait_for(hold, std::chrono::milliseconds(50), [&] { return running == 0; })) {
        hold.unlock();
        try {
            if (!stop && !record::on) poll_();  // which takes no time of the others
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
