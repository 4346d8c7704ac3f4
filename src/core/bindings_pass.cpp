// The counting pass as Python sees it: it is given a description, whose fields are all read and whose arrays are kept as
// long as it lives.
#include "casters.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "pass/grouping.h"
#include "pass/pass.h"
#include "support/float_mode.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deadheat;

namespace nanobind::detail {

template <>
struct type_caster<ClassColumns> : fields_caster<ClassColumns, Int64s, Int64s, Int64s> {};
template <>
struct type_caster<Entries> : fields_caster<Entries, Matrix<std::int64_t>, Matrix<std::int64_t>, Matrix<std::int64_t>,
                                            Matrix<double>, Matrix<double>> {};

}  // namespace nanobind::detail

namespace {

template <class T>
T field(nb::handle from, const char *name) {
    return nb::cast<T>(from.attr(name));
}

/// A description of Python's (`deadheat.engine.descriptions`), all of whose fields are read: one that is not is an error, as
/// is one that is missing.
class Fields {
public:
    explicit Fields(nb::handle from) : from_(from) {
        for (nb::handle name : from.attr("__dataclass_fields__")) unread_.insert(nb::cast<std::string>(name));
    }
    nb::object operator()(const char *name) {
        unread_.erase(name);
        return from_.attr(name);
    }
    template <class T>
    T get(const char *name) {
        return nb::cast<T>((*this)(name));
    }
    void done() const {
        if (!unread_.empty()) throw nb::value_error(("unknown field " + *unread_.begin()).c_str());
    }

private:
    nb::handle from_;
    std::set<std::string> unread_;
};

/// The value of a name; an unknown name is an error.
template <class T>
T named(const std::string &name, std::initializer_list<std::pair<const char *, T>> known) {
    for (const auto &[each, value] : known)
        if (name == each) return value;
    throw nb::value_error(("unknown name " + name).c_str());
}

/// Return what some work returns that is done without the interpreter's lock, in the plain floating-point mode.
template <class Work>
auto released(const Work &work) {
    const nb::gil_scoped_release release;
    const FloatMode mode;
    return work();
}

/// Rows that a source of Python's holds or reads.
Source source_of(nb::object source) {
    const auto shape = nb::cast<nb::tuple>(source.attr("shape"));
    Source rows;
    rows.n = nb::cast<Index>(shape[0]), rows.dim = nb::cast<Index>(shape[1]);
    rows.wide = field<int>(source.attr("dtype"), "itemsize") == 8;
    if (field<bool>(source, "in_memory")) {
        const nb::object array = source.attr("array");
        const auto take = [&]<class T>(Matrix<const T> matrix) { rows.memory = matrix.data, rows.stride = matrix.stride; };
        if (rows.wide)
            take(nb::cast<Matrix<const double>>(array));
        else
            take(nb::cast<Matrix<const float>>(array));
        return rows;
    }
    const Index dim = rows.dim;
    const bool wide = rows.wide;
    rows.read = [source, dim, wide](Span<const std::int64_t> index, void *out) {
        const nb::gil_scoped_acquire hold;
        Fresh<std::int64_t> copy({static_cast<Index>(index.size())});
        std::copy(index.begin(), index.end(), copy.data.get());
        const nb::object found = source.attr("take")(std::move(copy));
        const std::size_t n = index.size() * static_cast<std::size_t>(dim);
        if (wide)
            std::memcpy(out, nb::cast<Matrix<const double>>(found).data, n * sizeof(double));
        else
            std::memcpy(out, nb::cast<Matrix<const float>>(found).data, n * sizeof(float));
    };
    return rows;
}

ScaledSource scaled_source_of(nb::object rows) {
    return {source_of(nb::borrow(rows.attr("source"))), field<Span<const double>>(rows, "factor"),
            field<bool>(rows, "divide")};
}

/// Scores, and the description that owns what they are made of.
struct OwnedScores {
    nb::object description;
    Scores scores;

