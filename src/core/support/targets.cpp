#include "support/targets.h"

#include <cstdlib>
#include <stdexcept>

namespace deadheat {

namespace {

constexpr const char *NAMES[] = {"baseline", "avx2", "avx512"};

bool has(Target target) {
#if defined(DEADHEAT_X86)
    __builtin_cpu_init();
    if (target == Target::avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && has(Target::avx2);
    if (target == Target::avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
    return target == Target::baseline;
}

Target best() {
    for (Target target : {Target::avx512, Target::avx2})
        if (has(target)) return target;
    return Target::baseline;
}

Target chosen() {
    const char *wanted = std::getenv("DEADHEAT_INSTRUCTION_SET");
    if (wanted == nullptr || *wanted == '\0') return best();
    for (Target target : {Target::baseline, Target::avx2, Target::avx512})
        if (std::string(wanted) == NAMES[static_cast<int>(target)] && has(target)) return target;
    throw std::invalid_argument(std::string("DEADHEAT_INSTRUCTION_SET must be baseline, avx2 or avx512, and one that the "
                                            "processor has, but is ") +
                                wanted);
}

}  // namespace

Target target() {
    static const Target once = chosen();
    return once;
}

std::string instruction_set() { return NAMES[static_cast<int>(target())]; }

}  // namespace deadheat
