// The floating-point mode in which everything here is computed: rounding to nearest, and nothing taken for zero.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace deadheat {

/// While it lives, its thread rounds to nearest and keeps subnormal numbers; then the mode is what it was.
class FloatMode {
public:
    FloatMode() : before_(read()) { write(plain(before_)); }
    ~FloatMode() { write(before_); }
    FloatMode(const FloatMode &) = delete;
    FloatMode &operator=(const FloatMode &) = delete;

    using Register = std::uint64_t;

#if defined(__x86_64__)
    static Register read() { return _mm_getcsr(); }
    static void write(Register mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
    /// No flushing to zero (15, 6), rounding to nearest (14, 13), every exception masked (12 to 7).
    static Register plain(Register mode) { return (mode & ~Register{0xE040}) | 0x1F80; }
#elif defined(__aarch64__)
    static Register read() {
        Register mode;
        __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void write(Register mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
    /// No flushing to zero (24, 19), rounding to nearest (23, 22).
    static Register plain(Register mode) { return mode & ~Register{0x1C80000}; }
#else
    static Register read() { return 0; }
    static void write(Register) {}
    static Register plain(Register mode) { return mode; }
#endif

private:
    Register before_;
};

}  // namespace deadheat
