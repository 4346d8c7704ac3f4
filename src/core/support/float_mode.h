// The floating-point mode in which everything here is computed: rounding to nearest, and nothing taken for zero, but in
// products of matrices.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace deadheat {

/// While it lives, its thread rounds to nearest and keeps subnormal numbers; then the mode is what it was.
class FloatMode {
public:
    FloatMode() : FloatMode(plain(read())) {}
    ~FloatMode() { write(before_); }
    FloatMode(const FloatMode &) = delete;
    FloatMode &operator=(const FloatMode &) = delete;

    using Register = std::uint64_t;

    explicit FloatMode(Register mode) : before_(read()) { write(mode); }

#if defined(__x86_64__)
    static Register read() { return _mm_getcsr(); }
    static void write(Register mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
    /// No flushing to zero (15, 6), rounding to nearest (14, 13), every exception masked (12 to 7).
    static Register plain(Register mode) { return (mode & ~Register{0xE040}) | 0x1F80; }
    static Register flushing(Register mode) { return plain(mode) | 0x8040; }
    static Register flushing_results(Register mode) { return plain(mode) | 0x8000; }
#elif defined(__aarch64__)
    static Register read() {
        Register mode;
        __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void write(Register mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
    /// No flushing to zero (24, 19), rounding to nearest (23, 22).
    static Register plain(Register mode) { return mode & ~Register{0x1C80000}; }
    static Register flushing(Register mode) { return plain(mode) | 0x1000000; }
    static Register flushing_results(Register mode) { return plain(mode); }  // inputs are flushed with results here
#else
    static Register read() { return 0; }
    static void write(Register) {}
    static Register plain(Register mode) { return mode; }
    static Register flushing(Register mode) { return mode; }
    static Register flushing_results(Register mode) { return mode; }
#endif

private:
    Register before_;
};

/// The same while subnormal numbers count as zero, in and out: some processors take a hundred times as long for them.
/// For what has a bound that allows for it.
class FlushingMode : FloatMode {
public:
    FlushingMode() : FloatMode(flushing(read())) {}
};

/// The same for results alone: what comes in subnormal is taken as it is.
class FlushingResultsMode : FloatMode {
public:
    FlushingResultsMode() : FloatMode(flushing_results(read())) {}
};

}  // namespace deadheat
