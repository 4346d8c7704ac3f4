"""What a plain stable sort makes of an order of the samples: in come embeddings, labels and orders, out go values.

Where items tie, such a sort leaves them in the order of the file. `deadheat.exploit` looks for the orders that gain or
lose most; here it is those that a file really comes in: as it is, reversed, and shuffled. Whole rankings are expensive,
so that for many items only a sample of the queries is ranked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.orders import random_orders
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs import arrays, labels
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.reports.averaging import Averaging, SummaryOptions
from deadheat.reports.evaluating import report_on
from deadheat.reports.report import Report
from deadheat.reports.result import results_of
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.trust.audits import thresholds

_SAMPLED, _SHUFFLED = 3, 4  # streams of random numbers, other than those of `deadheat.exploit`


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


def plain_sorts(pair: Pair, report: Report, options: CountingOptions, summary: SummaryOptions, seed: int) -> PlainSorts:
    """What a stable sort gives for embeddings that have this report, in the order of the file and in others."""
    items = pair.query if pair.gallery is None else pair.gallery
    n_gallery = len(items.labels)
    queries = _some_queries(report.profile, n_gallery, seed)
    own = queries if pair.gallery is None else None if options.exclude is None else np.asarray(options.exclude[queries])
    rankings = Rankings(
        _taken(pair.query.embeddings, queries), items.embeddings, distance=options.distance, ties=options.rule,
        junk=_junk(options, queries, len(pair.query.labels), n_gallery), exclude=own, threads=options.threads,
    )  # fmt: skip
    query_codes, codes = labels.label_codes(pair.query.labels, items.labels)
    shuffled = map(np.argsort, random_orders(n_gallery, thresholds.SHUFFLES, seed, _SHUFFLED))
    places = [np.arange(n_gallery), np.arange(n_gallery)[::-1], *shuffled]
    values = _values(rankings, query_codes[queries], codes, places, summary, options.threads)
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


def _values(
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


def _junk(options: CountingOptions, queries: Int64, n_query: int, n_gallery: int) -> Bool | None:
    """What is junk to some queries: (n_gallery,) or (n, n_gallery)."""
    junk = arrays.junk_mask(options.junk, n_query, n_gallery)
    return junk if junk is None or junk.ndim == 1 else junk[queries]
