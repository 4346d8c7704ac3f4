#include "support/targets.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#if defined(DEADHEAT_X86)
#include <cpuid.h>
#endif

namespace deadheat {

namespace {

constexpr const char *NAMES[] = {"baseline", "avx2", "avx512"};

#if defined(DEADHEAT_X86)
/// The sets of which processor and system give all that *.vector.cpp is compiled with. The processor itself is asked, since
/// the library that comes with a compiler may not know (zig's says no to everything).
struct Processor {
    bool avx2 = false;
    bool avx512 = false;

    Processor() {
        const auto all = [](unsigned word, std::initializer_list<int> bits) {
            return std::all_of(bits.begin(), bits.end(), [word](int bit) { return (word >> bit & 1) != 0; });
        };
        unsigned a, b, c, d, saved, high;
        // FMA (12), POPCNT (23), XSAVE by the system (27), AVX (28)
        if (!__get_cpuid(1, &a, &b, &c, &d) || !all(c, {12, 23, 27, 28})) return;
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
        if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
        avx2 = all(saved, {1, 2}) && all(b, {5, 8});                         // AVX2, BMI2
        avx512 = avx2 && all(saved, {5, 6, 7}) && all(b, {16, 17, 30, 31});  // F, DQ, BW, VL
    }
};
#endif

bool has(Target target) {
#if defined(DEADHEAT_X86)
    static const Processor processor;
    if (target == Target::avx512) return processor.avx512;
    if (target == Target::avx2) return processor.avx2;
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
