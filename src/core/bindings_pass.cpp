// The counting pass as Python sees it: classes that are made by keyword, whose views keep their arrays alive.
#include "casters.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "counting/groups.h"
#include "pass/grouping.h"
#include "pass/pass.h"
#include "support/float_mode.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deadheat;

namespace {

/// Return what some work returns that is done without the interpreter's lock, in the plain floating-point mode.
template <class Work>
auto released(const Work &work) {
    const nb::gil_scoped_release release;
    const FloatMode mode;
    return work();
}

template <class T>
T field(nb::handle from, const char *name) {
    return nb::cast<T>(from.attr(name));
}

/// Rows that a source of Python's holds or reads, which the object that they are given to keeps alive.
Source source_of(nb::handle source) {
    const auto shape = nb::cast<nb::tuple>(source.attr("shape"));
    Source rows;
    rows.n = nb::cast<Index>(shape[0]), rows.dim = nb::cast<Index>(shape[1]);
    rows.wide = field<int>(source.attr("dtype"), "itemsize") == 8;
    const bool in_memory = field<bool>(source, "in_memory");
    with_type(rows.wide, [&]<class T>(T) {
        if (in_memory) {
            const auto matrix = field<Matrix<const T>>(source, "array");
            rows.memory = matrix.data, rows.stride = matrix.stride;
            return;
        }
        if (!source.attr("compressed").is_none()) {
            const auto [starts, places, numbers] =
                field<std::tuple<Int64s, Span<const std::int32_t>, Span<const T>>>(source, "compressed");
            rows.starts = starts, rows.places = places, rows.numbers = numbers.data();
            rows.read = [from = rows](const Numbers64 &index, void *out) {
                T *to = static_cast<T *>(out);
                std::fill_n(to, index.size() * at(from.dim), T{});
                for (std::size_t p = 0; p < index.size(); ++p, to += from.dim) {
                    const auto [columns, values] = from.sparse_row<T>(index[p]);
                    for (std::size_t k = 0; k < columns.size(); ++k) to[columns[k]] = values[k];
                }
            };
            return;
        }
        rows.read = [source](const Numbers64 &index, void *out) {
            const nb::gil_scoped_acquire hold;
            const auto result = nb::borrow(source.attr("take")(index));
            const auto matrix = nb::cast<Matrix<const T>>(result);
            std::memcpy(out, matrix.data, index.size() * at(matrix.columns) * sizeof(T));
        };
    });
    return rows;
}

}  // namespace

namespace nanobind::detail {

/// The value of an enumeration that has this name.
template <class Kind, const auto &known>
struct named_caster {
    NB_TYPE_CASTER(Kind, const_name("str"))

    bool from_python(handle source, std::uint8_t, cleanup_list *) noexcept {
        if (!PyUnicode_Check(source.ptr())) return false;
        for (const auto &[name, kind] : known)
            if (PyUnicode_CompareWithASCIIString(source.ptr(), name) == 0) {
                value = kind;
                return true;
            }
        return false;
    }
};

constexpr std::pair<const char *, Form> FORMS[] = {{"product", Form::product},
                                                   {"overlap", Form::overlap},
                                                   {"bits", Form::bits},
                                                   {"share", Form::share},
                                                   {"difference", Form::difference}};
constexpr std::pair<const char *, KeyKind> KEY_KINDS[] = {{"product", KeyKind::product},
                                                          {"distance", KeyKind::distance},
                                                          {"cosine", KeyKind::cosine},
                                                          {"difference", KeyKind::difference}};
template <>
struct type_caster<Form> : named_caster<Form, FORMS> {};
template <>
struct type_caster<KeyKind> : named_caster<KeyKind, KEY_KINDS> {};

inline ScaledSource scaled_source_of(handle rows) {
    ScaledSource made;
    if (try_cast(rows, made.words)) return made;
    made.source = source_of(rows.attr("source"));
    made.factor = field<Span<const double>>(rows, "factor"), made.divide = field<bool>(rows, "divide");
    return made;
}
template <>
struct type_caster<ScaledSource> : made_caster<ScaledSource, scaled_source_of> {};

/// A range of columns from a row of start, stop, band and block.
inline std::vector<Range> ranges_of(handle from) {
    const auto rows = cast<Matrix<const std::int64_t>>(from);
    std::vector<Range> ranges;
    for (Index i = 0; i < rows.rows; ++i) ranges.push_back({rows(i, 0), rows(i, 1), rows(i, 2), rows(i, 3)});
    return ranges;
}
template <>
struct type_caster<std::vector<Range>> : made_caster<std::vector<Range>, ranges_of> {
    static constexpr auto Name = make_caster<Matrix<const std::int64_t>>::Name;
};

inline Queries queries_of(handle from) {
    Queries queries;
    for (const auto &[number, of_block] : cast<dict>(from)) queries.emplace(cast<Index>(number), cast<Numbers64>(of_block));
    return queries;
}
template <>
struct type_caster<Queries> : made_caster<Queries, queries_of> {
    static constexpr auto Name =
        const_name("collections.abc.Mapping[int, ") + make_caster<Numbers64>::Name + const_name("]");
};

template <>
struct type_caster<Section> : fields_caster<Section, std::vector<Range>, Numbers64> {};
template <>
struct type_caster<Shard> : fields_caster<Shard, Queries, std::vector<Section>> {};
template <>
struct type_caster<ClassColumns> : fields_caster<ClassColumns, Int64s, Int64s, Int64s> {};

}  // namespace nanobind::detail

