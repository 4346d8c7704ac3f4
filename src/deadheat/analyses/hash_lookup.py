"""Hash lookup: the items within each Hamming radius of a query, in place of a ranking. No tie decides any of it.

A ball is a set, so that precision, recall and F1 within a radius are one number each, whatever the order of the items
at one distance. They are sums of a histogram of distances for each query, once over all items and once over those that
are relevant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.histograms import each_block
from deadheat.engine.counting.options import Work
from deadheat.engine.task import Task, rows_of
from deadheat.engine.ties.rule import Exact
from deadheat.errors import InvalidValueError, UndefinedError
from deadheat.inputs import codes
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.averaging import Singletons, of_singleton
from deadheat.reports.tables import DIGITS, count, number, plain
from deadheat.reports.unit_values import UnitValues
from deadheat.support import checks
from deadheat.support.arrays import Array, Float64, Int32, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

_BITS_AT_ONCE = 1 << 22  # of codes that are unpacked together
_SHOWN = 4  # radii in the table, from 0
_USUAL = 2  # the radius of publications
_OF_PRECISION = (True, False, True)  # the kind of precision, recall and F1
_TREATED = {
    "skip": "Left out: {} without a relevant item.",
    "zero": "Counted as 0 in these means: {} without a relevant item.",
    "one": "Counted as 100 % in these means: {} without a relevant item.",
    "balanced": "Counted as precision 0, recall 100 % and F1 0 in these means: {} without a relevant item.",
}


class CodeStatistics(NamedTuple):
    """Statistics of the codes in a gallery, without items that are junk to every query.

    Attributes
    ----------
    n_distinct : int
        Buckets of a hash table: different codes.
    largest_bucket : int
        Items of the most frequent code.
    ones : (n_bits,) float64
        The share of items in which each bit is set; 0.5 is balanced.
    largest_correlation : float
        The largest absolute correlation of two bits. **Undefined:** NaN if fewer than two bits vary.
    n_constant : int
        Bits that are equal in all codes, such as those that pad the last byte of packed bits.
    """

    n_code: int
    n_distinct: int
    largest_bucket: int
    ones: Float64
    largest_correlation: float
    n_constant: int


class Lookup(NamedTuple):
    """Precision, recall and F1 of the items within each radius, each (n_bits + 1,) float64."""

    precision: Float64
    recall: Float64
    f1: Float64


@dataclass(frozen=True, eq=False)
class HashLookup(Answer):
    """Precision and recall within each Hamming radius, and what explains them; all values are fractions in [0, 1].

    Attributes
    ----------
    n_bits : int
        Radii are 0 to `n_bits`; the entries of all arrays by radius.
    macro : Lookup
        Means over the queries with a relevant item, and over those without one where `singletons` counts them:
        `precision`, `recall`, `f1`. A query without an item within the radius, an empty ball, has precision 0 and F1 0.
        Precision against recall is the curve over radii.
    micro : Lookup
        Of the items within the radius of all queries with a relevant item together. Where all balls are empty,
        precision is 0.
    n_empty : (n_bits + 1,) int64
        Queries with an empty ball, of those with a relevant item.
    n_query : int
        Queries with a relevant item.
    n_singleton : int
        Queries without one; they count in `macro` alone, and as `singletons` says.
    statistics : CodeStatistics
        Of the gallery.

    Notes
    -----
    `deadheat.compare` takes two of them, of the same queries, and compares the macro means by the values of each query.
    The measures are ``precision within 2``, ``recall within 2`` and ``F1 within 2``, and the same at other radii.
    """

    n_bits: int
    macro: Lookup
    micro: Lookup
    n_empty: Int64
    n_query: int
    n_singleton: int
    statistics: CodeStatistics
    singletons: Singletons
    _balls: Int32 = field(repr=False)  # (n, n_bits + 1), of all queries
    _hits: Int32 = field(repr=False)

    def _unit_values(self) -> UnitValues:
        """Return precision, recall and F1 of each query within a radius, for `deadheat.compare`."""
        names = {
            f"{name} within {radius}": (part, radius)
            for radius in range(self.n_bits + 1) for part, name in enumerate(("precision", "recall", "F1"))
        }  # fmt: skip
        shown = tuple(name for name, (_, radius) in names.items() if radius == min(_USUAL, self.n_bits))

        def values(name: str) -> Triple[Float64]:
            part, radius = names[name]
            n_relevant = self._hits[:, -1]
            of_queries = _lookup(self._balls[:, radius], self._hits[:, radius], np.maximum(n_relevant, 1))[part]
            alone = of_singleton(self.singletons, _OF_PRECISION[part])
            return Triple(*(np.where(n_relevant > 0, of_queries, alone),) * 3)

        n_answered = int(np.count_nonzero(self._balls[:, -1]))
        settings = {"singletons": self.singletons}
        return UnitValues(values, shown, len(self._balls), tuple(names), settings, n_answered=n_answered)

    @property
    def empty(self) -> Float64:
        """The share of queries with an empty ball within each radius."""
        return self.n_empty / self.n_query

    @property
    def best_radius(self) -> int:
        """The smallest radius with the largest macro F1."""
        return int(np.argmax(self.macro.f1))

    def panels(self) -> list[Panel]:
        """Return one table with a row for each radius, of which tables show 0 to 3 and the one of the best F1."""
        columns = [Column("radius", range(self.n_bits + 1), "count")]
        for suffix, lookup in (("", self.macro), ("_micro", self.micro)):
            columns += [
                Column(f"{name}{suffix}", values.tolist(), "fraction", f"{title}{suffix.replace('_', ', ')}")
                for (name, values), title in zip(lookup._asdict().items(), ("precision", "recall", "F1"), strict=True)
            ]
        columns.append(Column("empty", self.empty.tolist(), "fraction", "empty balls"))
        columns.append(Column("n_empty", self.n_empty.tolist(), "count", only="data"))
        shown = sorted({*range(min(_SHOWN, self.n_bits + 1)), self.best_radius})
        return [Panel(columns, "note", key="radii", by_name=False, rows=shown)]

    def notes(self) -> list[str]:
        """Return notes on the queries, the best radius and the codes."""
        best, of_codes, ones = self.best_radius, self.statistics, self.statistics.ones
        queries = count(self.n_query, "query", "queries")
        notes = [
            f"In per cent: means over {queries} with a relevant item, 0 for an empty ball; micro: all their balls "
            "together.",
            f"The best F1, {100 * self.macro.f1[best]:.{DIGITS}f} %, is within radius {best} of {self.n_bits} bits.",
            f"Gallery: {count(of_codes.n_code, 'code', 'codes')}, {of_codes.n_distinct} distinct, the most frequent of "
            f"{count(of_codes.largest_bucket, 'item', 'items')}.",
        ]
        if self.n_singleton:
            notes.insert(1, _TREATED[self.singletons].format(count(self.n_singleton, "query", "queries")))
        correlation = number(of_codes.largest_correlation, ".2f")
        constant = f", {count(of_codes.n_constant, 'bit', 'bits')} constant" if of_codes.n_constant else ""
        shares = f"{100 * ones.min():.1f} to {100 * ones.max():.1f} % of the codes"
        notes.append(f"A bit is set in {shares}{constant}; the largest correlation of two is {correlation}.")
        return notes

    def facts(self) -> dict[str, Any]:
        about = self._facts_of("n_bits", "n_query", "n_singleton", "singletons", "best_radius")
        return about | {"statistics": plain(self.statistics._asdict())}


@plain_floats
def hash_lookup(task: Task, *, singletons: Singletons = "skip") -> HashLookup:
    """Return precision, recall and F1 of the items within each Hamming radius, and statistics of the codes.

    Parameters
    ----------
    task : Task
        Of codes: ``dh.Task(codes, labels, distance="hamming")``, with exact ties.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item in the macro means: none; 0, as published code for hash codes
        has it; 1; or 0 for precision and F1 and 1 for recall.

    Returns
    -------
    HashLookup
        **Ties:** none matters, since all items at one distance are within a radius or outside. **Undefined:** queries
        without a relevant item count in no value unless `singletons` gives them one, and are counted. An empty ball has
        precision 0 and F1 0, as is usual for hash codes; `HashLookup.n_empty` says how many queries have one.

    Raises
    ------
    UndefinedError
        If no query has a relevant item.

    Notes
    -----
    All distances are counted, exactly and in blocks: 8 bytes a query and radius are kept, whatever the gallery. Junk,
    `exclude` and leave one out are those of the task. Bits that pad the last byte of packed codes add radii at which
    nothing changes, and constant bits; no other value depends on them.

    Examples
    --------
    Two items are within radius 1 of the first query, itself left out; one of them has its label:

    >>> from deadheat import Task
    >>> codes = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]]
    >>> found = hash_lookup(Task(codes, ["a", "a", "b", "b"], distance="hamming"))
    >>> found.micro.precision.tolist(), found.n_empty.tolist()
    ([0.0, 0.5, 0.4, 0.3333333333333333], [4, 1, 0, 0])
    >>> print(found)
    radius  precision  recall     F1  precision, micro  recall, micro  F1, micro  empty balls
    0            0.00    0.00   0.00              0.00           0.00       0.00       100.00
    1           37.50   50.00  41.67             50.00          50.00      50.00        25.00
    2           41.67  100.00  58.33             40.00         100.00      57.14         0.00
    3           33.33  100.00  50.00             33.33         100.00      50.00         0.00
    <BLANKLINE>
    In per cent: means over 4 queries with a relevant item, 0 for an empty ball; micro: all their balls together.
    The best F1, 58.33 %, is within radius 2 of 3 bits.
    Gallery: 4 codes, 4 distinct, the most frequent of 1 item.
    A bit is set in 25.0 to 50.0 % of the codes; the largest correlation of two is 0.58.
    """
    checks.choice(singletons, get_args(Singletons), "singletons")
    rows = rows_of(task, "hash lookup", several=True)
    pair, options = rows.pair, rows.options
    if options.distance != "hamming":
        raise InvalidValueError("task", f"must have distance 'hamming' for hash lookup, but has {options.distance!r}")
    if not isinstance(options.rule, Exact):
        raise InvalidValueError("task", f"must have exact ties for hash lookup, but has {options.rule!r}")
    n_bits, work = codes.n_bits(pair.query.embeddings), Work(pair, options)
    distance: Any = work.distance
    within, relevant_within = _counts(work, n_bits)
    has_relevant = relevant_within[:, -1] > 0
    if not has_relevant.any():
        raise UndefinedError("no query has a relevant item, so that nothing can be found within a radius")
    ball, hits = within[has_relevant], relevant_within[has_relevant]
    n_relevant, n_singleton = hits[:, -1:], int((~has_relevant).sum())
    n_other = 0 if singletons == "skip" else n_singleton
    others = [np.full(n_other, of_singleton(singletons, kind)) for kind in _OF_PRECISION]
    macro = Lookup(*map(_means, _lookup(ball, hits, n_relevant), others))
    totals: list[Int64] = [each.sum(axis=0, dtype=np.int64) for each in (ball, hits, n_relevant)]
    micro = _lookup(*totals)
    n_empty = np.count_nonzero(ball == 0, axis=0)
    statistics = _statistics(distance.items[work.candidates.ranked], n_bits)
    return HashLookup(
        n_bits, macro, micro, n_empty, len(ball), n_singleton, statistics, singletons, within, relevant_within
    )


def _counts(work: Work, n_bits: int) -> tuple[Int32, Int32]:
    """Return the numbers of ranked items, and of relevant ones, within each radius: (n_query, n_bits + 1) each."""
    within, relevant_within = np.empty((2, len(work.labels), n_bits + 1), dtype=np.int32)

    def add_up(queries: slice, bins: Int32) -> None:
        others, hits = np.cumsum(bins[:, :, : n_bits + 1], axis=2, dtype=np.int32).transpose(1, 0, 2)
        within[queries], relevant_within[queries] = others + hits, hits

    each_block(work, add_up)
    return within, relevant_within


def _lookup(ball: Array, hits: Array, n_relevant: Array) -> Lookup:
    """Return precision, recall and F1 from numbers of items; precision is 0 of an empty ball."""
    return Lookup(hits / np.maximum(ball, 1), hits / n_relevant, 2 * hits / (ball + n_relevant))


def _means(values: Float64, others: Float64) -> Float64:
    """Return the mean of each column and the `others`, from sums that are rounded once."""
    return np.array([exact_mean(np.append(column, others)) for column in values.T])


def _statistics(gallery: NDArray[np.uint64], n_bits: int) -> CodeStatistics:
    ordered = gallery[np.lexsort(gallery.T)]
    starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
    n, both = len(gallery), np.zeros((n_bits, n_bits))  # items in which both bits are set, exactly
    buckets = np.diff(starts, append=n)
    for some in slices(n, max(1, _BITS_AT_ONCE // n_bits)):
        packed = np.ascontiguousarray(gallery[some], dtype="<u8").view(np.uint8)
        bits = np.unpackbits(packed, axis=1, count=n_bits).astype(np.float64)
        both += bits.T @ bits
    ones = np.diagonal(both).copy()
    varies = (ones > 0) & (ones < n)
    correlation = math.nan
    if np.count_nonzero(varies) > 1:
        own = ones[varies]
        variance = own * (n - own)
        cross = n * both[np.ix_(varies, varies)] - np.outer(own, own)
        np.fill_diagonal(cross, 0)
        correlation = float((np.abs(cross) / np.sqrt(np.outer(variance, variance))).max())
    n_constant = int(np.count_nonzero(~varies))
    return CodeStatistics(n, len(buckets), int(buckets.max()), ones / n, correlation, n_constant)
