// The instruction set that is chosen, compared with what GCC's library says of the processor.
#include "support/targets.h"

#include <cstdlib>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

#if defined(DEADHEAT_X86) && !defined(__clang__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"); }

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

TEST(the_best_instruction_set_is_chosen) {
    if (const char *wanted = std::getenv("DEADHEAT_INSTRUCTION_SET"); wanted != nullptr && *wanted != '\0')
        CHECK(instruction_set() == wanted);
    else
        CHECK(instruction_set() == (has_avx512() ? "avx512" : has_avx2() ? "avx2" : "baseline"));
}
#endif

}  // namespace