    explicit OwnedScores(nb::object from) : description(from) {
        Fields fields(from);
        scores.form = named<Form>(fields.get<std::string>("form"), {{"product", Form::product},
                                                                    {"overlap", Form::overlap},
                                                                    {"bits", Form::bits},
                                                                    {"difference", Form::difference}});
        const nb::object query = fields("query"), item = fields("item");
        if (scores.form == Form::bits) {
            scores.query_words = nb::cast<Matrix<const std::uint64_t>>(query);
            scores.item_words = nb::cast<Matrix<const std::uint64_t>>(item);
        } else {
            scores.query = scaled_source_of(query);
            scores.item = scaled_source_of(item);
        }
        scores.offset = fields.get<Span<const double>>("offset");
        scores.squares = fields.get<Span<const double>>("squares");
        scores.item_of_column = fields.get<Int64s>("item_of_column");
        scores.spread = fields.get<bool>("spread");
        for (nb::handle level : fields("levels")) scores.levels.push_back(level_of(level));
        const auto numbers = fields.get<Matrix<const double>>("band_errors");  // (n_band · n_level, 7)
        const nb::object bands = fields("bands");
        fields.done();
        Index row = 0;
        for (nb::handle band : bands) {
            Band made{nb::cast<Index>(band[0]), nb::cast<Index>(band[1]), {}};
            for (std::size_t level = 0; level < scores.levels.size(); ++level, ++row) {
                const double *of = numbers.row(row);
                made.of_level.push_back({.size = of[0],
                                         .beside = of[1],
                                         .relative = of[2],
                                         .relative_tiny = of[3],
                                         .square_relative = of[4],
                                         .square_factor = of[5],
                                         .square_tiny = of[6]});
            }
            scores.bands.push_back(made);
        }
    }

