// The loops as Python sees them, as deadheat._core: one line each, package by package.
//
// Arrays come as views (casters.h), checked by their types alone: what calls a loop is the package, which has checked the
// rest. Every loop runs without the interpreter's lock, and in the plain floating-point mode.
#include "casters.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "analyses/collisions.h"
#include "analyses/exploit.h"
#include "analyses/precision_recall.h"
#include "counting/columns.h"
#include "counting/groups.h"
#include "counting/histograms.h"
#include "counting/scores.h"
#include "distances/products.h"
#include "distances/rows.h"
#include "exact/roots.h"
#include "inputs/lines.h"
#include "inputs/stored_rows.h"
#include "measures/measures.h"
#include "pass/threads.h"
#include "support/float_mode.h"
#include "support/means.h"
#include "support/targets.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deadheat;

void bind_pass(nb::module_ &m);

namespace nanobind::detail {

using Classes = Span<const std::int32_t>;
using Reals = Span<const double>;

template <>
struct type_caster<Profile> : fields_caster<Profile, Int64s, Int64s, Int64s, Int64s, Int64s, Int64s, Int64s> {};
template <>
struct type_caster<LineForm> : fields_caster<LineForm, Index, Index, bool, bool> {};
template <>
struct type_caster<JsonForm> : fields_caster<JsonForm, std::vector<std::string>, std::vector<int>, bool> {};
template <>
struct type_caster<CellForm> : fields_caster<CellForm, int, std::vector<int>, bool> {};
template <>
struct type_caster<Grades> : fields_caster<Grades, Matrix<const std::int64_t>, Matrix<const std::int64_t>, Reals> {};
template <>
struct type_caster<QueryRange> : fields_caster<QueryRange, Index, Index> {};
template <>
struct type_caster<HitRatio> : fields_caster<HitRatio, double, double, double> {};
template <>
struct type_caster<SlottedGroups> : fields_caster<SlottedGroups, Int64s, Int64s, Int64s, Int64s> {};
template <>
struct type_caster<SlotFunction> : fields_caster<SlotFunction, int, bool, bool> {};
template <class T>
struct type_caster<Discounts<T>> : fields_caster<Discounts<T>, Span<T>, Span<T>, Span<T>> {};
template <>
struct type_caster<KeyedGroups>
    : fields_caster<KeyedGroups, Span<std::int64_t>, Span<std::int64_t>, Matrix<std::int64_t>, Matrix<std::int64_t>> {};
template <>
struct type_caster<Blocks> : fields_caster<Blocks, Int64s, Int64s, Int64s, Classes> {};
template <>
struct type_caster<RankedGroups> : fields_caster<RankedGroups, Int64s, Int64s, Int64s> {};
template <>
struct type_caster<CollisionMarks> : fields_caster<CollisionMarks, Matrix<std::int8_t>, Matrix<bool>, Matrix<std::int32_t>> {
};
template <>
struct type_caster<RankSum> : fields_caster<RankSum, int, Reals, Int64s, Int64s, Int64s, Int64s, Reals> {};

}  // namespace nanobind::detail

namespace {

using Loop = nb::call_guard<nb::gil_scoped_release, FloatMode>;

void bind_support(nb::module_ &m) {
    m.def("instruction_set", &instruction_set);
    m.def(  // the plain mode, or another; returns what it was
        "set_float_mode",
        [](std::optional<FloatMode::Register> mode) {
            const FloatMode::Register before = FloatMode::read();
            FloatMode::write(mode.value_or(FloatMode::plain(0)));
            return before;
        },
        "mode"_a = nb::none());
    m.def(
        "digits",
        [](Span<const double> values) {
            const Digits sums = digits(values);
            return std::tuple(sums.count, sums.exact, sums.whole, sums.first, sums.second, sums.third);
        },
        "values"_a, Loop());
}

constexpr Index SCANNED = 4 << 20;  // bytes of rows that are worth a thread

/// Do some work for runs of rows, given the number of the first, in threads.
template <class T, class Work>
void each_part(Matrix<const T> rows, int threads, const Work &work) {
    const Index bytes = rows.rows * rows.columns * static_cast<Index>(sizeof(T));
    const Index n = std::min<Index>(threads, bytes / SCANNED), step = n > 1 ? (rows.rows + n - 1) / n : rows.rows;
    if (n < 2) return work(rows, 0);
    Threads(threads, [] {}).each((rows.rows + step - 1) / step, [&](Index k) {
        work({rows.row(k * step), std::min(step, rows.rows - k * step), rows.columns, rows.stride}, k * step);
    });
}

template <class T>
void bind_rows(nb::module_ &m) {
    m.def(
        "hash_rows",
        [](Matrix<const T> raw, bool directions, int threads) {
            Fresh<std::uint64_t> out({raw.rows});
            const Span<std::uint64_t> all = out;
            each_part(raw, threads, [&](Matrix<const T> rows, Index first) {
                hash_rows(rows, directions, all.subspan(first, rows.rows));
            });
            return out;
        },
        "raw"_a, "directions"_a, "threads"_a = 1, Loop());
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
        [](Matrix<const T> raw, double scale, int threads) {
            Fresh<double, 2> out({raw.rows, 2});
            const Matrix<double> all = out;
            each_part(raw, threads,
                      [&](Matrix<const T> rows, Index first) { row_sums(rows, scale, {all.row(first), rows.rows, 2, 2}); });
            return out;
        },
        "raw"_a, "scale"_a, "threads"_a = 1, Loop());
    m.def(
        "row_extremes",
        [](Matrix<const T> raw, Matrix<T> out, int threads) {
            each_part(raw, threads, [&](Matrix<const T> rows, Index first) {
                row_extremes<T>(rows, {out.row(first), rows.rows, 3, out.stride});
            });
        },
        "raw"_a, "out"_a, "threads"_a = 1, Loop());
    m.def("integer_units", &integer_units<T>, "raw"_a, "units"_a, "limit"_a, Loop());
}

