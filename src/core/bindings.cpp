// The loops as Python sees them, as deadheat._core: one line each, room by room.
//
// Arrays come as views (casters.h), checked by their types alone: what calls a loop is the package, which has checked the
// rest. Every loop runs without the interpreter's lock, and in the plain floating-point mode.
#include "casters.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "analyses/exploit.h"
#include "counting/alike.h"
#include "counting/columns.h"
#include "counting/edges.h"
#include "counting/groups.h"
#include "counting/open_items.h"
#include "counting/scores.h"
#include "counting/strips.h"
#include "counting/tiles.h"
#include "distances/errors.h"
#include "distances/levels.h"
#include "distances/products.h"
#include "distances/ranges.h"
#include "distances/rows.h"
#include "distances/tangents.h"
#include "distances/tiles.h"
#include "exact/root_thresholds.h"
#include "exact/twofold.h"
#include "inputs/lines.h"
#include "measures/area.h"
#include "measures/average_precision.h"
#include "measures/discounted_gain.h"
#include "measures/hits.h"
#include "measures/one_end.h"
#include "profiles/ties.h"
#include "support/compensated.h"
#include "support/float_mode.h"
#include "support/means.h"
#include "support/targets.h"
#include "ties/groups.h"

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
struct type_caster<LineForm> : fields_caster<LineForm, Index, Index, bool, bool> {};
template <>
struct type_caster<Grades> : fields_caster<Grades, Matrix<const std::int64_t>, Matrix<const std::int64_t>> {};
template <class T>
struct type_caster<Discounts<T>> : fields_caster<Discounts<T>, Span<T>, Span<T>, Span<T>> {};
template <>
struct type_caster<MixedGroups> : fields_caster<MixedGroups, Counts, Classes, Classes> {};
template <>
struct type_caster<RankSum> : fields_caster<RankSum, int, Reals, Counts, Counts, Counts, Counts, Reals> {};
template <>
struct type_caster<PlacedRows> : fields_caster<PlacedRows, Matrix<const std::uint64_t>, Matrix<const std::uint64_t>, Classes,
                                               Classes, Classes, bool, bool, Index> {};
template <>
struct type_caster<GroupMeetings> : fields_caster<GroupMeetings, Matrix<const std::uint16_t>, Matrix<const std::int32_t>> {};
template <>
struct type_caster<ScoreErrors> : fields_caster<ScoreErrors, Reals, Reals, Reals, Reals, double, double, double, double> {};
template <>
struct type_caster<Links> : fields_caster<Links, Counts, Classes> {};
template <>
struct type_caster<Books>
    : fields_caster<Books, Span<std::int64_t>, Span<std::int64_t>, Span<std::int32_t>, Span<std::int32_t>, Counts> {};

template <>
struct type_caster<TileColumns>
    : fields_caster<TileColumns, Index, Span<const std::int32_t>, bool, Matrix<const std::int32_t>> {};
template <>
struct type_caster<TilePlaces> : fields_caster<TilePlaces, Matrix<const std::uint32_t>, Matrix<const std::uint32_t>> {};
template <class T, class Code>
struct type_caster<RowTables<T, Code>>
    : fields_caster<RowTables<T, Code>, Matrix<const T>, Index, bool, Span<const T>, Span<const T>, Matrix<const Code>,
                    Span<const std::int32_t>, TilePlaces> {};
template <class T>
struct type_caster<TileCounter<T>>
    : fields_caster<TileCounter<T>, RowTables<T, std::uint16_t>, Matrix<std::int32_t>, Matrix<std::int32_t>, Span<double>> {
};
template <class T>
struct type_caster<TileSide<T>> : fields_caster<TileSide<T>, TileColumns, Span<const T>, std::vector<TileCounter<T>>> {};

}  // namespace nanobind::detail

