// The loops as Python sees them, as deadheat._core: one line each, room by room.
//
// Arrays come as views (casters.h), checked by their types alone: what calls a loop is the package, which has checked the
// rest. Every loop runs without the interpreter's lock, and in the plain floating-point mode.
#include "casters.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "distances/rows.h"
#include "distances/tiles.h"
#include "support/compensated.h"
#include "support/float_mode.h"
#include "support/means.h"
#include "support/targets.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deadheat;

namespace {

using Loop = nb::call_guard<nb::gil_scoped_release, FloatMode>;

void bind_support(nb::module_ &m) {
    m.def("instruction_set", &instruction_set);
    m.def(
        "digits",
        [](Span<const double> values) {
            const Digits sums = digits(values);
            return std::tuple(sums.count, sums.exact, sums.first, sums.second, sums.third);
        },
        "values"_a, Loop());
}

using Places = Span<const std::int64_t>;

template <class T>
void bind_rows(nb::module_ &m) {
    m.def(
        "hash_rows",
        [](Matrix<const T> raw, bool directions) {
            Fresh<std::uint64_t> out({raw.rows});
            hash_rows(raw, directions, out);
            return out;
        },
        "raw"_a, "directions"_a, Loop());
    m.def(
        "same_rows",
        [](Matrix<const T> raw, Matrix<const T> other, bool directions) {
            Fresh<bool> out({raw.rows});
            same_rows(raw, other, directions, out);
            return out;
        },
        "raw"_a, "other"_a, "directions"_a, Loop());
    m.def(
        "row_sums",
        [](Matrix<const T> raw, double scale) {
            Fresh<double, 2> out({raw.rows, 2});
            row_sums(raw, scale, out);
            return out;
        },
        "raw"_a, "scale"_a, Loop());
    m.def("integer_units", &integer_units<T>, "raw"_a, "units"_a, "limit"_a, Loop());
}

/// Loops over rows of two types.
template <class A, class B>
void bind_row_pairs(nb::module_ &m) {
    m.def(
        "take_rows",
        [](Matrix<const A> raw, Places index, Span<const double> factor, bool divide, Matrix<B> out) {
            take_rows(ScaledRows<A>{raw, factor, divide}, index, out);
        },
        "raw"_a, "index"_a, "factor"_a, "divide"_a, "out"_a, Loop());
    m.def(
        "pair_dots",
        [](Matrix<const A> left, Span<const double> left_factor, bool left_divides, Places rows, Matrix<const B> right,
           Span<const double> right_factor, bool right_divides, Places columns) {
            Fresh<double> out({static_cast<Index>(rows.size())});
            pair_dots(ScaledRows<A>{left, left_factor, left_divides}, rows,
                      ScaledRows<B>{right, right_factor, right_divides}, columns, out);
            return out;
        },
        "left"_a, "left_factor"_a, "left_divides"_a, "rows"_a, "right"_a, "right_factor"_a, "right_divides"_a, "columns"_a,
        Loop());
    m.def(
        "compensated_dots",
        [](Matrix<const A> left, Places rows, Matrix<const B> right, Places columns) {
            Fresh<double> out({static_cast<Index>(rows.size())});
            compensated_dots(left, rows, right, columns, out);
            return out;
        },
        "left"_a, "rows"_a, "right"_a, "columns"_a, Loop());
}

void bind_distances(nb::module_ &m) {
    bind_rows<float>(m);
    bind_rows<double>(m);
    bind_row_pairs<float, float>(m);
    bind_row_pairs<float, double>(m);
    bind_row_pairs<double, float>(m);
    bind_row_pairs<double, double>(m);
    m.def("signed_squares", tile_loops().signed_squares_single, "products"_a, "squares"_a, "out"_a, Loop());
    m.def("signed_squares", tile_loops().signed_squares_double, "products"_a, "squares"_a, "out"_a, Loop());
    m.def("minus_absolute_differences", tile_loops().cityblock_single, "left"_a, "right"_a, "out"_a, Loop());
    m.def("minus_absolute_differences", tile_loops().cityblock_double, "left"_a, "right"_a, "out"_a, Loop());
    m.def("minus_differing_bits", tile_loops().hamming, "left"_a, "right"_a, "out"_a, Loop());
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of deadheat; what calls them documents them.";
    bind_support(m);
    bind_distances(m);
}