/// Loops over rows of two types.
template <class A, class B>
void bind_row_pairs(nb::module_ &m) {
    m.def(
        "take_rows",
        [](Matrix<const A> raw, Int64s index, Span<const double> factor, bool divide, Matrix<B> out) {
            take_rows(ScaledRows<A>{raw, factor, divide}, index, out);
        },
        "raw"_a, "index"_a, "factor"_a, "divide"_a, "out"_a, Loop());
}

void bind_distances(nb::module_ &m) {
    m.attr("LEVELS") = LEVELS;
    m.def("level_masks", &level_masks<float>, "raw"_a, "masks"_a, "values"_a, Loop());
    m.def("level_masks", &level_masks<double>, "raw"_a, "masks"_a, "values"_a, Loop());
    m.def("tangents", &tangents<float>, "raw"_a, "centre"_a, "out"_a, "size"_a, Loop());
    m.def("tangents", &tangents<double>, "raw"_a, "centre"_a, "out"_a, "size"_a, Loop());
    bind_rows<float>(m);
    bind_rows<double>(m);
    bind_row_pairs<float, float>(m);
    bind_row_pairs<float, double>(m);
    bind_row_pairs<double, float>(m);
    bind_row_pairs<double, double>(m);
    m.def(
        "compensated_dots",
        [](Matrix<const double> left, Matrix<const double> right) {
            Fresh<double> out({left.rows});
            compensated_dots(left, right, out);
            return out;
        },
        "left"_a, "right"_a, Loop());
    m.def("product_roundings", &product_roundings, "dim"_a, "chunk"_a);
}

void bind_inputs(nb::module_ &m) {
    m.def("read_rows", &read_rows, "file"_a, "begin"_a, "rows"_a, "places"_a, "out"_a, Loop());
    m.def("find_json", &find_json, "text"_a, "form"_a, "places"_a, "numbers"_a, "firsts"_a, Loop());
    m.def("find_cells", &find_cells, "text"_a, "form"_a, "places"_a, "numbers"_a, "firsts"_a, Loop());
    m.def("find_fields", &find_fields, "text"_a, "form"_a, "places"_a, "numbers"_a, "firsts"_a, Loop());
}

void bind_measures(nb::module_ &m) {
    m.def("average_precisions", &average_precisions, "queries"_a, "groups"_a, "cutoff"_a, "out"_a, Loop());
    m.def("precision_variances", &precision_variances, "closer"_a, "closer_relevant"_a, "tied"_a, "tied_relevant"_a,
          "slots"_a, "out"_a, Loop());
    m.def("hits", &hits, "queries"_a, "groups"_a, "cutoff"_a, "ratio"_a, "out"_a, Loop());
    m.def("first_hits", &first_hits, "queries"_a, "groups"_a, "cutoff"_a, "reciprocal"_a, "out"_a, Loop());
    m.def("inverse_penalties", &inverse_penalties, "queries"_a, "groups"_a, "out"_a, Loop());
    m.def("slot_expectations", first_last_hit_loops().slot_expectations, "groups"_a, "function"_a, "shift"_a, "out"_a,
          Loop());
    m.def("reciprocal_moments", &reciprocal_moments, "closer"_a, "size"_a, "slots"_a, "mean"_a, "variance"_a, Loop());
    m.def("fill_discounts", &fill_discounts, "first"_a, "last"_a, "table"_a, Loop());
    m.def("discounted_gains", &discounted_gains, "queries"_a, "groups"_a, "cutoff"_a, "grades"_a, "table"_a, "out"_a,
          Loop());
    m.def("ideal_gains", &ideal_gains, "relevant"_a, "gains"_a, "cutoff"_a, "table"_a, "out"_a, Loop());
    m.def("discount_deviations", &discount_deviations, "closer"_a, "tied"_a, "slots"_a, "discount"_a, "out"_a, Loop());
    m.def("expected_reciprocal_ranks", &expected_reciprocal_ranks, "queries"_a, "groups"_a, "cutoff"_a, "by_grade"_a,
          "chances"_a, "out"_a, Loop());
    m.def("areas", &areas, "queries"_a, "groups"_a, "out"_a, Loop());
}

