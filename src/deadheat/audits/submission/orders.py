"""What a plain stable sort makes of an order of the samples: in come embeddings, labels and orders, out go values.

Where items tie, such a sort leaves them in the order of the file. `deadheat.exploit` looks for the orders that gain or
lose most; here it is those that a file really comes in: as it is, reversed, and shuffled. Whole rankings are dear, so
that for many items a sample of the queries has to do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat import inputs
from deadheat.analyses.exploit.search import random_orders
from deadheat.audits.submission import limits
from deadheat.counting import CountingOptions
from deadheat.counting.ranking import Ranked, Rankings
from deadheat.inputs import Pair
from deadheat.inputs.sources import Array, Source
from deadheat.profiles import TieProfile
from deadheat.reports import Report, Result
from deadheat.reports.averaging import Averaging
from deadheat.reports.evaluating import report_on
from deadheat.reports.options import SummaryOptions
from deadheat.reports.result import results_of
from deadheat.support.arrays import Bool, Float64, Int64

_SAMPLED, _SHUFFLED = 3, 4  # streams of random numbers, apart from those of `deadheat.exploit`


@dataclass(frozen=True, eq=False)
class PlainSorts:
    """Values of each measure for orders of the samples; fractions.

    Where not all queries were ranked they are estimates: the expected value for all queries, which is known exactly,
    plus what the order makes of the expected value for some.

    Attributes
    ----------
    ranked : Report
        Lower, expected and upper of the queries that were ranked.
    file, backwards : mapping of str to float
        By measure, in the order of the file and in reverse.
    shuffled : mapping of str to list of float
        In random orders.
    sampled : bool
        Whether not all queries were ranked.
    """

    ranked: Report
    file: dict[str, float]
    backwards: dict[str, float]
    shuffled: dict[str, list[float]]
    sampled: bool

    def reached(self, measure: str) -> list[float]:
        """The values in all the orders."""
        return [self.file[measure], self.backwards[measure], *self.shuffled[measure]]

    def moved(self, measure: str, expected: float) -> float:
        """How far from the expected value the order of the file is, or its reverse."""
        return max(abs(values[measure] - expected) for values in (self.file, self.backwards))

    def by_chance(self, measure: str, expected: float) -> float:
        """How far from it an order that means nothing is: the standard deviation, as far as it is known."""
        drawn = np.sqrt(np.mean(np.square(np.array(self.shuffled[measure]) - expected)))
        return float(np.fmax(self.ranked[measure].std, drawn))


def plain_sorts(pair: Pair, report: Report, options: CountingOptions, summary: SummaryOptions, seed: int) -> PlainSorts:
    """What a stable sort gives for embeddings that have this report, in the order of the file and in others."""
    ranker = _Ranker.of(pair, options, _some_queries(report.profile, pair, seed))
    n_gallery = len(ranker.gallery_codes)
    shuffled = map(np.argsort, random_orders(n_gallery, limits.SHUFFLES, seed, _SHUFFLED))
    values = ranker.values([np.arange(n_gallery), np.arange(n_gallery)[::-1], *shuffled], summary, options.threads)
    labels = pair.query.labels[ranker.queries]
    ranked = report_on(report.profile[ranker.queries], summary, labels=labels, threads=options.threads)
    sampled = ranked.n_query < report.n_query
    means: dict[str, list[float]] = {}
    for name, rows in values.items():
        means[name] = [ranked.averaging.mean(row) for row in rows]
        if sampled:
            means[name] = [_of_all(mean, ranked[name], report[name]) for mean in means[name]]
    file, backwards = ({name: each[k] for name, each in means.items()} for k in (0, 1))
    return PlainSorts(ranked, file, backwards, {name: each[2:] for name, each in means.items()}, sampled)


def _of_all(mean: float, ranked: Result, every: Result) -> float:
    """The mean over all queries, from that over some of them."""
    return min(max(every.expected + (mean - ranked.expected), every.lower), every.upper)


def all_zero(pair: Pair) -> Pair:
    """The same queries and gallery with embeddings that know nothing."""
    query, gallery = (
        None if samples is None else samples._replace(embeddings=Array(np.zeros((len(samples.labels), 1), np.float32)))
        for samples in (pair.query, pair.gallery)
    )
    assert query is not None
    return pair._replace(query=query, gallery=gallery)


def _some_queries(profile: TieProfile, pair: Pair, seed: int) -> Int64:
    """All queries, or a sample of those that have a relevant item."""
    n_gallery = profile.n_query if pair.gallery is None else len(pair.gallery.labels)
    most = max(limits.FEWEST_QUERIES, limits.SORTED_ITEMS // n_gallery)
    if profile.n_query <= most:
        return np.arange(profile.n_query)
    asking = np.flatnonzero(profile.n_relevant)
    (order,) = random_orders(len(asking), 1, seed, _SAMPLED)
    return np.sort(asking[order[:most]])


@dataclass(frozen=True, eq=False)
class _Ranker:
    """Some queries, and who is ranked for them."""

    queries: Int64
    query_codes: Int64
    gallery_codes: Int64
    rankings: Rankings

    @classmethod
    def of(cls, pair: Pair, options: CountingOptions, queries: Int64) -> _Ranker:
        items = pair.query if pair.gallery is None else pair.gallery
        codes = inputs.label_codes(pair.query.labels, items.labels)
        rankings = Rankings(
            _taken(pair.query.embeddings, queries), items.embeddings, distance=options.distance, ties=options.rule,
            junk=_junk(pair, options, queries), exclude=_own_rows(pair, options, queries), threads=options.threads,
        )  # fmt: skip
        return cls(queries, codes[0][queries], codes[1], rankings)

    def values(self, places: list[Int64], summary: SummaryOptions, threads: int) -> dict[str, list[Float64]]:
        """By measure, for each order the values of all queries, (n,); an order says the place of each item."""
        values = {name: [np.empty(len(self.queries)) for _ in places] for name in summary.measures}
        for block in self.rankings:
            for number, place in enumerate(places):
                profile = _without_ties(self._relevant(block, place), block.group >= 0)
                averaging = Averaging("query", profile.n_query)
                found = results_of(profile, summary.measures, summary.singletons, averaging, threads)
                for name, result in found.items():
                    values[name][number][block.queries] = result.per_query.lower
        return values

    def _relevant(self, block: Ranked, place: Int64) -> Bool:
        """Whether the items at each rank are relevant, once every tie group is in the order of `place`."""
        ranked = block.items >= 0
        relevant = ranked & (self.gallery_codes[block.items] == self.query_codes[block.queries][:, None])
        n = len(place)
        keys = np.where(ranked, 2 * (block.group * n + place[block.items]) + relevant, 2 * n * n)
        return np.asarray(np.sort(keys, axis=1) & 1, dtype=np.bool_)


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


def _junk(pair: Pair, options: CountingOptions, queries: Int64) -> Bool | None:
    """What is junk to some queries: (n_gallery,) or (n, n_gallery)."""
    n_gallery = len((pair.query if pair.gallery is None else pair.gallery).labels)
    junk = inputs.junk_mask(options.junk, len(pair.query.labels), n_gallery)
    return junk if junk is None or junk.ndim == 1 else junk[queries]


def _own_rows(pair: Pair, options: CountingOptions, queries: Int64) -> Int64 | None:
    """The row of the gallery that each of some queries is, -1 for none."""
    if pair.gallery is None:
        return queries
    return None if options.exclude is None else np.asarray(options.exclude[queries])


def of_zeros(options: CountingOptions) -> CountingOptions:
    """How embeddings that are all zero are ranked: any distance ties all of them, and Hamming's takes no numbers."""
    return replace(options, distance="euclidean")
