// Choice of this process among the instruction sets that the vector loops are compiled for.
//
// The loops of a stage that gain from wide vectors lie in NAME.vector.cpp, which is compiled once for each instruction set,
// in a namespace of that name, and fills a table of functions there; NAME.h declares the tables and what calls the chosen
// one. The linker keeps the first of equal inline functions, so the baseline comes first, and loops call little that is not
// their own.
#pragma once

#include <string>
#include <tuple>

namespace deadheat {

enum class Target { baseline, avx2, avx512 };

/// The best that the processor has, or what DEADHEAT_INSTRUCTION_SET names if it has that.
Target target();

/// Its name.
std::string instruction_set();

/// The tables of loops over float32 and over float64 numbers.
template <template <class> class Loops>
using BothTypes = std::tuple<Loops<float>, Loops<double>>;

}  // namespace deadheat

#if defined(DEADHEAT_X86)
/// Declares a table of functions for each instruction set, and a function that returns the one to be used.
#define DEADHEAT_DECLARE_LOOPS(Table, name) \
    namespace baseline {                    \
    extern const Table name;                \
    }                                       \
    namespace avx2 {                        \
    extern const Table name;                \
    }                                       \
    namespace avx512 {                      \
    extern const Table name;                \
    }                                       \
    inline const Table &name() {            \
        switch (target()) {                 \
            case Target::avx512:            \
                return avx512::name;        \
            case Target::avx2:              \
                return avx2::name;          \
            default:                        \
                return baseline::name;      \
        }                                   \
    }
#else
#define DEADHEAT_DECLARE_LOOPS(Table, name) \
    namespace baseline {                    \
    extern const Table name;                \
    }                                       \
    inline const Table &name() { return baseline::name; }
#endif