    static Level level_of(nb::handle from) {
        Fields level(from);
        const auto real = [&](const char *name) { return level.get<double>(name); };
        const auto reals = [&](const char *name) { return level.get<Span<const double>>(name); };
        Level made{.wide = level.get<bool>("wide"),
                   .wide_rows = level.get<bool>("wide_rows"),
                   .exact = level.get<bool>("exact"),
                   .chunk = level.get<Index>("chunk"),
                   .additive = level.get<bool>("additive"),
                   .errors = {.of_query = reals("of_query"),
                              .of_item = reals("of_item"),
                              .beside = reals("beside"),
                              .offset = reals("offset"),
                              .part = real("part"),
                              .tiny = real("tiny"),
                              .relative = real("relative"),
                              .relative_tiny = real("relative_tiny")}};
        level.done();
        return made;
    }
};

/// Matrices that Python may look at, and change, as long as they live.
template <class T>
nb::object view(Table<T> &table) {
    using Array = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
    const std::size_t shape[] = {static_cast<std::size_t>(table.rows), static_cast<std::size_t>(table.columns)};
    return nb::cast(Array(table.memory.data(), 2, shape, nb::handle()), nb::rv_policy::reference);
}

nb::object array_of(const Numbers64 &numbers) {
    Fresh<std::int64_t> copy({static_cast<Index>(numbers.size())});
    std::copy(numbers.begin(), numbers.end(), copy.data.get());
    return nb::cast(std::move(copy));
}

template <class T>
Table<T> table_of(nb::handle array) {
    const auto matrix = nb::cast<Matrix<const T>>(array);
    Table<T> table(matrix.rows, matrix.columns);
    for (Index i = 0; i < matrix.rows; ++i) std::copy_n(matrix.row(i), matrix.columns, table.row(i));
    return table;
}

Numbers64 numbers_of(nb::handle array) {
    const auto span = nb::cast<Int64s>(array);
    return {span.begin(), span.end()};
}

/// The decision of a rule in Python on open items.
class PythonDecision : public Decision {
public:
    explicit PythonDecision(nb::object decide) : decide_(std::move(decide)) {}
    ~PythonDecision() override {
        const nb::gil_scoped_acquire hold;
        decide_.reset();
    }
    Numbers64 cuts_below(Index counter, const OpenItems &items) override {
        const nb::gil_scoped_acquire hold;
        const auto all = [&](std::int32_t OpenItem::*field) {
            Numbers64 numbers;
            for (const OpenItem &item : items) numbers.push_back(item.*field);
            return array_of(std::move(numbers));
        };
        return numbers_of(
            decide_(counter, all(&OpenItem::row), all(&OpenItem::column), all(&OpenItem::low), all(&OpenItem::high)));
    }

private:
    nb::object decide_;
};

/// A meaning of "tied" that is written in Python.
class PythonRule : public Rule {
public:
    explicit PythonRule(nb::object group) : group_(std::move(group)) {}
    std::unique_ptr<Decision> group(Span<const std::int64_t> queries, RelevantItems &relevant, TieGroups &groups,
                                    std::vector<Cuts> &cuts) const override {
        const nb::gil_scoped_acquire hold;
        const nb::object found =
            group_(array_of({queries.begin(), queries.end()}), view(relevant.columns), view(relevant.count),
                   view(relevant.irrelevant), view(relevant.score), view(relevant.bound));
        groups.n_group = numbers_of(found.attr("n_group"));
        groups.total = table_of<std::int32_t>(found.attr("total"));
        groups.columns = table_of<std::int32_t>(found.attr("columns"));
        groups.of_entry = table_of<std::int64_t>(found.attr("of_entry"));
        for (nb::handle each : found.attr("cuts")) {
            cuts.push_back({table_of<double>(each.attr("low")), table_of<double>(each.attr("high")),
                            field<Index>(each, "each"), field<bool>(each, "sharp")});
            make_ascending(cuts.back().low, cuts.back().high);
        }
        return std::make_unique<PythonDecision>(nb::borrow(found.attr("decide")));
    }

private:
    nb::object group_;
};

KeyKind key_kind(const std::string &name) {
    return named<KeyKind>(name, {{"product", KeyKind::product},
                                 {"distance", KeyKind::distance},
                                 {"cosine", KeyKind::cosine},
                                 {"difference", KeyKind::difference}});
}

/// Exact closeness of pairs of rows of two sources.
struct OwnedExact {
    nb::object query, item;
    ExactPairs pairs;

    /// `without` a representation, to measure what it is worth: "integers" or "double-double".
    OwnedExact(const std::string &kind, nb::object of_query, nb::object of_item, const std::string &without)
        : query(of_query), item(of_item), pairs(key_kind(kind), source_of(query), source_of(item), of_query.is(of_item)) {
        pairs.left_out = named<LeftOut>(
            without, {{"", LeftOut::nothing}, {"integers", LeftOut::integers}, {"double-double", LeftOut::double_double}});
    }
};

struct OwnedPass {
    nb::object description;
    Problem problem{};
    Patterns patterns{};
    std::unique_ptr<PythonRule> rule;
    Pass pass{problem};

