#include "support/memory.h"

#ifndef _WIN32
#include <pthread.h>
#endif

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

namespace deadheat {

namespace {

constexpr std::align_val_t LINE{64};
constexpr std::size_t LARGE = 1 << 16;  // bytes from which on memory is kept

/// Bytes rounded up to one of eight sizes between two powers of two, so that tables of about one size take the same memory.
std::size_t size_of(std::size_t bytes) {
    const std::size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
}

struct Kept {
    std::mutex lock;
    std::multimap<std::size_t, void *> idle;
    std::size_t of_idle = 0, in_use = 0, most = 0;  // bytes

    void free_until(std::size_t left) {
        while (of_idle > left) {
            const auto largest = std::prev(idle.end());
            ::operator delete(largest->second, LINE);
            of_idle -= largest->first;
            idle.erase(largest);
        }
    }
};

Kept &kept() {
    static Kept all;
    return all;
}

#ifndef _WIN32
/// A process that is forked while another thread holds the lock could never take it: so the thread that forks takes it.
[[maybe_unused]] const int forks =
    pthread_atfork([] { kept().lock.lock(); }, [] { kept().lock.unlock(); }, [] { kept().lock.unlock(); });
#endif

}  // namespace

void *take_memory(std::size_t bytes) {
    if (bytes < LARGE) return ::operator new(bytes, LINE);
    const std::size_t size = size_of(bytes);
    Kept &all = kept();
    {
        const std::lock_guard hold(all.lock);
        all.in_use += size;
        if (const auto result = all.idle.find(size); result != all.idle.end()) {
            void *memory = result->second;
            all.idle.erase(result);
            all.of_idle -= size;
            return memory;
        }
        all.most = std::max(all.most, all.in_use);
        all.free_until(all.most - all.in_use);
    }
    try {
        return ::operator new(size, LINE);
    } catch (...) {
        const std::lock_guard hold(all.lock);
        all.in_use -= size;
        throw;
    }
}

void give_memory_back(void *memory, std::size_t bytes) noexcept {
    if (bytes < LARGE) return ::operator delete(memory, LINE);
    Kept &all = kept();
    const std::lock_guard hold(all.lock);
    all.in_use -= size_of(bytes);
    try {
        all.idle.emplace(size_of(bytes), memory);
        all.of_idle += size_of(bytes);
    } catch (...) {  // no memory even for that
        ::operator delete(memory, LINE);
    }
}

FreeKeptMemory::~FreeKeptMemory() {
    Kept &all = kept();
    const std::lock_guard hold(all.lock);
    all.free_until(0);
    all.most = all.in_use;
}

}  // namespace deadheat