namespace {

/// The decision of a rule in Python on undecided items.
class PythonDecision : public Decision {
public:
    explicit PythonDecision(nb::object decide) : decide_(std::move(decide)) {}
    ~PythonDecision() override {
        const nb::gil_scoped_acquire hold;
        decide_.reset();
    }
    Numbers64 cuts_below(Index counter, const UndecidedItems &items) override {
        const nb::gil_scoped_acquire hold;
        const auto all = [&](std::int32_t UndecidedItem::*field) {
            Numbers64 numbers;
            for (const UndecidedItem &item : items) numbers.push_back(item.*field);
            return numbers;
        };
        return nb::cast<Numbers64>(decide_(counter, "rows"_a = all(&UndecidedItem::row),
                                           "columns"_a = all(&UndecidedItem::column), "low"_a = all(&UndecidedItem::low),
                                           "high"_a = all(&UndecidedItem::high)));
    }

private:
    nb::object decide_;
};

/// Meanings of "tied" that are written in Python: a function from relevant items to groups, thresholds and `decide` of each.
class PythonRule : public Rule {
public:
    explicit PythonRule(nb::object group) : group_(std::move(group)) {}
    std::vector<Grouped> group(RelevantItems &relevant) const override {
        const nb::gil_scoped_acquire hold;
        std::vector<Grouped> all;
        for (const nb::handle of_rule : group_(nb::cast(&relevant, nb::rv_policy::reference))) {
            const auto [groups, cuts, decide] = nb::cast<std::tuple<TieGroups, std::vector<CutBounds>, nb::object>>(of_rule);
            all.push_back({groups, cuts, std::make_unique<PythonDecision>(decide)});
            for (CutBounds &sequence : all.back().cuts) make_ascending(sequence.low, sequence.high);
        }
        return all;
    }

private:
    nb::object group_;
};

/// Threads that ask Python now and then whether to go on, and tell it what is done.
std::unique_ptr<Threads> threads_of(Pass &pass, int n, const nb::callable &poll) {
    return std::make_unique<Threads>(n, [&pass, poll] {
        const nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        poll(pass.done.load());
    });
}

/// The blocks of a shard whose tiles are counted elsewhere.
struct OwnedBlocks {
    Pass &pass;
    Queries queries;
    std::unique_ptr<Threads> threads;
    Pass::Blocks blocks;
};

using Poll = nb::typed<nb::callable, void(std::int64_t)>;

const std::atomic<bool> NEVER{false};

/// The groups of `group_exactly` of relevant items, whose entries are put into order; `exact` is None where no bound is
/// above 0.
TieGroups group_items(const Scores &scores, const ExactPairs *exact, RelevantItems &relevant) {
    Problem problem{};
    problem.scores = &scores, problem.exact = exact;
    TieGroups groups;
    groups.queries = relevant.queries;
    released([&] { group_exactly(problem, groups.queries, relevant.entries(), NEVER, groups, false); });
    return groups;
}

/// Set the tie groups of the items of some groups, from starts[g] to before starts[g + 1], as queries by place; returns
/// the groups that scores leave undecided: what is set for these means nothing.
Numbers64 rank_groups(const Scores &scores, Int64s items, Int64s columns, Int64s classes, Int64s starts,
                      const PackedGroups &into) {
    Numbers64 undecided;
    for (std::size_t g = 0; g + 1 < starts.size(); ++g) {
        const auto part = [&](Int64s all) { return all.subspan(at(starts[g]), at(starts[g + 1] - starts[g])); };
        const Int64s queries = part(items), others = part(columns);
        const auto n = static_cast<Index>(queries.size());
        auto square = Table<double>::unset(n, n);
        with_type(scores.levels.back().wide, [&]<class T>(T) {
            auto tile = Table<T>::unset(n, n);
            scores.tile<T>(scores.last(), queries, others, tile);
            std::copy(tile.memory.begin(), tile.memory.end(), square.memory.begin());
        });
        std::vector<double> most(queries.size());
        for (std::size_t i = 0; i < most.size(); ++i)
            for (const Band &band : scores.bands)
                most[i] = std::max(most[i], scores.errors(scores.last(), queries[i], band).absolute);
        const auto of_row = [&](Index row) {
            std::vector<double> bounds(queries.size());
            const Numbers64 query(queries.size(), queries[at(row)]);
            scores.pair_bounds(query, others, {square.row(row), queries.size()}, bounds);
            return bounds;
        };
        if (!rank_group({square, most, of_row, others, part(classes)}, starts[g], into))
            undecided.push_back(static_cast<std::int64_t>(g));
    }
    return undecided;
}

/// Work through queries along ranges of columns.
template <auto work>
void in_ranges(Pass &self, const Queries &queries, const std::vector<Range> &ranges, const PackedGroups &groups, int threads,
               Poll poll) {
    const auto workers = threads_of(self, threads, poll);
    released([&] { (self.*work)(queries, ranges, groups, *workers); });
}

using Released = nb::call_guard<nb::gil_scoped_release, FloatMode>;

void bind_scores(nb::module_ &m) {
    with_fields<&ScoreErrors::of_query, &ScoreErrors::of_item, &ScoreErrors::offset_error, &ScoreErrors::offset,
                &ScoreErrors::part, &ScoreErrors::tiny, &ScoreErrors::relative, &ScoreErrors::relative_tiny,
                &ScoreErrors::additive, &ScoreErrors::half_error, &ScoreErrors::roundoff>(
        nb::class_<ScoreErrors>(m, "ScoreErrors"), optional("of_query"), optional("of_item"), optional("offset_error"),
        optional("offset"), "part"_a = 0.0, "tiny"_a = 0.0, "relative"_a = UNBOUNDED, "relative_tiny"_a = UNBOUNDED,
        "additive"_a = false, optional("half_error"), "roundoff"_a = 0.0);
    by_keyword<&BandErrors::size, &BandErrors::offset_error, &BandErrors::relative, &BandErrors::relative_tiny,
               &BandErrors::square_relative, &BandErrors::square_factor, &BandErrors::square_tiny>(
        nb::class_<BandErrors>(m, "BandErrors"), "size"_a = 0.0, "offset_error"_a = 0.0, "relative"_a = UNBOUNDED,
        "relative_tiny"_a = 0.0, "square_relative"_a = UNBOUNDED, "square_factor"_a = 0.0, "square_tiny"_a = 0.0);
    by_keyword<&ScoreLevel::wide, &ScoreLevel::wide_rows, &ScoreLevel::exact, &ScoreLevel::chunk, &ScoreLevel::errors>(
        nb::class_<ScoreLevel>(m, "ScoreLevel"), "wide"_a, "wide_rows"_a, "exact"_a, "chunk"_a, "errors"_a);
    by_keyword<&Band::start, &Band::stop, &Band::of_level>(nb::class_<Band>(m, "Band"), "start"_a, "stop"_a, "of_level"_a);
    nb::class_<Scores> bound(m, "Scores");
    by_keyword<&Scores::form, &Scores::query, &Scores::item, &Scores::offset, &Scores::squares, &Scores::item_of_column,
               &Scores::bound_by_terms, &Scores::levels, &Scores::bands>(bound, "form"_a, "query"_a, "item"_a, "offset"_a,
                                                                         "squares"_a, "item_of_column"_a, "bound_by_terms"_a,
                                                                         "levels"_a, "bands"_a);
    bound
        .def(
            "pair_scores",
            [](const Scores &self, Int64s queries, Int64s columns) {
                Fresh<double> out({static_cast<Index>(queries.size())});
                self.pair_scores(queries, columns, out);
                return out;
            },
            "queries"_a, "columns"_a, Released())
        .def(
            "pair_bounds",
            [](const Scores &self, Int64s queries, Int64s columns, Span<const double> scores) {
                Fresh<double> out({static_cast<Index>(queries.size())});
                self.pair_bounds(queries, columns, scores, out);
                return out;
            },
            "queries"_a, "columns"_a, "scores"_a, Released())
        .def(
            "tile",
            [](const Scores &self, int level, Int64s queries, Int64s columns) -> nb::object {
                const auto make = [&]<class T>(T) {
                    Fresh<T, 2> out({static_cast<Index>(queries.size()), static_cast<Index>(columns.size())});
                    released([&] { self.tile<T>(level, queries, columns, out); });
                    return nb::cast(std::move(out));
                };
                return self.levels[at(level)].wide ? make(double{}) : make(float{});
            },
            "level"_a, "queries"_a, "columns"_a)
        .def(
            "errors",
            [](const Scores &self, int level, Int64s queries, Index band) {
                Fresh<double, 2> out({static_cast<Index>(queries.size()), 3});
                for (std::size_t i = 0; i < queries.size(); ++i) {
                    const Errors errors = self.errors(level, queries[i], self.bands[at(band)]);
                    double *to = &out.data[3 * i];
                    to[0] = errors.absolute, to[1] = errors.relative, to[2] = errors.tiny;
                }
                return out;
            },
            "level"_a, "queries"_a, "band"_a, Released());
    m.def("rank_groups", &rank_groups, "scores"_a, "items"_a, "columns"_a, "classes"_a, "starts"_a, "into"_a, Released());
    nb::class_<ExactPairs>(m, "ExactPairs")
        .def(
            "__init__",
            [](ExactPairs *self, KeyKind kind, nb::object query, nb::object item) {
                new (self) ExactPairs(kind, source_of(query), source_of(item), query.is(item));
            },
            "kind"_a, "query"_a, "item"_a, nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def(
            "closeness",
            [](const ExactPairs &self, Int64s queries, Int64s items) { return self.closeness(queries, items, NEVER); },
            "queries"_a, "items"_a, Released());
}

void bind_problem(nb::module_ &m) {
    with_fields<&RelevantItems::queries, &RelevantItems::columns, &RelevantItems::count, &RelevantItems::irrelevant,
                &RelevantItems::score, &RelevantItems::bound>(nb::class_<RelevantItems>(m, "RelevantItems"), "queries"_a,
                                                              "columns"_a, "count"_a, "irrelevant"_a, "score"_a, "bound"_a);
    nb::class_<TieGroups>(m, "TieGroups")
        .def_ro("queries", &TieGroups::queries)
        .def_ro("n_group", &TieGroups::n_group)
        .def_ro("score", &TieGroups::score)
        .def_ro("bound", &TieGroups::bound)
        .def_ro("total", &TieGroups::total)
        .def_ro("columns", &TieGroups::columns)
        .def_ro("of_entry", &TieGroups::of_entry);
    m.def("group_exactly", &group_items, "scores"_a, "exact"_a.none(), "relevant"_a);
    by_keyword<&CutBounds::low, &CutBounds::high, &CutBounds::per_interval, &CutBounds::sharp>(
        nb::class_<CutBounds>(m, "CutBounds"), "low"_a, "high"_a, "per_interval"_a, "sharp"_a);
    nb::class_<Rule>(m, "Rule");
    nb::class_<PythonRule, Rule>(m, "PythonRule").def(nb::init<nb::object>(), "group"_a);
    by_keyword<&Patterns::query, &Patterns::item, &Patterns::query_table, &Patterns::item_table, &Patterns::item_kind,
               &Patterns::zeros, &Patterns::differences, &Patterns::levels>(
        nb::class_<Patterns>(m, "Patterns"), "query"_a, "item"_a, "query_table"_a, "item_table"_a, "item_kind"_a, "zeros"_a,
        "differences"_a, "levels"_a);
    by_keyword<&Problem::scores, &Problem::exact, &Problem::rule, &Problem::patterns, &Problem::weight, &Problem::plain,
               &Problem::class_columns, &Problem::query_class, &Problem::gallery_class, &Problem::column_of_item,
               &Problem::itself, &Problem::ranked, &Problem::junk, &Problem::items, &Problem::query_labels,
               &Problem::item_labels, &Problem::least_for_int8>(
        nb::class_<Problem>(m, "Problem"), "scores"_a, "exact"_a.none(), "rule"_a.none(), "patterns"_a.none(), "weight"_a,
        "plain"_a, "class_columns"_a, "query_class"_a, "gallery_class"_a, "column_of_item"_a, "itself"_a.none(), "ranked"_a,
        "junk"_a.none(), "items"_a, "query_labels"_a.none(), "item_labels"_a.none(), "least_for_int8"_a);
}

void bind_blocks(nb::module_ &m) {
    nb::class_<OwnedBlocks>(m, "Blocks")
        .def(
            "__getitem__",
            [](OwnedBlocks &self, std::size_t number) {
                if (number >= self.blocks.size()) throw nb::index_error();
                return std::next(self.blocks.begin(), static_cast<Index>(number))->second;
            },
            "number"_a, nb::keep_alive<0, 1>())
        .def(
            "collect",
            [](OwnedBlocks &self, bool all, const PackedGroups &groups) {
                self.pass.collect(self.blocks, all, groups, *self.threads);
            },
            "all"_a, "groups"_a, Released());
    nb::class_<Block>(m, "Block")
        .def_prop_ro("queries", [](const Block &self) { return Numbers64(self.queries().begin(), self.queries().end()); })
        .def_prop_ro("n_counter", [](Block &self) { return self.counters().size(); })
        .def_prop_ro("excluded", &Block::excluded)
        .def(
            "edges",
            [](Block &self, std::size_t counter, int level, Index band) {
                const auto table = released([&] { return self.counters()[counter]->edges<double>(level, band); });
                Table<double> used(table->edges.rows, std::max<Index>(1, table->n_edge));
                for (Index i = 0; i < used.rows; ++i) std::copy_n(table->edges.row(i), used.columns, used.row(i));
                return nb::make_tuple(used, table->closed);
            },
            "counter"_a, "level"_a, "band"_a)
        .def(
            "add",
            [](Block &self, std::size_t counter, Matrix<const std::int32_t> counts) {
                const std::lock_guard hold(self.counting);
                Table<std::int32_t> &own = self.counters()[counter]->counts;
                for (Index i = 0; i < own.rows; ++i)  // those behind the last edge of any row are left out
                    for (Index j = 0; j < std::min(own.columns, counts.columns); ++j) own(i, j) += counts(i, j);
            },
            "counter"_a, "counts"_a, Released())
        .def(
            "place",
            [](Block &self, std::size_t counter, const Numbers64 &rows, const Numbers64 &columns, Span<const double> scores,
               const Numbers64 &guess) {
                const std::lock_guard hold(self.counting);
                auto tallies = self.own_tallies();
                const SingleItems items{
                    rows, columns, guess, self.problem().weights_of(columns), {scores.begin(), scores.end()}};
                self.counters()[counter]->place(items, tallies[counter]);
                self.decide(tallies);
            },
            "counter"_a, "rows"_a, "columns"_a, "scores"_a, "guess"_a, Released());
}

}  // namespace

void bind_pass(nb::module_ &m);

void bind_pass(nb::module_ &m) {
    bind_scores(m);
    bind_problem(m);
    bind_blocks(m);
    nb::class_<Pass>(m, "Pass")
        .def(nb::init<const Problem &>(), "problem"_a, nb::keep_alive<1, 2>())
        .def_prop_rw(
            "done", [](Pass &self) { return self.done.load(); }, [](Pass &self, std::int64_t done) { self.done = done; })
        .def(
            "count",
            [](Pass &self, const std::vector<Shard> &shards, bool all, const PackedGroups &groups, int threads, Poll poll) {
                const auto workers = threads_of(self, threads, poll);
                released([&] { self.count(shards, all, groups, *workers); });
            },
            "shards"_a, "all"_a, "groups"_a, "threads"_a, "poll"_a)
        .def("stream", &in_ranges<&Pass::stream>, "queries"_a, "ranges"_a, "groups"_a, "threads"_a, "poll"_a)
        .def("sort", &in_ranges<&Pass::sort>, "queries"_a, "ranges"_a, "groups"_a, "threads"_a, "poll"_a)
        .def(
            "relevant_items", [](const Pass &self, Int64s queries) { return relevant_items(self.problem(), queries); },
            "queries"_a, Released())
        .def(
            "make",
            [](Pass &self, const Queries &queries, int threads, Poll poll) {
                auto made = std::make_unique<OwnedBlocks>(self, queries, threads_of(self, threads, poll), Pass::Blocks());
                const nb::gil_scoped_release release;
                made->blocks = self.make(made->queries, *made->threads);
                return made.release();
            },
            "queries"_a, "threads"_a, "poll"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>());
}
