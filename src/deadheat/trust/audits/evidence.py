"""What the checks of a submission judge: every pass over the data that an audit needs, made once.

pair ──> exact report ──> the same once scores are rounded, and once near ties count as ties
                      ──> what a plain sort gives, if any tie affects the report
     ──> labels ──> chance: embeddings that are all zero, and random ones drawn
     ──> rows
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.exploit import RandomBaseline, random_baseline
from deadheat.analyses.orders import random_orders
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.profiling import profile_pair
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.registry import make as tie_rule
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.errors import QueryInGalleryWarning
from deadheat.inputs import arrays
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.reports.averaging import Averaging, SummaryOptions
from deadheat.reports.evaluating import evaluate_pair, report_on
from deadheat.reports.report import Report
from deadheat.reports.result import results_of
from deadheat.reports.tables import has_ties
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.trust.audits import thresholds
from deadheat.trust.audits.rows import Rows, look_at

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
        """The runs of labels by number."""
        n, sizes = len(codes), np.bincount(codes)
        equal = float((sizes * (sizes - 1)).sum()) / n  # neighbours, on average
        return cls(n, int(np.count_nonzero(sizes)), 1 + int(np.count_nonzero(np.diff(codes))), n - equal)

    @property
    def order(self) -> float:
        """0 for as many runs as a random order has, 1 for classes one after the other; NaN where these are the same."""
        most = self.likely - self.n_class
        return (self.likely - self.n_run) / most if most > 0 else math.nan

    @property
    def found(self) -> bool:
        """Whether classes are together as they are not by chance."""
        equal, likely = self.n - self.n_run, self.n - self.likely  # equal neighbours
        by_chance = likely + thresholds.RUNS_BEYOND_CHANCE * math.sqrt(likely)
        return self.order >= thresholds.IN_RUNS and equal > by_chance


@dataclass(frozen=True, eq=False)
class PlainSorts:
    """Values of each measure for orders of the samples; fractions.

    Where not all queries were ranked they are estimates: the expected value for all queries, which is known exactly,
    plus the effect of the order on the expected value for some.
    """

    ranked: Report  # of the queries that were ranked
    file: dict[str, float]  # by measure, in the order of the file
    backwards: dict[str, float]
    shuffled: dict[str, list[float]]  # in random orders
    sampled: bool  # not all queries were ranked

    def moved(self, measure: str, expected: float) -> float:
        """How far from the expected value the order of the file is, or its reverse."""
        return max(abs(values[measure] - expected) for values in (self.file, self.backwards))

    def by_chance(self, measure: str, expected: float) -> float:
        """How far from it an order that means nothing is: the standard deviation, as far as it is known."""
        drawn = np.sqrt(np.mean(np.square(np.array(self.shuffled[measure]) - expected)))
        return float(np.fmax(self.ranked[measure].std, drawn))


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of a submission."""

    pair: Pair
    options: CountingOptions
    report: Report  # with exact ties
    rounded: dict[str, Report] = field(repr=False)  # by type, with scores rounded to it
    eps: float  # the precision of float32 as a difference of distances, for rows of this length; 0 for bits
    near: Report | None = field(repr=False)  # with that as a tolerance: bounds alone
    chance: Report = field(repr=False)  # on embeddings that know nothing: every ranking is equally likely
    draws: RandomBaseline | None  # of the first measure; None where that would take too long or has no such mean
    sorts: PlainSorts | None  # what the order of the samples makes of the measures, where a tie affects any of them
    zero_sorts: PlainSorts | None  # what it makes of embeddings that are all zero, where labels are in some order
    runs: Runs  # how the labels of what is ranked follow each other in the file
    parts: dict[str, Rows] = field(repr=False)  # "embeddings" and, where there is one, "gallery"

    @property
    def headline(self) -> str:
        """The first measure, which is judged against chance."""
        return self.report.measures[0]


