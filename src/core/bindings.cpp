// The loops as Python sees them, as deadheat._core: one line each, room by room.
//
// Arrays come as views (casters.h), checked by their types alone: what calls a loop is the package, which has checked the
// rest. Every loop runs without the interpreter's lock, and in the plain floating-point mode.
#include "casters.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "analyses/exploit.h"
#include "distances/tiles.h"
#include "measures/area.h"
#include "measures/average_precision.h"
#include "measures/discounted_gain.h"
#include "measures/hits.h"
#include "measures/one_end.h"
#include "profiles/ties.h"
#include "support/float_mode.h"
#include "support/means.h"
#include "support/targets.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deadheat;

namespace nanobind::detail {

using Counts = Span<const std::int64_t>;
using Classes = Span<const std::int32_t>;
using Reals = Span<const double>;

template <>
struct type_caster<Groups> : fields_caster<Groups, Counts, Counts, Counts, Counts, Counts, Counts, Counts> {};
template <>
struct type_caster<Grades> : fields_caster<Grades, Matrix<const std::int64_t>, Matrix<const std::int64_t>> {};
template <class T>
struct type_caster<Discounts<T>> : fields_caster<Discounts<T>, Span<T>, Span<T>, Span<T>> {};
template <>
struct type_caster<MixedGroups> : fields_caster<MixedGroups, Counts, Classes, Classes> {};
template <>
struct type_caster<RankSum> : fields_caster<RankSum, int, Reals, Counts, Counts, Counts, Counts, Reals> {};
template <>
struct type_caster<Links> : fields_caster<Links, Counts, Classes> {};
template <>
struct type_caster<Books>
    : fields_caster<Books, Span<std::int64_t>, Span<std::int64_t>, Span<std::int32_t>, Span<std::int32_t>, Counts> {};

}  // namespace nanobind::detail

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

void bind_profiles(nb::module_ &m) {
    m.def(
        "count_mixed",
        [](Span<const std::int64_t> offsets, Span<const std::int64_t> tied, Matrix<const std::int64_t> by_grade) {
            const MixedTies found = count_mixed(offsets, tied, by_grade);
            return std::tuple(found.groups, found.queries, found.largest);
        },
        "offsets"_a, "tied"_a, "by_grade"_a, Loop());
}

void bind_measures(nb::module_ &m) {
    m.def("average_precisions", &average_precisions, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "out"_a, Loop());
    m.def("precision_variances", &precision_variances, "closer"_a, "closer_relevant"_a, "tied"_a, "tied_relevant"_a,
          "slots"_a, "out"_a, Loop());
    m.def("hits", &hits, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "factor"_a, "size"_a, "share"_a, "out"_a, Loop());
    m.def("first_hits", &first_hits, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "reciprocal"_a, "out"_a, Loop());
    m.def("inverse_penalties", &inverse_penalties, "first"_a, "last"_a, "groups"_a, "out"_a, Loop());
    m.def("extremes", &extremes, "closer"_a, "tied"_a, "tied_relevant"_a, "slots"_a, "kind"_a, "centred"_a, "shift"_a,
          "squared"_a, "out"_a, Loop());
    m.def("fill_discounts", &fill_discounts, "first"_a, "last"_a, "table"_a, Loop());
    m.def("discounted_gains", &discounted_gains, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "grades"_a, "gains"_a,
          "table"_a, "out"_a, Loop());
    m.def("ideal_gains", &ideal_gains, "relevant"_a, "gains"_a, "cutoff"_a, "table"_a, "out"_a, Loop());
    m.def("discount_spreads", &discount_spreads, "closer"_a, "tied"_a, "slots"_a, "discount"_a, "out"_a, Loop());
    m.def("areas", &areas, "first"_a, "last"_a, "groups"_a, "out"_a, Loop());
}

void bind_analyses(nb::module_ &m) {
    m.def("groups_of_samples", &groups_of_samples, "begin"_a, "end"_a, "items"_a, "starts"_a, "place"_a, "groups"_a, Loop());
    m.def("arrange", &arrange, "samples"_a, "links"_a, "place"_a, "items"_a, Loop());
    m.def("count_runs", &count_runs, "begin"_a, "end"_a, "items"_a, "mixed"_a, "out"_a, Loop());
    m.def("write_runs", &write_runs, "begin"_a, "end"_a, "items"_a, "mixed"_a, "profile"_a, "number"_a, "rows"_a, "out"_a,
          Loop());
    m.def("preferences", &preferences, "begin"_a, "end"_a, "items"_a, "mixed"_a, "sum"_a, "out"_a, Loop());
    m.def("find_hits", &find_hits, "begin"_a, "end"_a, "items"_a, "mixed"_a, "hits"_a, "bases"_a, Loop());
    m.def("improve", &improve, "books"_a, "mixed"_a, "links"_a, "sum"_a, "turns"_a, "runs"_a, "least"_a, Loop());
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of deadheat; what calls them documents them.";
    bind_support(m);
    bind_distances(m);
    bind_profiles(m);
    bind_measures(m);
    bind_analyses(m);
}
