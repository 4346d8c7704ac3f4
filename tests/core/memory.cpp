// Memory that is kept for reuse: a process that is forked while other threads take some can take some, too.
// Not with the address sanitizer: the locks of its own allocator stay held in the child.
#include "support/memory.h"

#if !defined(_WIN32) && !defined(__SANITIZE_ADDRESS__)
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

constexpr std::size_t LARGE = 1 << 16;

void take_and_give() { give_memory_back(take_memory(LARGE), LARGE); }

TEST(memory_after_a_fork) {
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) take_and_give();
    });
    for (int round = 0; round < 20; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(5);  // ends the process with a signal
            take_and_give();
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    stop = true;
    busy.join();
}

}  // namespace
#endif
