// Runs every test, by itself and then all of them in several threads at once; under a sanitizer only what it can see.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "check.h"
#include "support/targets.h"

namespace deadheat::tests {

namespace {

#if defined(__SANITIZE_THREAD__)  // sees nothing where there is one thread
constexpr bool ALONE = false;
constexpr int THREADS = 2;
#elif defined(__SANITIZE_ADDRESS__) || defined(DEADHEAT_ONE_THREAD)
constexpr bool ALONE = true;
constexpr int THREADS = 0;
#else
constexpr bool ALONE = true;
constexpr int THREADS = 4;
#endif

struct Named {
    const char *name;
    Test test;
};

std::vector<Named> &all() {
    static std::vector<Named> tests;
    return tests;
}

std::atomic<int> failures{0};

}  // namespace

bool add(const char *name, Test test) {
    all().push_back({name, test});
    return true;
}

void fail(const char *file, int line, const std::string &what) {
    if (++failures <= 20) std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

int run() {
    for (const Named &test : all()) {
        if (!ALONE) break;
        const int before = failures;
        test.test();
        if (failures != before) std::fprintf(stderr, "%s failed\n", test.name);
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; ++t)
        threads.emplace_back([] {
            for (const Named &test : all()) test.test();
        });
    for (std::thread &thread : threads) thread.join();
    std::printf("%zu tests with %s: %d checks failed\n", all().size(), instruction_set().c_str(), failures.load());
    return failures == 0 && !all().empty() ? 0 : 1;
}

}  // namespace deadheat::tests

int main() {
    try {
        deadheat::target();
    } catch (const std::invalid_argument &lacking) {
        std::printf("not run: %s\n", lacking.what());
        return 0;
    }
    return deadheat::tests::run();
}
