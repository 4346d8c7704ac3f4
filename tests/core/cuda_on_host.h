// The parts of CUDA that count.cu uses, as plain C++: a block of threads is threads of this process, one block after the
// other.
//
// Include this, and then the kernel, at global scope. One launch runs at a time.
#pragma once

#include <atomic>
#include <barrier>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define __global__
#define __shared__

struct OneDimension {
    int x;
};
inline thread_local OneDimension threadIdx, blockIdx, blockDim;
inline std::unique_ptr<std::barrier<>> block_barrier;
extern double edge[];

inline void __syncthreads() { block_barrier->arrive_and_wait(); }
inline int atomicAdd(int *number, int by) { return std::atomic_ref<int>(*number).fetch_add(by); }

/// Run a kernel with so many blocks of so many threads.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, int n_block, int n_thread, Arguments... arguments) {
    static std::mutex turn;
    const std::lock_guard hold(turn);
    block_barrier = std::make_unique<std::barrier<>>(n_thread);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < n_thread; ++thread)
        threads.emplace_back([=] {
            threadIdx = {thread}, blockDim = {n_thread};
            for (int block = 0; block < n_block; ++block) {
                blockIdx = {block};
                kernel(arguments...);
                __syncthreads();  // the next block has the same shared memory
            }
        });
    for (std::thread &thread : threads) thread.join();
}

double edge[(48 << 10) / sizeof(double)];  // the shared memory