def collect(pair: Pair, options: CountingOptions, summary: SummaryOptions, seed: int) -> Evidence:
    """Make all passes; nothing is printed, and nothing warned of."""

    def report_of(profile: TieProfile) -> Report:
        labels, distance = pair.query.labels, options.distance
        return report_on(profile, summary, labels=labels, distance=distance, threads=options.threads)

    options = options.fitted(pair)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryInGalleryWarning)  # which is a finding
        report = evaluate_pair(pair, options, summary)
    affected = any(map(has_ties, report.values()))
    chance = report_of(_all_tied(report.profile))
    gallery = pair.query if pair.gallery is None else pair.gallery
    runs = Runs.of(input_labels.label_codes(gallery.labels)[0])
    parts = {
        name: look_at(samples.embeddings, input_labels.label_codes(samples.labels)[0], options.distance)
        for name, samples in (("embeddings", pair.query), ("gallery", pair.gallery))
        if samples is not None
    }
    eps = _precision(options.distance, parts)
    near = profile_pair(pair, replace(options, rule=Tolerance(eps))) if 0 < eps < math.inf else None
    return Evidence(
        pair=pair,
        options=options,
        report=report,
        rounded={dtype: report_of(profile_pair(pair, replace(options, rule=tie_rule(dtype)))) for dtype in DTYPES},
        eps=eps,
        near=None if near is None else report_of(near),
        chance=chance,
        draws=_draws(pair, len(gallery.labels), options, summary, seed),
        sorts=plain_sorts(pair, report, options, summary, seed) if affected else None,
        zero_sorts=plain_sorts_of_zeros(pair, chance, options, summary, seed) if runs.found else None,
        runs=runs,
        parts=parts,
    )


def _all_tied(profile: TieProfile) -> TieProfile:
    """The profile of embeddings that are all zero, for the same queries, gallery and labels."""
    with_relevant = profile.n_relevant > 0
    zero = np.zeros(np.count_nonzero(with_relevant), dtype=np.int64)
    return TieProfile(
        np.concatenate([[0], np.cumsum(with_relevant)]), zero, zero, profile.n_ranked[with_relevant],
        profile.n_relevant[with_relevant], profile.n_ranked, profile.n_relevant, check=False,
    )  # fmt: skip


