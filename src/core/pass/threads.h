// Threads that work through a list of pieces.
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

}  // namespace deadheat
