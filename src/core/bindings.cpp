// The loops as Python sees them, as deadheat._core: one line each, room by room.
//
// Arrays come as views (casters.h), checked by their types alone: what calls a loop is the package, which has checked the
// rest. Every loop runs without the interpreter's lock, and in the plain floating-point mode.
#include "casters.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "distances/products.h"
#include "distances/tiles.h"
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

template <class T>
void bind_products(nb::module_ &m, const char *panels) {
    nb::class_<Panels<T>>(m, panels).def(
        "__init__", [](Panels<T> *self, Matrix<const T> rows) { new (self) Panels<T>(packed(rows)); }, "rows"_a, Loop());
    m.def("product", &product<T>, "left"_a, "right"_a, "chunk"_a, "out"_a, Loop());
    m.def("product", &product_of_rows<T>, "left"_a, "right"_a, "chunk"_a, "out"_a, Loop());
}

void bind_distances(nb::module_ &m) {
    m.def("product_roundings", &product_roundings, "dim"_a, "chunk"_a);
    bind_products<float>(m, "Panels32");
    bind_products<double>(m, "Panels64");
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