void bind_analyses(nb::module_ &m) {
    m.def("mark_collisions", &mark_collisions, "all"_a, "relevant"_a, "n_ranked"_a, "depth"_a, "marks"_a, "counts"_a,
          Loop());
    m.def("expected_reciprocals", precision_loops().expected_reciprocals, "closer"_a, "tied"_a, "tied_relevant"_a,
          "number"_a, "out"_a, Loop());
    nb::class_<MixedGroups>(m, "MixedGroups")
        .def(nb::init<Span<const std::int32_t>, Int64s, ItemLists, Index>(), "numbers"_a, "first"_a, "items_of_column"_a,
             "n_tile"_a, nb::keep_alive<1, 4>())
        .def("set", &MixedGroups::set, "tile"_a, "queries"_a, "columns"_a, "groups"_a, "excluded"_a, "relevant"_a, Loop())
        .def("slots", &MixedGroups::slots, "begin"_a, "end"_a, "order"_a, "base"_a, "slots"_a, Loop())
        .def("sums", &MixedGroups::sums, "of_hits"_a, "of_others"_a, "sums"_a, Loop());
    nb::class_<OrderSearch>(m, "OrderSearch")
        .def(nb::init<const MixedGroups &, Span<std::int32_t>, Blocks, RankSum>(), "mixed"_a, "order"_a, "blocks"_a, "sum"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), Loop())
        .def("value", &OrderSearch::value, Loop())
        .def(
            "improve",
            [](OrderSearch &self, Int64s blocks, Index per_turn, int care) {
                return self.improve(blocks, per_turn, static_cast<Care>(care));
            },
            "blocks"_a, "per_turn"_a, "care"_a, Loop())
        .def(
            "improve_runs",
            [](OrderSearch &self, Int64s blocks, int care) { return self.improve_runs(blocks, static_cast<Care>(care)); },
            "blocks"_a, "care"_a, Loop());
}

void bind_counting(nb::module_ &m) {
    m.def("expand", &expand, Loop());
    m.def("pack_groups", &pack_groups, Loop());
    m.def("unpack_groups", &unpack_groups, Loop());
    nb::class_<LabelledItems>(m, "LabelledItems")
        .def(nb::init<Matrix<const std::uint64_t>, Matrix<const std::uint64_t>, bool>(), "codes"_a, "labels"_a, "one"_a,
             Loop())
        .def(
            "histograms",
            [](const LabelledItems &self, Matrix<const std::uint64_t> codes, Matrix<const std::uint64_t> labels,
               std::int64_t n_level,
               Matrix<std::int32_t> out) { histogram_loops().count(self, codes, labels, n_level, out); },
            "codes"_a, "labels"_a, "n_level"_a, "out"_a, Loop());
    m.def("count_groups", &count_groups, Loop());
}

nb::bytes bytes_of(const Wide &number) { return nb::bytes(number.limbs, sizeof(Limb) * number.length); }

/// out[p] = compare(p)
template <class Compare>
void compare_all(Span<std::int8_t> out, Compare compare) {
    for (std::size_t p = 0; p < out.size(); ++p) out[p] = static_cast<std::int8_t>(compare(p));
}

void bind_exact(nb::module_ &m) {
    using Signs = Span<std::int8_t>;
    nb::class_<Roots>(m, "Roots")
        .def(nb::init<Span<const double>>(), "values"_a, Loop())
        .def(nb::init<Span<const double>, Span<const double>>(), "numerators"_a, "denominators"_a, Loop())
        .def("__len__", &Roots::size)
        .def("add", nb::overload_cast<const Roots &>(&Roots::add), "others"_a, Loop())
        .def(
            "compare",
            [](const Roots &self, Int64s mine, const Roots &others, Int64s yours, Signs out) {
                compare_all(out, [&](std::size_t p) { return self.compare(mine[p], others, yours[p]); });
            },
            "mine"_a, "others"_a, "yours"_a, "out"_a, Loop())
        .def(
            "compare_shifted",
            [](const Roots &self, Int64s mine, const Roots &others, Int64s yours, double shift, Signs out) {
                compare_all(out, [&](std::size_t p) { return self.compare_shifted(mine[p], others, yours[p], shift); });
            },
            "mine"_a, "others"_a, "yours"_a, "shift"_a, "out"_a, Loop())
        .def(
            "compare_values",
            [](const Roots &self, Int64s mine, Span<const double> values, double sign, double shift, Signs out) {
                compare_all(out, [&](std::size_t p) { return self.compare_value(mine[p], sign * values[p], shift); });
            },
            "mine"_a, "values"_a, "sign"_a, "shift"_a, "out"_a, Loop())
        .def("square", [](const Roots &roots, Index i) {
            Wide numerator, denominator;
            const int sign = roots.squared(i, numerator, denominator);
            return nb::make_tuple(sign, bytes_of(numerator), bytes_of(denominator),
                                  numerator.exponent - denominator.exponent);
        });
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of deadheat; what calls them documents them.";
    bind_support(m);
    bind_distances(m);
    bind_inputs(m);
    bind_measures(m);
    bind_analyses(m);
    bind_counting(m);
    bind_exact(m);
    bind_pass(m);
}
