// The loops as Python sees them, as deadheat._core: one line each, room by room.
//
// Arrays come as views (casters.h), checked by their types alone: what calls a loop is the package, which has checked the
// rest. Every loop runs without the interpreter's lock, and in the plain floating-point mode.
#include "casters.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "distances/tiles.h"
#include "exact/roots.h"
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

void bind_distances(nb::module_ &m) {
    m.def("minus_absolute_differences", tile_loops().cityblock_single, "left"_a, "right"_a, "out"_a, Loop());
    m.def("minus_absolute_differences", tile_loops().cityblock_double, "left"_a, "right"_a, "out"_a, Loop());
    m.def("minus_differing_bits", tile_loops().hamming, "left"_a, "right"_a, "out"_a, Loop());
}

nb::bytes bytes_of(const Wide &number) { return nb::bytes(number.limbs, sizeof(Limb) * number.length); }

template <class T>
void bind_rows(nb::module_ &m, nb::class_<ExactRows> &rows) {
    rows.def(nb::init<Matrix<const T>, bool>(), "rows"_a, "squares"_a, Loop());
    rows.def(
        "__init__",
        [](ExactRows *self, Matrix<const T> values, int low, int high) { new (self) ExactRows(values, {low, high}); },
        "rows"_a, "low"_a, "high"_a, Loop());
    m.def(
        "bit_range",
        [](Matrix<const T> values) {
            const BitRange range = bit_range(values);
            return std::tuple(range.low, range.high);
        },
        "rows"_a, Loop());
}

void bind_exact(nb::module_ &m) {
    nb::enum_<RootKind>(m, "RootKind")
        .value("linear", RootKind::linear)
        .value("root", RootKind::root)
        .value("ratio", RootKind::ratio);
    nb::class_<ExactRows> rows(m, "ExactRows");
    bind_rows<double>(m, rows);
    bind_rows<float>(m, rows);
    rows.def("__len__", &ExactRows::size);
    nb::class_<Roots>(m, "Roots")
        .def(nb::init<RootKind>(), "kind"_a)
        .def("__len__", &Roots::size)
        .def_prop_ro("kind", &Roots::kind)
        .def("add_products", &Roots::add_products, "left"_a, "right"_a, "rows"_a, "others"_a, Loop())
        .def("add_minus_distances", &Roots::add_minus_distances, "left"_a, "right"_a, "rows"_a, "others"_a, Loop())
        .def("add_minus_differences", &Roots::add_minus_differences, "left"_a, "right"_a, "rows"_a, "others"_a, Loop())
        .def("add_values", &Roots::add_values, "values"_a, Loop())
        .def("add", &Roots::add, "others"_a, Loop())
        .def("compare", &Roots::compare, "mine"_a, "others"_a, "yours"_a, "out"_a, Loop())
        .def("compare_shifted", &Roots::compare_shifted, "mine"_a, "others"_a, "yours"_a, "shift"_a, "out"_a, Loop())
        .def("compare_values", &Roots::compare_values, "mine"_a, "values"_a, "sign"_a, "shift"_a, "out"_a, Loop())
        .def("sort", &Roots::sort, "begins"_a, "ends"_a, "order"_a, "greater"_a, Loop())
        .def("square", [](const Roots &roots, Index i) {
            Wide numerator, denominator;
            const int sign = roots.square(i, numerator, denominator);
            return nb::make_tuple(sign, bytes_of(numerator), bytes_of(denominator),
                                  numerator.exponent - denominator.exponent);
        });
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of deadheat; what calls them documents them.";
    bind_support(m);
    bind_distances(m);
    bind_exact(m);
}