    explicit OwnedPass(nb::object from) : description(from) {
        Fields fields(from);
        problem.scores = &nb::cast<OwnedScores &>(fields("scores")).scores;
        const nb::object exact = fields("exact");
        problem.exact = exact.is_none() ? nullptr : &nb::cast<OwnedExact &>(exact).pairs;
        const nb::object group = fields("group");
        if (!group.is_none()) rule = std::make_unique<PythonRule>(group);
        problem.rule = rule.get();
        problem.n_column = static_cast<Index>(problem.scores->n_column());
        problem.weight = fields.get<Span<const std::int32_t>>("weight");
        problem.plain = fields.get<bool>("plain");
        problem.least_for_int8 = fields.get<Index>("least_for_int8");
        problem.class_columns = fields.get<ClassColumns>("class_columns");
        problem.query_class = fields.get<Int64s>("query_class");
        problem.gallery_class = fields.get<Int64s>("gallery_class");
        problem.column_of_item = fields.get<Int64s>("column_of_item");
        problem.itself = fields.get<Int64s>("itself");
        problem.ranked = fields.get<Span<const bool>>("ranked");
        const nb::object junk = fields("junk"), items = fields("items");
        if (!junk.is_none()) problem.junk = nb::cast<Matrix<const bool>>(junk), problem.items = nb::cast<ItemLists>(items);
        const nb::object labels = fields("query_labels"), of_items = fields("item_labels");
        if (!labels.is_none()) {
            problem.query_labels = nb::cast<Matrix<const std::uint64_t>>(labels);
            problem.item_labels = nb::cast<Matrix<const std::uint64_t>>(of_items);
        }
        const nb::object placed = fields("patterns");
        fields.done();
        if (placed.is_none()) return;
        const nb::object query = placed.attr("query"), item = placed.attr("item");
        patterns = {.query = field<Matrix<const std::uint64_t>>(query, "masks"),
                    .item = field<Matrix<const std::uint64_t>>(item, "masks"),
                    .query_table = field<Span<const std::int32_t>>(query, "table"),
                    .item_table = field<Span<const std::int32_t>>(item, "table"),
                    .item_kind = field<Span<const std::int32_t>>(item, "kind"),
                    .zeros = field<bool>(placed, "zeros"),
                    .differences = field<bool>(placed, "differences"),
                    .levels = field<Index>(placed, "levels")};
        problem.patterns = &patterns;
    }

    /// Threads that ask Python now and then whether to go on, and tell it what is done.
    std::unique_ptr<Threads> threads(int n, const nb::callable &poll) {
        return std::make_unique<Threads>(n, [this, poll] {
            const nb::gil_scoped_acquire hold;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            poll(pass.done.load());
        });
    }
};

Queries queries_of(nb::dict from) {
    Queries queries;
    for (auto [number, of_block] : from) queries[nb::cast<std::int64_t>(number)] = numbers_of(of_block);
    return queries;
}

std::vector<Range> ranges_of(nb::handle from) {
    const auto rows = nb::cast<Matrix<const std::int64_t>>(from);
    std::vector<Range> ranges;
    for (Index i = 0; i < rows.rows; ++i)
        ranges.push_back({.start = rows(i, 0), .stop = rows(i, 1), .band = rows(i, 2), .block = rows(i, 3)});
    return ranges;
}

/// The blocks of a shard whose tiles are counted elsewhere.
struct OwnedBlocks {
    OwnedPass &pass;
    Queries queries;
    std::unique_ptr<Threads> threads;
    Pass::Blocks blocks;
};

using QueriesArgument = nb::typed<nb::dict, std::int64_t, nb::object>;
using Poll = nb::typed<nb::callable, void(std::int64_t)>;

const std::atomic<bool> NEVER{false};

template <class T>
nb::object copy_of(const Table<T> &table) {
    Fresh<T, 2> copy({table.rows, table.columns});
    std::copy(table.memory.begin(), table.memory.end(), copy.data.get());
    return nb::cast(std::move(copy));
}

/// The groups of `group_exactly` of relevant entries, which are put into order; `exact` is None where no bound is above
/// 0.
nb::object group_of_entries(const OwnedScores &scores, nb::object exact, Int64s queries, const Entries &entries) {
    Problem problem{};
    problem.scores = &scores.scores;
    problem.exact = exact.is_none() ? nullptr : &nb::cast<OwnedExact &>(exact).pairs;
    TieGroups groups;
    released([&] { group_exactly(problem, queries, entries, NEVER, groups, false); });
    return nb::make_tuple(array_of(groups.n_group), copy_of(groups.score), copy_of(groups.bound), copy_of(groups.total),
                          copy_of(groups.columns), copy_of(groups.of_entry));
}

/// Work through queries along ranges of columns.
template <auto work>
void in_ranges(OwnedPass &self, QueriesArgument queries, nb::object ranges, const PackedGroups &groups, int threads,
               Poll poll) {
    const auto of_blocks = queries_of(queries);
    const auto made = ranges_of(ranges);
    const auto workers = self.threads(threads, poll);
    released([&] { (self.pass.*work)(of_blocks, made, groups, *workers); });
}

}  // namespace