def _draws(
    pair: Pair, n_gallery: int, options: CountingOptions, summary: SummaryOptions, seed: int
) -> RandomBaseline | None:
    """Random embeddings, as many as take a moment; only for plain means over queries, and where all is ranked."""
    draws = min(thresholds.MOST_DRAWS, thresholds.DRAWN_PAIRS // (len(pair.query.labels) * n_gallery))
    all_ranked = options.junk is None and options.exclude is None
    usual = all_ranked and (summary.singletons, summary.average) == ("skip", "query")
    if draws < thresholds.FEWEST_DRAWS or not usual:
        return None
    gallery_labels = None if pair.gallery is None else pair.gallery.labels
    return random_baseline(
        pair.query.labels, gallery_labels, draws=draws, measure=summary.measures[0], seed=seed, threads=options.threads,
        distance="cosine" if options.distance == "hamming" else cast(DistanceName, options.distance),
    )  # fmt: skip


def _precision(distance: str, parts: dict[str, Rows]) -> float:
    """The precision of float32 as a difference of distances; 0 for bits."""
    query, gallery = parts["embeddings"].length, parts.get("gallery", parts["embeddings"]).length
    scales = {"cosine": 1.0, "inner_product": query * gallery, "hamming": 0.0}
    return thresholds.PRECISION * scales.get(distance, max(query, gallery))


# ---------------------------------------------------------------------------------------------------------------------
# Plain stable sorts leave tied items in the order of the file. `deadheat.exploit` looks for the orders that gain or
# lose most; here it is those that a file really comes in: as it is, reversed, and shuffled. Whole rankings are
# expensive, so that for many items only a sample of the queries is ranked.


def plain_sorts(pair: Pair, report: Report, options: CountingOptions, summary: SummaryOptions, seed: int) -> PlainSorts:
    """What a stable sort gives for embeddings that have this report, in the order of the file and in others."""
    items = pair.query if pair.gallery is None else pair.gallery
    n_gallery = len(items.labels)
    queries = _some_queries(report.profile, n_gallery, seed)
    own = queries if pair.gallery is None else None if options.exclude is None else np.asarray(options.exclude[queries])
    junk = arrays.junk_mask(options.junk, len(pair.query.labels), n_gallery)
    rankings = Rankings(
        _taken(pair.query.embeddings, queries), items.embeddings, distance=options.distance, ties=options.rule,
        junk=junk if junk is None or junk.ndim == 1 else junk[queries], exclude=own, threads=options.threads,
    )  # fmt: skip
    query_codes, codes = input_labels.label_codes(pair.query.labels, items.labels)
    shuffled = map(np.argsort, random_orders(n_gallery, thresholds.SHUFFLES, seed, _SHUFFLED))
    places = [np.arange(n_gallery), np.arange(n_gallery)[::-1], *shuffled]
    values = _values_of_queries(rankings, query_codes[queries], codes, places, summary, options.threads)
    ranked = report_on(report.profile[queries], summary, labels=pair.query.labels[queries], threads=options.threads)
    sampled = ranked.n_query < report.n_query
    means: dict[str, list[float]] = {}
    for name, rows in values.items():
        means[name] = [ranked.averaging.mean(row) for row in rows]
        if sampled:
            every, some = report[name], ranked[name].expected
            means[name] = [min(max(every.expected + (m - some), every.lower), every.upper) for m in means[name]]
    file, backwards = ({name: each[k] for name, each in means.items()} for k in (0, 1))
    return PlainSorts(ranked, file, backwards, {name: each[2:] for name, each in means.items()}, sampled)


def plain_sorts_of_zeros(
    pair: Pair, chance: Report, options: CountingOptions, summary: SummaryOptions, seed: int
) -> PlainSorts:
    """The same for embeddings that are all zero, whose report is `chance`."""

    def zeros(samples: Samples[Source]) -> Samples[Source]:
        return samples._replace(embeddings=Array(np.zeros((len(samples.labels), 1), np.float32)))

    empty = pair._replace(query=zeros(pair.query), gallery=None if pair.gallery is None else zeros(pair.gallery))
    # Any distance ties all of them, and Hamming's takes no numbers.
    return plain_sorts(empty, chance, replace(options, distance="euclidean"), summary, seed)


def _some_queries(profile: TieProfile, n_gallery: int, seed: int) -> Int64:
    """All queries, or a sample of those that have a relevant item."""
    most = max(thresholds.FEWEST_QUERIES, thresholds.SORTED_ITEMS // n_gallery)
    if profile.n_query <= most:
        return np.arange(profile.n_query)
    with_relevant = np.flatnonzero(profile.n_relevant)
    (order,) = random_orders(len(with_relevant), 1, seed, _SAMPLED)
    return np.sort(with_relevant[order[:most]])


def _values_of_queries(
    rankings: Rankings, query_codes: Int64, codes: Int64, places: list[Int64], summary: SummaryOptions, threads: int
) -> dict[str, list[Float64]]:
    """By measure, for each order the values of all queries, (n,); an order gives the place of each item."""
    values = {name: [np.empty(len(query_codes)) for _ in places] for name in summary.measures}
    n = len(codes)
    for block in rankings:
        ranked = block.items >= 0
        relevant = ranked & (codes[block.items] == query_codes[block.queries][:, None])
        for number, place in enumerate(places):
            keys = np.where(ranked, 2 * (block.group * n + place[block.items]) + relevant, 2 * n * n)
            sorted_relevant = np.asarray(np.sort(keys, axis=1) & 1, dtype=np.bool_)
            profile = _without_ties(sorted_relevant, block.group >= 0)
            averaging = Averaging("query", profile.n_query)
            found = results_of(profile, summary.measures, summary.singletons, averaging, threads)
            for name, result in found.items():
                values[name][number][block.queries] = result.per_query.lower
    return values


def _without_ties(relevant: Bool, ranked: Bool) -> TieProfile:
    """The profile of rankings that are known throughout, (n, n_gallery)."""
    query, rank = np.nonzero(relevant)
    n_relevant = relevant.sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(n_relevant)])
    one = np.ones(len(rank), dtype=np.int64)
    before = np.arange(len(rank)) - offsets[query]
    return TieProfile(offsets, rank, before, one, one, ranked.sum(axis=1), n_relevant, check=False)


def _taken(source: Source, queries: Int64) -> NDArray[np.generic]:
    """Some rows, in the type in which they are kept: binary codes stay such."""
    rows = source.take(queries)
    return rows if source.stored.kind == "f" else rows.astype(source.stored)
