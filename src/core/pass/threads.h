// Threads that work through a list of pieces, and a record of what each piece took.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "support/views.h"

namespace deadheat {

/// Threads for one call. The caller waits, and is asked every now and then whether to go on; whatever is thrown ends all.
class Threads {
public:
    Threads(int n, std::function<void()> poll) : n_(n), poll_(std::move(poll)) {}

    /// Do some work for 0, 1, ..., n − 1, in this order as far as it begins; a piece not before all pieces below `after` of
    /// it have ended, of which it is none.
    void each(Index n, const std::function<void(Index)> &work, const std::function<Index(Index)> &after = {});
    int n() const { return n_; }
    std::atomic<bool> stop{false};

private:
    int n_;
    std::function<void()> poll_;
};

/// A mutex held for a part of a piece of work, which the record says.
class Hold {
public:
    explicit Hold(std::mutex &lock);
    ~Hold();
    Hold(const Hold &) = delete;
    Hold &operator=(const Hold &) = delete;

private:
    std::lock_guard<std::mutex> hold_;
    const void *lock_;
};

/// The record of pieces, for `python -m benchmarks.threads --simulate`: kept while it is on, by all passes of the process.
namespace record {

/// A part of a piece: processor seconds without a lock and then, if `lock` is not null, with it. The last part of a piece
/// has none.
struct Part {
    std::int64_t call, piece, after, lock;
    double free, held;
};

/// From now on no call has more threads than so many, however many its pieces are made for.
void start(int threads);
std::vector<Part> stop();

}  // namespace record

}  // namespace deadheat