void bind_pass(nb::module_ &m);

void bind_pass(nb::module_ &m) {
    using Pairs = Span<const std::int64_t>;
    using Released = nb::call_guard<nb::gil_scoped_release, FloatMode>;
    nb::class_<OwnedScores>(m, "Scores")
        .def(nb::init<nb::object>(), "description"_a)
        .def(
            "pair_scores",
            [](const OwnedScores &self, Pairs queries, Pairs columns) {
                Fresh<double> out({static_cast<Index>(queries.size())});
                self.scores.pair_scores(queries, columns, out);
                return out;
            },
            "queries"_a, "columns"_a, Released())
        .def(
            "pair_bounds",
            [](const OwnedScores &self, Pairs queries, Pairs columns, Span<const double> scores) {
                Fresh<double> out({static_cast<Index>(queries.size())});
                self.scores.pair_bounds(queries, columns, scores, out);
                return out;
            },
            "queries"_a, "columns"_a, "scores"_a, Released())
        .def(
            "tile",
            [](const OwnedScores &self, int level, Pairs queries, Pairs columns) -> nb::object {
                const auto make = [&]<class T>(T) {
                    Fresh<T, 2> out({static_cast<Index>(queries.size()), static_cast<Index>(columns.size())});
                    released([&] { self.scores.tile<T>(level, queries, columns, out); });
                    return nb::cast(std::move(out));
                };
                return self.scores.levels[static_cast<std::size_t>(level)].wide ? make(double{}) : make(float{});
            },
            "level"_a, "queries"_a, "columns"_a)
        .def(
            "errors",
            [](const OwnedScores &self, int level, Pairs queries, Index band) {
                Fresh<double, 2> out({static_cast<Index>(queries.size()), 3});
                for (std::size_t i = 0; i < queries.size(); ++i) {
                    const Errors errors =
                        self.scores.errors(level, queries[i], self.scores.bands[static_cast<std::size_t>(band)]);
                    double *to = &out.data[3 * i];
                    to[0] = errors.absolute, to[1] = errors.relative, to[2] = errors.tiny;
                }
                return out;
            },
            "level"_a, "queries"_a, "band"_a, Released());
    nb::class_<OwnedExact>(m, "ExactPairs")
        .def(nb::init<std::string, nb::object, nb::object, std::string>(), "kind"_a, "query"_a, "item"_a, "without"_a = "")
        .def(
            "closeness",
            [](const OwnedExact &self, Pairs queries, Pairs items) { return self.pairs.closeness(queries, items, NEVER); },
            "queries"_a, "items"_a, Released());
    m.def("group_exactly", &group_of_entries, "scores"_a, "exact"_a.none(), "queries"_a, "entries"_a);
    nb::class_<OwnedBlocks>(m, "Blocks")
        .def(
            "__getitem__",
            [](OwnedBlocks &self, std::size_t place) {
                if (place >= self.blocks.size()) throw nb::index_error();
                return std::next(self.blocks.begin(), static_cast<Index>(place))->second;
            },
            "place"_a, nb::keep_alive<0, 1>())
        .def(
            "collect",
            [](OwnedBlocks &self, bool all, const PackedGroups &groups) {
                released([&] { self.pass.pass.collect(self.blocks, all, groups, *self.threads); });
            },
            "all"_a, "groups"_a);
    nb::class_<Block>(m, "Block")
        .def_prop_ro("queries", [](const Block &self) { return array_of({self.queries().begin(), self.queries().end()}); })
        .def_prop_ro("n_counter", [](Block &self) { return self.counters().size(); })
        .def_prop_ro("excluded",
                     [](const Block &self) {
                         const auto from = self.excluded();
                         Fresh<std::int32_t, 2> out({from.rows, from.columns});
                         for (Index i = 0; i < from.rows; ++i)
                             std::copy_n(from.row(i), from.columns, out.data.get() + i * from.columns);
                         return out;
                     })
        .def(
            "edges",
            [](Block &self, std::size_t counter, int level, Index band) {
                const auto table = released([&] { return self.counters()[counter]->edges<double>(level, band); });
                Fresh<double, 2> out({table->edges.rows, std::max<Index>(1, table->n_edge)});
                for (Index i = 0; i < table->edges.rows; ++i)
                    std::copy_n(table->edges.row(i), out.shape[1], out.data.get() + i * out.shape[1]);
                return nb::make_tuple(nb::cast(std::move(out)), table->closed);
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
            [](Block &self, std::size_t counter, Pairs rows, Pairs columns, Span<const double> scores, Pairs guess) {
                const std::lock_guard hold(self.counting);
                auto tallies = self.own_tallies();
                self.counters()[counter]->place({rows.begin(), rows.end()}, {columns.begin(), columns.end()},
                                                {scores.begin(), scores.end()}, {guess.begin(), guess.end()},
                                                self.problem().weights_of(columns), tallies[counter]);
                self.decide(tallies);
            },
            "counter"_a, "rows"_a, "columns"_a, "scores"_a, "guess"_a, Released());
    m.def("start_record", &record::start, "threads"_a);
    m.def("stop_record", [] {
        const std::vector<record::Part> parts = record::stop();
        Fresh<double, 2> rows({static_cast<Index>(parts.size()), 6});
        double *to = rows.data.get();
        for (const record::Part &part : parts)
            for (double number : {static_cast<double>(part.call), static_cast<double>(part.piece),
                                  static_cast<double>(part.after), static_cast<double>(part.lock), part.free, part.held})
                *to++ = number;
        return rows;
    });
    nb::class_<OwnedPass>(m, "Pass")
        .def(nb::init<nb::object>(), "description"_a)
        .def_prop_rw(
            "done", [](OwnedPass &self) { return self.pass.done.load(); },
            [](OwnedPass &self, std::int64_t done) { self.pass.done = done; })
        .def(
            "count",
            [](OwnedPass &self, nb::typed<nb::list, nb::object> shards, bool all, const PackedGroups &groups, int threads,
               Poll poll) {
                std::vector<Shard> made;
                for (nb::handle shard : shards) {
                    made.push_back({queries_of(nb::cast<nb::dict>(shard[0])), {}});
                    for (nb::handle section : nb::cast<nb::list>(shard[1]))
                        made.back().sections.push_back({ranges_of(section[0]), numbers_of(section[1])});
                }
                const auto workers = self.threads(threads, poll);
                released([&] { self.pass.count(made, all, groups, *workers); });
            },
            "shards"_a, "all"_a, "groups"_a, "threads"_a, "poll"_a)
        .def("stream", &in_ranges<&Pass::stream>, "queries"_a, "ranges"_a, "groups"_a, "threads"_a, "poll"_a)
        .def("sort", &in_ranges<&Pass::sort>, "queries"_a, "ranges"_a, "groups"_a, "threads"_a, "poll"_a)
        .def(
            "relevant_items",
            [](const OwnedPass &self, Pairs queries) {
                const RelevantItems found = released([&] { return relevant_items(self.problem, queries); });
                return nb::make_tuple(copy_of(found.columns), copy_of(found.count), copy_of(found.irrelevant),
                                      copy_of(found.score), copy_of(found.bound));
            },
            "queries"_a)
        .def(
            "make",
            [](OwnedPass &self, QueriesArgument queries, int threads, Poll poll) {
                auto made = std::make_unique<OwnedBlocks>(self, queries_of(queries), nullptr, Pass::Blocks());
                made->threads = self.threads(threads, poll);
                const nb::gil_scoped_release release;
                made->blocks = self.pass.make(made->queries, *made->threads);
                return made.release();
            },
            "queries"_a, "threads"_a, "poll"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>());
}
