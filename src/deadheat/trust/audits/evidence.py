"""The evidence for the checks of a submission: every pass over the data that an audit needs, made once.

task ──> exact report ──> the same with rounded scores, and with near ties as ties
                      ──> values of a plain sort, if any tie affects the report
     ──> labels ──> chance: embeddings that are all zero, and random ones drawn
     ──> rows, read in pieces: which are zero, faint, constant or equal; dimensions
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.orders import Model, random_orders
from deadheat.analyses.random_baseline import RandomBaseline, random_baseline
from deadheat.engine.count import count_each
from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.registry import find
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task, with_rows
from deadheat.engine.ties.rounded import rule_of
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import report_of, report_on
from deadheat.reports.report import Report
from deadheat.reports.tables import has_ties
from deadheat.support.arrays import Bool, Int64
from deadheat.trust.audits import thresholds
from deadheat.trust.audits.file_order import Nearness, nearness, row_numbers, taken

DTYPES = ("float32", "float16", "bfloat16")  # of scores, as systems serve them
_SAMPLED, _SHUFFLED = 3, 4  # streams of random numbers, other than those of `deadheat.exploit`


@dataclass(frozen=True)
class Runs:
    """Runs of equal labels in a file.

    Examples
    --------
    >>> Runs.of(np.array([0, 0, 1, 1, 1, 0]))
    Runs(n=6, n_class=2, n_run=3, likely=4.0)
    """

    n: int
    n_class: int
    n_run: int
    likely: float  # the runs that a random order has on average

    @classmethod
    def of(cls, codes: Int64) -> Runs:
        """Count the runs of labels, given by number."""
        n, sizes = len(codes), np.bincount(codes)
        equal = float((sizes * (sizes - 1)).sum()) / n  # neighbours, on average
        return cls(n, int(np.count_nonzero(sizes)), 1 + int(np.count_nonzero(np.diff(codes))), n - equal)

    @property
    def order(self) -> float:
        """Sortedness: 0 for as many runs as by chance, 1 for classes one after the other; NaN where these are equal."""
        most = self.likely - self.n_class
        return (self.likely - self.n_run) / most if most > 0 else math.nan

    @property
    def found(self) -> bool:
        """True if equal labels are neighbours more often than by chance."""
        equal, likely = self.n - self.n_run, self.n - self.likely  # equal neighbours
        by_chance = likely + thresholds.RUNS_BEYOND_CHANCE * math.sqrt(likely)
        return self.order >= thresholds.IN_RUNS and equal > by_chance


@dataclass(frozen=True, eq=False)
class PlainSorts:
    """Values of each measure for orders of the samples; fractions.

    If not all queries were ranked, they are estimates: the expected value over all queries, which is known exactly,
    plus the effect of the order on the ranked queries, compared with their expected value.
    """

    ranked: Report  # of the queries that were ranked
    file: dict[str, float]  # by measure, in the order of the file
    backwards: dict[str, float]
    shuffled: dict[str, list[float]]  # in random orders
    sampled: bool  # not all queries were ranked

    def moved(self, measure: str, expected: float) -> float:
        """Return the distance from the expected value of the order of the file or of its reverse, the larger one."""
        return max(abs(values[measure] - expected) for values in (self.file, self.backwards))

    def by_chance(self, measure: str, expected: float) -> float:
        """Return the standard deviation of a random order from the expected value, as far as it is known."""
        drawn = np.sqrt(np.mean(np.square(np.array(self.shuffled[measure]) - expected)))
        return float(np.fmax(self.ranked[measure].std, drawn))


@dataclass(frozen=True, eq=False)
class Dimensions:
    """Properties of the dimensions, (dim,) each; all but `dead` come from a sample of distinct rows."""

    dead: Bool  # all rows have one number
    levels: Int64  # distinct numbers other than zero
    filled: Int64  # rows with a number other than zero
    at_limit: NDArray[np.float64]  # the larger share of those with the largest or smallest number, unless that is zero
    n_sampled: int

    @property
    def few_levels(self) -> Bool:
        """True for dimensions with so few distinct numbers that each occurs several times, (dim,)."""
        repeated = self.filled >= thresholds.SEEN_AGAIN * self.levels
        return np.asarray(~self.dead & repeated & (self.levels < thresholds.FEW_LEVELS))

    @property
    def quantised(self) -> bool:
        """True if most dimensions that are not dead have few levels."""
        live = np.count_nonzero(~self.dead)
        return bool(live and np.count_nonzero(self.few_levels) >= thresholds.LEVEL_DIMENSIONS * live)


@dataclass(frozen=True, eq=False)
class RowProperties:
    """Properties of the rows of one set of embeddings; arrays hold the numbers of rows."""

    n: int
    dim: int
    zero: Int64  # throughout
    faint: Int64  # not zero, but shorter than the precision of float32 times the mean length
    constant: Int64  # one number throughout other than zero
    across: Int64  # with an equal row of another class; zero rows do not count
    inside: Int64  # with an equal row of their own class
    n_distinct: int
    largest: int  # how many rows the most frequent one stands for
    length: float  # the mean norm (of city block, or else Euclid's), to the nearest power of two
    dimensions: Dimensions


@dataclass(frozen=True, eq=False)
class Evidence:
    """All facts about a submission that its checks use."""

    task: Task
    report: Report  # with exact ties
    rounded: dict[str, Report] = field(repr=False)  # by type, with scores rounded to it
    eps: float  # the precision of float32 as a difference of distances, for rows of this length; 0 for bits
    near: Report | None = field(repr=False)  # with that as a tolerance: bounds alone
    chance: Report = field(repr=False)  # on embeddings that know nothing: every ranking is equally likely
    draws: RandomBaseline | None  # of the first measure; None where that would take too long or has no such mean
    sorts: PlainSorts | None  # what the order of the samples makes of the measures, where a tie affects any of them
    zero_sorts: PlainSorts | None  # what it makes of embeddings that are all zero, where labels are in some order
    runs: Runs  # how the labels of what is ranked follow each other in the file
    numbered: Report | None = field(repr=False)  # on row numbers as embeddings, where labels are in some order
    nearness: Nearness | None  # of neighbouring rows there
    parts: dict[str, RowProperties] = field(repr=False)  # "embeddings" and, where there is one, "gallery"

    @property
    def headline(self) -> str:
        """The first measure, which is compared with chance."""
        return self.report.measures[0]


def collect(task: Task, summary: SummaryOptions, seed: int) -> Evidence:
    """Make all passes over the data, without printing or warning, and return the evidence."""
    if not task.options.rule.exact_only:
        task = task.replace(ties="exact")
    pair, distance = task.pair, task.options.distance

    def report_with(profile: TieProfile) -> Report:
        return report_on(profile, summary, labels=task.labels, distance=distance, threads=task.threads)

    report = report_of(task, summary)
    affected = any(map(has_ties, report.values()))
    chance = report_with(_all_tied(report.profile))
    gallery = pair.query if pair.gallery is None else pair.gallery
    runs = Runs.of(_classes(gallery))
    parts = {
        name: look_at(samples.embeddings, _classes(samples), distance)
        for name, samples in (("embeddings", pair.query), ("gallery", pair.gallery))
        if samples is not None
    }
    eps = _precision(distance, parts)
    rules = [*map(rule_of, DTYPES), *([Tolerance(eps)] if 0 < eps < math.inf else [])]
    settings = replace(task.options, checkpoint=None)  # which is of one pass, that of exact ties
    reports = [report_with(profile) for profile in count_each(pair, settings, rules)]
    return Evidence(
        task=task,
        report=report,
        rounded=dict(zip(DTYPES, reports, strict=False)),
        eps=eps,
        near=reports[len(DTYPES)] if len(reports) > len(DTYPES) else None,
        chance=chance,
        draws=_draws(task, len(gallery.labels), summary, seed),
        sorts=plain_sorts(task, report, summary, seed) if affected else None,
        zero_sorts=plain_sorts_of_zeros(task, chance, summary, seed) if runs.found else None,
        runs=runs,
        numbered=report_with(row_numbers(task).profile) if runs.found else None,
        nearness=nearness(gallery.embeddings, _classes(gallery), cast(DistanceName, distance), task.threads)
        if runs.found
        else None,
        parts=parts,
    )


def _classes(samples: Samples[Source]) -> Int64:
    """Return the class of each row by number; where a row has several labels, equal sets of them are a class."""
    return LabelRelevance(samples.labels, samples.labels).classes.astype(np.int64)


def _all_tied(profile: TieProfile) -> TieProfile:
    """Return the profile of embeddings that are all zero, for the same queries, gallery and labels."""
    with_relevant = profile.n_relevant > 0
    zero = np.zeros(np.count_nonzero(with_relevant), dtype=np.int64)
    return TieProfile(
        np.concatenate([[0], np.cumsum(with_relevant)]), zero, zero, profile.n_ranked[with_relevant],
        profile.n_relevant[with_relevant], profile.n_ranked, profile.n_relevant, check=False,
    )  # fmt: skip


def _draws(task: Task, n_gallery: int, summary: SummaryOptions, seed: int) -> RandomBaseline | None:
    """Draw random embeddings, as many as take a moment; only for plain means over queries, if all is ranked."""
    pair, options = task.pair, task.options
    draws = min(thresholds.MOST_DRAWS, thresholds.DRAWN_PAIRS // (len(pair.query.labels) * n_gallery))
    all_ranked = options.junk is None and options.exclude is None
    usual = all_ranked and (summary.singletons, summary.average) == ("skip", "query")
    if draws < thresholds.FEWEST_DRAWS or not usual or task.has_several_labels:
        return None
    gallery_labels = None if pair.gallery is None else pair.gallery.labels
    coded = find(options.distance).takes == "bits"
    return random_baseline(
        pair.query.labels, gallery_labels, draws=draws, measure=summary.measures[0], seed=seed, threads=options.threads,
        distance="cosine" if coded or options.distance == "correlation" else cast(DistanceName, options.distance),
    )  # fmt: skip


def _precision(distance: str, parts: dict[str, RowProperties]) -> float:
    """Return the precision of float32 as a difference of distances; 0 for bits."""
    query, gallery = parts["embeddings"].length, parts.get("gallery", parts["embeddings"]).length
    scales = {"cosine": 1.0, "correlation": 1.0, "inner_product": query * gallery}
    if find(distance).takes == "bits":
        return 0.0
    return thresholds.PRECISION * scales.get(distance, max(query, gallery))


# ---------------------------------------------------------------------------------------------------------------------
# Plain stable sorts leave tied items in the order of the file. `deadheat.exploit` looks for the orders that gain or
# lose most; here it is those that a file really comes in: as it is, reversed, and shuffled. Whole rankings are
# expensive, so that for many items only a sample of the queries is ranked.


def plain_sorts(task: Task, report: Report, summary: SummaryOptions, seed: int) -> PlainSorts:
    """Return the values of a stable sort of embeddings with this report, in the order of the file and in others."""
    pair, options = task.pair, task.options
    items = pair.query if pair.gallery is None else pair.gallery
    n_gallery = len(items.labels)
    queries = _some_queries(report.profile, n_gallery, seed)
    own = queries if pair.gallery is None else None if options.exclude is None else np.asarray(options.exclude[queries])
    junk = options.junk
    if junk is not None and junk.ndim == 2:
        junk = junk[np.ix_(queries, np.arange(n_gallery))]
    rows = taken(pair.query.embeddings, queries)
    rankings = Rankings(rows, items.embeddings, replace(options, junk=junk, exclude=own))
    labels = pair.query.labels[queries]
    model = Model(LabelRelevance(labels, items.labels), False, report.profile[queries], rankings)
    of_classes = None if task.has_several_labels else labels

    def report_with(profile: TieProfile) -> Report:
        return report_on(profile, summary, labels=of_classes, threads=options.threads)

    ranked, as_given = report_with(model.profile), np.arange(n_gallery)
    shuffled = random_orders(n_gallery, thresholds.SHUFFLES, seed, _SHUFFLED)
    sorts = [report_with(model.in_order(order)) for order in (as_given, as_given[::-1], *shuffled)]
    sampled = ranked.n_query < report.n_query
    means: dict[str, list[float]] = {}
    for name in ranked:
        means[name] = [each[name].lower for each in sorts]
        if sampled:
            every, some = report[name], ranked[name].expected
            means[name] = [min(max(every.expected + (m - some), every.lower), every.upper) for m in means[name]]
    file, backwards = ({name: each[k] for name, each in means.items()} for k in (0, 1))
    return PlainSorts(ranked, file, backwards, {name: each[2:] for name, each in means.items()}, sampled)


def plain_sorts_of_zeros(task: Task, chance: Report, summary: SummaryOptions, seed: int) -> PlainSorts:
    """Return the `plain_sorts` of embeddings that are all zero, whose report is `chance`."""

    def zeros(samples: Samples[Source]) -> Samples[Source]:
        return samples._replace(embeddings=Array(np.zeros((len(samples.labels), 1), np.float32)))

    query, gallery = task.pair[:2]
    empty = Pair(zeros(query), None if gallery is None else zeros(gallery))
    # Any distance ties all of them, and those of bits take no numbers.
    zero = with_rows(task, empty, task.options.exclude, distance="euclidean")
    return plain_sorts(zero, chance, summary, seed)


def _some_queries(profile: TieProfile, n_gallery: int, seed: int) -> Int64:
    """Return all queries, or a sample of those that have a relevant item."""
    few = max(1, min(thresholds.FEWEST_QUERIES, thresholds.KEPT_ITEMS // n_gallery))
    most = max(few, thresholds.SORTED_ITEMS // n_gallery)
    if profile.n_query <= most:
        return np.arange(profile.n_query)
    with_relevant = np.flatnonzero(profile.n_relevant)
    (order,) = random_orders(len(with_relevant), 1, seed, _SAMPLED)
    return np.sort(with_relevant[order[:most]])


# ---------------------------------------------------------------------------------------------------------------------
# rows of the embeddings, as numbers


def look_at(source: Source, codes: Int64, distance: str) -> RowProperties:
    """Return the properties of all rows, given their classes by number; under cosine positive multiples are equal."""
    columns = Columns.of(source, distance == "cosine")
    norms, constant, dead = _scanned(source, 1 if distance == "cityblock" else 2)
    zero, mean = norms == 0, float(np.mean(np.ldexp(norms, -20))) * 2.0**20  # a sum that cannot overflow
    column = columns.column_of_item
    of_both, number = np.unique(column * (int(codes.max()) + 1) + codes, return_inverse=True)
    n_equal = np.bincount(column)[column]
    n_of_class = np.bincount(number, minlength=len(of_both))[number]  # of the equal rows
    return RowProperties(
        *source.shape,
        zero=np.flatnonzero(zero),
        faint=np.flatnonzero(~zero & (norms < thresholds.PRECISION * mean)),
        constant=np.flatnonzero(constant & ~zero),
        across=np.flatnonzero((n_equal > n_of_class) & ~zero),
        inside=np.flatnonzero((n_of_class > 1) & ~zero),
        n_distinct=len(columns),
        largest=int(n_equal.max()),
        length=2.0 ** min(1023, round(math.log2(mean))) if 0 < mean < math.inf else mean,
        dimensions=_dimensions(source, columns, dead),
    )


def _scanned(source: Source, order: int) -> tuple[NDArray[np.float64], Bool, Bool]:
    """Return the norms of rows and which rows are constant, (n,) each, and which dimensions are constant, (dim,)."""
    n, dim = source.shape
    norms, constant = np.empty(n), np.empty(n, dtype=np.bool_)
    low, high = np.full(dim, np.inf), np.full(dim, -np.inf)
    for start, rows in source.pieces():
        part = slice(start, start + len(rows))
        peaks = np.abs(rows.astype(np.float64)).max(axis=1)  # no square overflows, or vanishes
        norms[part] = peaks * np.linalg.norm(rows / np.where(peaks, peaks, 1)[:, None], order, axis=1)
        constant[part] = (rows == rows[:, :1]).all(axis=1) if dim > 1 else False
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    return norms, constant, low == high


def _dimensions(source: Source, columns: Columns, dead: Bool) -> Dimensions:
    most = max(1, thresholds.SAMPLE_NUMBERS // source.shape[1])
    n_sampled = min(most, len(columns))
    picked = columns.item_of_column[np.linspace(0, len(columns) - 1, n_sampled).astype(np.int64)]
    values = np.sort(source.take(np.sort(picked)), axis=0)
    first = np.vstack([np.ones((1, values.shape[1]), dtype=np.bool_), values[1:] != values[:-1]])
    filled = values != 0
    at_limit = [np.where(limit != 0, (values == limit).mean(axis=0), 0.0) for limit in (values[0], values[-1])]
    return Dimensions(dead, (first & filled).sum(axis=0), filled.sum(axis=0), np.maximum(*at_limit), n_sampled)