namespace {

using Loop = nb::call_guard<nb::gil_scoped_release, FloatMode>;

void bind_support(nb::module_ &m) {
    m.def("instruction_set", &instruction_set);
    m.attr("PLAIN_FLOAT_MODE") = FloatMode::plain(0);
    m.def(
        "set_float_mode",
        [](FloatMode::Register mode) {
            const FloatMode::Register before = FloatMode::read();
            FloatMode::write(mode);
            return before;
        },
        "mode"_a);
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

template <class T>
void bind_products(nb::module_ &m, const char *panels) {
    nb::class_<Panels<T>>(m, panels).def(
        "__init__", [](Panels<T> *self, Matrix<const T> rows) { new (self) Panels<T>(packed(rows)); }, "rows"_a, Loop());
    m.def("product", &product<T>, "left"_a, "right"_a, "chunk"_a, "out"_a, Loop());
    m.def("product", &product_of_matrices<T>, "left"_a, "right"_a, "chunk"_a, "out"_a, Loop());
}

void bind_distances(nb::module_ &m) {
    m.attr("LEVELS") = LEVELS;
    m.def("pair_errors", &pair_errors, "errors"_a, "queries"_a, "items"_a, "scores"_a, "out"_a, Loop());
    m.def("level_masks", &level_masks<float>, "raw"_a, "masks"_a, "values"_a, Loop());
    m.def("level_masks", &level_masks<double>, "raw"_a, "masks"_a, "values"_a, Loop());
    m.def("smallest_sizes", &smallest_sizes<float>, "raw"_a, "out"_a, Loop());
    m.def("smallest_sizes", &smallest_sizes<double>, "raw"_a, "out"_a, Loop());
    m.def("tangents", &tangents<float>, "raw"_a, "centre"_a, "out"_a, "spread"_a, Loop());
    m.def("tangents", &tangents<double>, "raw"_a, "centre"_a, "out"_a, "spread"_a, Loop());
    bind_rows<float>(m);
    bind_rows<double>(m);
    bind_row_pairs<float, float>(m);
    bind_row_pairs<float, double>(m);
    bind_row_pairs<double, float>(m);
    bind_row_pairs<double, double>(m);
    m.def("signed_squares", tile_loops().signed_squares_single, "products"_a, "squares"_a, "out"_a, Loop());
    m.def("signed_squares", tile_loops().signed_squares_double, "products"_a, "squares"_a, "out"_a, Loop());
    m.def("product_roundings", &product_roundings, "dim"_a, "chunk"_a);
    bind_products<float>(m, "Panels32");
    bind_products<double>(m, "Panels64");
    m.def("minus_absolute_differences", tile_loops().cityblock_single, "left"_a, "right"_a, "out"_a, Loop());
    m.def("minus_absolute_differences", tile_loops().cityblock_double, "left"_a, "right"_a, "out"_a, Loop());
    m.def("overlaps", tile_loops().overlaps_single, "left"_a, "right"_a, "out"_a, Loop());
    m.def("overlaps", tile_loops().overlaps_double, "left"_a, "right"_a, "out"_a, Loop());
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

void bind_inputs(nb::module_ &m) {
    m.def("find_fields", &find_fields, "text"_a, "form"_a, "places"_a, "numbers"_a, "firsts"_a, Loop());
}

void bind_measures(nb::module_ &m) {
    m.def("average_precisions", &average_precisions, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "out"_a, Loop());
    m.def("precision_variances", &precision_variances, "closer"_a, "closer_relevant"_a, "tied"_a, "tied_relevant"_a,
          "slots"_a, "out"_a, Loop());
    m.def("hits", &hits, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "factor"_a, "size"_a, "share"_a, "out"_a, Loop());
    m.def("first_hits", &first_hits, "first"_a, "last"_a, "groups"_a, "cutoff"_a, "reciprocal"_a, "out"_a, Loop());
    m.def("inverse_penalties", &inverse_penalties, "first"_a, "last"_a, "groups"_a, "out"_a, Loop());
    m.def("extremes", one_end_loops().extremes, "closer"_a, "tied"_a, "tied_relevant"_a, "slots"_a, "kind"_a, "centred"_a,
          "shift"_a, "squared"_a, "out"_a, Loop());
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

void bind_ties(nb::module_ &m) {
    using Int64Matrix = Matrix<std::int64_t>;
    using DoubleMatrix = Matrix<double>;
    m.def(
        "sort_rows",
        [](Matrix<const std::int64_t> order, Int64Matrix columns, Int64Matrix count, Int64Matrix irrelevant,
           DoubleMatrix score, DoubleMatrix bound,
           Flags starts) { sort_rows(order, {columns, count, irrelevant, score, bound}, starts); },
        Loop());
    m.def("unsure_runs", &unsure_runs, Loop());
    m.def(
        "sort_runs",
        [](Matrix<const std::int64_t> runs, Span<const double> better, Span<const double> error, Int64Matrix columns,
           Int64Matrix count, Int64Matrix irrelevant, DoubleMatrix score, DoubleMatrix bound,
           Flags starts) { sort_runs(runs, better, error, {columns, count, irrelevant, score, bound}, starts); },
        Loop());
    m.def("number_groups", &number_groups, Loop());
    m.def(
        "single_items",
        [](Matrix<std::int64_t> columns, Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant, Matrix<double> score,
           Matrix<double> bound, Span<std::int64_t> n_entry, Span<double> reach, Span<bool> has_zero) {
            return single_items({columns, count, irrelevant, score, bound}, n_entry, reach, has_zero);
        },
        Loop());
    m.def("all_apart", &all_apart, Loop());
    m.def("exact_cuts", &exact_cuts, Loop());
    m.def("make_ascending", &make_ascending, Loop());
}

template <class T>
void bind_edges(nb::module_ &m) {
    m.def(
        "build_edges",
        [](Matrix<const double> low, Matrix<const double> high, Span<const double> error, Span<const double> relative,
           Span<const double> tiny, bool closed,
           Matrix<T> edges) { return build_edges<T>(low, high, {error, relative, tiny}, closed, edges); },
        Loop());
    m.def("build_bins", &build_bins<T, std::uint16_t>, Loop());
    m.def("build_bins", &build_bins<T, std::uint32_t>, Loop());
}

template <class T, class Code>
void bind_count_tile(nb::module_ &m, CountTile<T, Code> count_tile) {
    m.def(
        "count_tile",
        [count_tile](Matrix<T> tile, Index start, Span<const std::int32_t> weight, bool plain,
                     Matrix<const std::int32_t> excluded, Matrix<const T> edges, Index n_edge, bool closed,
                     Span<const T> base, Span<const T> scale, Matrix<const Code> codes, Span<const std::int32_t> zero_slot,
                     TilePlaces places, Matrix<std::int32_t> counts, Matrix<std::int32_t> opened) {
            return count_tile(tile, {start, weight, plain, excluded},
                              {edges, n_edge, closed, base, scale, codes, zero_slot, places}, counts, opened);
        },
        Loop());
}

template <class T, class Settle>
void bind_settle_open(nb::module_ &m, Settle settle) {
    m.def("intervals_of_open", &intervals_of_open<T>, "opened"_a, "edges"_a, "low"_a, "found"_a, Loop());
    m.def(
        "settle_open",
        [settle](Matrix<std::int32_t> opened, Matrix<const T> left, Matrix<const T> right, Span<const double> offset,
                 Span<const std::int32_t> weight, Span<const double> reach, Matrix<const T> edges, Matrix<const double> low,
                 Matrix<const double> high, Matrix<std::int32_t> counts) {
            return settle(opened, {left, right, offset, weight, reach}, edges, {low, high, counts});
        },
        Loop());
}

template <class T>
void bind_leave_out_junk(nb::module_ &m) {
    m.def(
        "leave_out_junk",
        [](Int64s queries, Matrix<const bool> mask, Int64s items, Int64s places, Matrix<T> tile) {
            leave_out_junk<T>({queries, mask}, items, places, tile);
        },
        Loop());
}

void bind_counting(nb::module_ &m) {
    m.def("relevant_columns", &relevant_columns, Loop());
    m.attr("MEETINGS") = MEETINGS;
    m.attr("APART") = APART;
    m.def("count_meetings", alike_loops().count_meetings, "placed"_a, "rows"_a, "columns"_a, "out"_a, "kind"_a, Loop());
    m.def("settle_alike", alike_loops().settle_alike, "opened"_a, "scores"_a, "placed"_a, "groups"_a, "weight"_a, "counts"_a,
          Loop());
    m.def("take_out", &take_out, Loop());
    m.def(
        "take_out_junk",
        [](Int64s queries, Matrix<const bool> mask, Int64s itself, Int64s classes, Int64s class_of_item, Int64s items,
           Int64s starts, Matrix<const std::int64_t> columns, Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant) {
            take_out_junk({queries, mask}, itself, classes, class_of_item, {items, starts}, columns, count, irrelevant);
        },
        Loop());
    bind_leave_out_junk<float>(m);
    bind_leave_out_junk<double>(m);
    m.def("expand", &expand, Loop());
    bind_edges<float>(m);
    bind_edges<double>(m);
    m.def("slots_of_zero", &slots_of_zero, Loop());
    m.attr("FEW_EDGES") = FEW_EDGES;
    bind_count_tile(m, counting_loops().count_single);
    bind_count_tile(m, counting_loops().count_single_many);
    bind_count_tile(m, counting_loops().count_double);
    bind_count_tile(m, counting_loops().count_double_many);
    m.def("count_products", &count_products<float>, "left"_a, "right"_a, "chunk"_a, "sides"_a, Loop());
    m.def("count_products", &count_products<double>, "left"_a, "right"_a, "chunk"_a, "sides"_a, Loop());
    m.def("transpose", counting_loops().transpose_single, Loop());
    m.def("transpose", counting_loops().transpose_double, Loop());
    bind_settle_open<float>(m, open_item_loops().settle_single);
    bind_settle_open<double>(m, open_item_loops().settle_double);
    m.def(
        "place_pairs",
        [](Span<const std::int64_t> rows, Span<const std::int64_t> guess, Span<const double> scores,
           Span<const double> errors, Span<const std::int64_t> weights, Matrix<const double> low, Matrix<const double> high,
           Index each, Matrix<std::int32_t> counts, Matrix<std::int64_t> cuts) {
            return open_item_loops().place_pairs({rows, guess, scores, errors, weights}, {low, high, counts}, each, cuts);
        },
        Loop());
    m.def("collect_groups", &collect_groups, Loop());
    m.def(
        "expand_groups",
        [](Span<const std::int64_t> starts, Span<const std::int64_t> lengths, Span<const std::int32_t> closer,
           Matrix<const std::int64_t> others, Span<std::int64_t> all_closer, Span<std::int64_t> closer_relevant,
           Span<std::int64_t> tied, Span<std::int64_t> tied_relevant) {
            expand_groups(starts, lengths, closer, others, {all_closer, closer_relevant, tied, tied_relevant});
        },
        Loop());
    m.def("rank_group", &rank_group, Loop());
    m.def("count_groups", &count_groups, Loop());
}

nb::bytes bytes_of(const Wide &number) { return nb::bytes(number.limbs, sizeof(Limb) * number.length); }

template <class Thresholds>
Fresh<std::int64_t, 2> unknown(Thresholds &thresholds, Places rows, Places low, Places high) {
    const auto found = thresholds.unknown(rows, low, high);
    Fresh<std::int64_t, 2> out({2, static_cast<Index>(found.size())});
    for (std::size_t p = 0; p < found.size(); ++p) {
        out.data[p] = found[p].first;
        out.data[found.size() + p] = found[p].second;
    }
    return out;
}

template <class T>
void bind_twofold_rows(nb::class_<TwofoldRows> &rows) {
    rows.def(
        "__init__",
        [](TwofoldRows *self, KeyKind kind, Matrix<const T> left, Matrix<const T> right, int exponent) {
            new (self) TwofoldRows(kind, left, right, exponent);
        },
        "kind"_a, "left"_a, "right"_a, "exponent"_a, Loop());
}

void bind_twofold(nb::module_ &m) {
    nb::class_<TwofoldRows> rows(m, "TwofoldRows");
    bind_twofold_rows<double>(rows);
    bind_twofold_rows<float>(rows);
    rows.def(
        "closeness",
        [](const TwofoldRows &self, Places left, Places right) {
            Fresh<double, 2> out({static_cast<Index>(left.size()), 3});
            for (std::size_t p = 0; p < left.size(); ++p) {
                const Twofold number = self.closeness(left[p], right[p]);
                out.data[3 * p] = number.value, out.data[3 * p + 1] = number.rest, out.data[3 * p + 2] = number.error;
            }
            return out;
        },
        "left"_a, "right"_a, Loop());
    nb::class_<TwofoldThresholds>(m, "TwofoldThresholds")
        .def(nb::init<Index, Index>(), "n_row"_a, "n_group"_a)
        .def("unknown", &unknown<TwofoldThresholds>, "rows"_a, "low"_a, "high"_a, Loop())
        .def("add", &TwofoldThresholds::add, "pairs"_a, "left"_a, "right"_a, "rows"_a, "groups"_a, Loop())
        .def("count", &TwofoldThresholds::count, "pairs"_a, "left"_a, "right"_a, "rows"_a, "low"_a, "high"_a, "weights"_a,
             "counts"_a, "told"_a, Loop());
}

void bind_key_kinds(nb::module_ &m) {
    nb::enum_<KeyKind>(m, "KeyKind")
        .value("product", KeyKind::product)
        .value("distance", KeyKind::distance)
        .value("difference", KeyKind::difference)
        .value("cosine", KeyKind::cosine);
}

template <class T>
void bind_root_rows(nb::module_ &m, nb::class_<RootRows> &rows) {
    rows.def(nb::init<KeyKind, Matrix<const T>, Matrix<const T>>(), "kind"_a, "left"_a, "right"_a, Loop());
    m.def(
        "bit_ranges",
        [](Matrix<const T> values) {
            Fresh<std::int32_t, 2> out({values.rows, 2});
            bit_ranges(values, out);
            return out;
        },
        "rows"_a, Loop());
}

void bind_exact(nb::module_ &m) {
    m.def("slice_bits", &slice_bits, "dim"_a, "differences"_a);
    nb::class_<RootRows> rows(m, "RootRows");
    bind_root_rows<double>(m, rows);
    bind_root_rows<float>(m, rows);
    nb::class_<RootThresholds>(m, "RootThresholds")
        .def(nb::init<KeyKind, Index, Index>(), "kind"_a, "n_row"_a, "n_group"_a)
        .def("unknown", &unknown<RootThresholds>, "rows"_a, "low"_a, "high"_a, Loop())
        .def("add", &RootThresholds::add, "pairs"_a, "left"_a, "right"_a, "rows"_a, "groups"_a, Loop())
        .def("count", &RootThresholds::count, "pairs"_a, "left"_a, "right"_a, "rows"_a, "low"_a, "high"_a, "weights"_a,
             "counts"_a, Loop());
    nb::class_<Roots>(m, "Roots")
        .def(nb::init<KeyKind, Index>(), "kind"_a, "n"_a)
        .def("__len__", &Roots::size)
        .def("put", &Roots::put, "pairs"_a, "rows"_a, "others"_a, "places"_a, Loop())
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
    bind_profiles(m);
    bind_inputs(m);
    bind_measures(m);
    bind_analyses(m);
    bind_ties(m);
    bind_counting(m);
    bind_key_kinds(m);
    bind_exact(m);
    bind_twofold(m);
}
