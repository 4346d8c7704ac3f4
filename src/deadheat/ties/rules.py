"""What "tied" means: the exact distance, the distance rounded to a type, or within a tolerance.

In come the scores of a block of queries against their relevant items, each with a bound on its error. Out go the
relevant items in groups, farthest first, and the *cuts* between which all other items are counted. A cut is a real
number, known to lie between two floats and exactly comparable with any item:

    far                                                                                 near
    ───────────┤ tied with group 0 ├─────────────────┤ tied with group 1 ├──────────────────>  closeness
             cut 0               cut 1             cut 2               cut 3
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import exact
from deadheat.distances import Distance, outward
from deadheat.exact import Float64, SignedRoot
from deadheat.support import checks
from deadheat.support.spans import spread
from deadheat.ties import kernels

Int64 = NDArray[np.int64]
Above = Callable[[int, int, SignedRoot], bool]
Member = Callable[[int, int], int]  # the column of a member of a group, given its row and number


@dataclass
class Relevant:
    """The relevant columns of a block of queries, as matrices of shape (n_row, width).

    Parameters
    ----------
    rows : (n_row,) int64
        The queries.
    columns, count, others : int64
        The columns, and how many items in each are relevant and how many are not. Entries with a `count` of 0 are
        padding.
    score, bound : float64
        Scores of the last level, NaN in padding, and how much they may be off.
    """

    rows: Int64
    columns: Int64
    count: Int64
    others: Int64
    score: Float64
    bound: Float64

    def sort(self) -> NDArray[np.bool_]:
        """Sort the entries of every row by score; returns where a score is surely above all before it."""
        order = np.argsort(self.score, axis=1)
        starts = kernels.sort_rows(order, self.columns, self.count, self.others, self.score, self.bound)
        return np.asarray(starts)

    def apart(self) -> Groups | None:
        """Groups of one item each, if scores alone show that all are, and no entry has others beside it."""
        if (self.count > 1).any() or self.others.any():
            return None
        n_group, reach = (self.count > 0).sum(axis=1), self.bound.max(axis=1)
        score = np.sort(self.score, axis=1)
        if not kernels.all_apart(score, reach, n_group):
            return None
        score = np.ascontiguousarray(score[:, : max(1, n_group.max())])
        total = (np.arange(score.shape[1]) < n_group[:, None]).astype(np.int32)
        return Groups(self.rows, n_group, score, np.broadcast_to(reach[:, None], score.shape), total, None, None)

    def groups(self, starts: NDArray[np.bool_]) -> Groups:
        """The groups of sorted entries, given where each of them starts."""
        n_group = starts.sum(axis=1)
        shape = (len(starts), max(1, int(n_group.max(initial=0))))
        group, first, total = np.full(starts.shape, -1), np.full(shape, -1), np.zeros(shape, dtype=np.int32)
        kernels.number_groups(starts, self.count, group, first, total)

        def of_first(values: NDArray[Any], fill: float) -> NDArray[Any]:
            return np.where(first >= 0, np.take_along_axis(values, np.maximum(first, 0), axis=1), fill)

        score, bound = of_first(self.score, np.nan), of_first(self.bound, 0.0)
        return Groups(self.rows, n_group, score, bound, total, of_first(self.columns, 0).astype(np.int32), group)


@dataclass
class Groups:
    """The tie groups of a block of queries, farthest first, as matrices of shape (n_row, largest n_group).

    Parameters
    ----------
    rows : (n_row,) int64
        The queries.
    n_group : (n_row,) int64
    score, bound : float64
        The score of a member of each group, NaN in padding, and how much it may be off.
    total : int32
        Relevant items in each group.
    columns : int32, optional
        The column of that member; None where groups are the relevant columns by ascending score.
    of_entry : (n_row, width) int64, optional
        The group of each relevant entry in the order of its row, −1 in padding; None where no entry has others.
    """

    rows: Int64
    n_group: Int64
    score: Float64
    bound: Float64
    total: NDArray[np.int32]
    columns: NDArray[np.int32] | None
    of_entry: Int64 | None

    @property
    def padding(self) -> NDArray[np.bool_]:
        """Where there is no group."""
        return np.arange(self.score.shape[1]) >= self.n_group[:, None]


@dataclass
class Cuts:
    """Ascending cuts for each row of a block: intervals that hold them, and the exact test for what these leave open.

    Parameters
    ----------
    low, high : (n_row, n_interval) float64
        An item whose score is at least `high` is above all cuts in the interval, one whose score is below `low` above
        none; infinite in padding.
    each : int
        How many cuts are in each interval: 1, or 2 that belong to one group.
    above : callable (row, cut, closeness) -> bool
        Whether an item of this exact closeness is above the cut.
    """

    low: Float64
    high: Float64
    each: int
    above: Above

    def __post_init__(self) -> None:
        kernels.make_ascending(self.low, self.high)


class Ties(ABC):
    """A meaning of "tied"."""

    bounds_only = False
    exact_only = False  # whether scores are only ever compared with each other

    def check(self, distance: Distance) -> None:  # noqa: B027
        """Refuse a distance that this meaning does not fit; most fit all."""

    @abstractmethod
    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        """Sort the relevant items of every query into groups; the entries of `relevant` are put into their order."""

    @abstractmethod
    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        """One sequence of cuts with two for each group, or two sequences with one each: tied or closer, and closer."""

    @abstractmethod
    def describe(self, distance: str) -> str:
        """How it is written in a report on this distance."""


class Exact(Ties):
    """Tied is what is equally far as a real number."""

    exact_only = True

    def describe(self, distance: str) -> str:
        return "exact"

    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        return _group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        low, high = np.empty((2, *groups.score.shape))
        kernels.exact_cuts(groups.score, groups.bound, groups.n_group, low, high)
        threshold = _closeness_cache(distance, groups.rows, member)

        def above(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare(threshold(row, cut // 2)) >= cut % 2

        return [Cuts(low, high, 2, above)]


class Tolerance(Ties):
    """Bounds for when every relevant item may be up to `eps` nearer or farther: mAP(D ± εR).

    Distances are 1 − cosine, minus the inner product, or the distance itself. Expected values are NaN.

    Parameters
    ----------
    eps : float
        0 or more, in the unit of the distance, taken as the exact number that the float is.

    Examples
    --------
    >>> Tolerance(1e-6).describe("cosine")
    'tolerance 1e-06'
    """

    bounds_only = True

    def __init__(self, eps: float) -> None:
        if isinstance(eps, (bool, str)) or not isinstance(eps, (int, float, np.integer, np.floating)):
            raise TypeError(f"eps must be a number, but is {eps!r}")
        if not (math.isfinite(eps) and eps >= 0):
            raise ValueError(f"eps must be finite and not negative, but is {eps}")
        self.eps = float(eps)

    def describe(self, distance: str) -> str:
        return f"tolerance {self.eps!r}"

    def __repr__(self) -> str:
        return f"Tolerance({self.eps!r})"

    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        return _group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        padding, bound = groups.padding, groups.bound
        rows = np.broadcast_to(groups.rows[:, None], padding.shape)
        score = np.where(padding, 0.0, groups.score)
        low, high = distance.closeness(rows, score - bound, score + bound)
        threshold = _closeness_cache(distance, groups.rows, member)
        eps = Fraction(self.eps)

        def tied(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare_shifted(threshold(row, cut), -eps) >= 0

        def closer(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare_shifted(threshold(row, cut), eps) > 0

        sequences = []
        for shift, above in ((-self.eps, tied), (self.eps, closer)):
            with np.errstate(over="ignore"):
                shifted = low + shift - _slack(low, shift), high + shift + _slack(high, shift)
                ends = _nudged(*distance.score(rows, *outward(*shifted)))
            sequences.append(Cuts(np.where(padding, np.inf, ends[0]), np.where(padding, np.inf, ends[1]), 1, above))
        return sequences


class Rounded(Ties):
    """Tied is what is equal once the exact similarity or distance is correctly rounded to a shorter type.

    That is what a system ranks by that serves its scores in this type.

    Parameters
    ----------
    dtype : {"float16", "bfloat16", "float32"}
    of : {"similarity", "distance"}, optional
        What is rounded. By default the similarity for cosine and inner product, and else the distance. The distance
        that belongs to the cosine is 1 − cosine; near 1 a similarity is far coarser than a small distance.

    Examples
    --------
    >>> Rounded("float16").describe("cosine"), Rounded("float16").describe("euclidean")
    ('float16 similarity', 'float16 distance')
    """

    def __init__(self, dtype: str, of: str | None = None) -> None:
        self.dtype = checks.choice(dtype, exact.FORMATS, "dtype")
        self.of = None if of is None else checks.choice(of, ("similarity", "distance"), "of")

    def describe(self, distance: str) -> str:
        usual = "similarity" if distance in ("cosine", "inner_product") else "distance"
        return f"{self.dtype} {self.of or usual}"

    def __repr__(self) -> str:
        return f"Rounded({self.dtype!r}, of={self.of!r})"

    def check(self, distance: Distance) -> None:
        """Refuse to round a similarity or distance that this distance has not got."""
        if self.of == "similarity" and not distance.similarity:
            raise ValueError(f"of must be 'distance' for distance {distance.name!r}, but is 'similarity'")
        if self.of == "distance" and distance.name == "inner_product":
            raise ValueError("of must be 'similarity' for distance 'inner_product', but is 'distance'")

    def _target(self, distance: Distance) -> tuple[int, int]:
        """The sign s and shift c with which closeness = s·value + c, for the value that is rounded."""
        if distance.similarity and self.of != "distance":
            return 1, 0
        return -1, 1 if distance.name == "cosine" else 0

    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        sign, shift = self._target(distance)
        valid = relevant.count > 0
        rows = np.broadcast_to(relevant.rows[:, None], valid.shape)
        score = np.where(valid, relevant.score, 0.0)
        values, last = self._rounded(distance, rows, score, relevant.bound, sign, shift)
        for row, entry in _in_parts(np.nonzero(valid & (values != last))):
            queries, columns = relevant.rows[row], relevant.columns[row, entry]
            sharper = distance.compensated_scores(queries, columns)
            if sharper is not None:
                values[row, entry], last[row, entry] = self._rounded(distance, queries, *sharper, sign, shift)
                still = values[row, entry] != last[row, entry]
                row, entry, queries, columns = row[still], entry[still], queries[still], columns[still]
            ends = zip(values[row, entry].tolist(), last[row, entry].tolist(), strict=True)
            exactly = zip(ends, distance.exact_closeness(queries, columns), strict=True)
            values[row, entry] = [self._settle(*pair, closeness, sign, shift) for pair, closeness in exactly]
        relevant.score = np.where(valid, sign * values, np.nan)
        relevant.bound = np.zeros_like(relevant.score)
        return relevant.groups(relevant.sort())

    def _rounded(
        self, distance: Distance, rows: Int64, score: Float64, bound: Float64, sign: int, shift: int
    ) -> tuple[Float64, Float64]:
        """The rounded values between which an item's lies that has this score up to the bound."""
        low, high = distance.closeness(rows, score - bound, score + bound)
        ends = _sorted_ends(sign * (low - shift), sign * (high - shift))
        first, last = (exact.round_to(end, self.dtype) for end in _nudged(*ends))
        return first, last

    def _settle(self, value: float, last: float, closeness: SignedRoot, sign: int, shift: int) -> float:
        """The rounded value of an exact number that lies between two values of the type, by bisection."""
        low, high = exact.ordinals(np.array([value, last]), self.dtype).tolist()
        while low < high:
            middle = (low + high) // 2
            _, end, closed = exact.cells(np.array([exact.from_ordinal(middle, self.dtype)]), self.dtype)
            side = sign * closeness.compare(SignedRoot.of(sign * Fraction(float(end[0])) + shift))
            if side < 0 or (side == 0 and closed[0]):
                high = middle
            else:
                low = middle + 1
        return exact.from_ordinal(low, self.dtype)

    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        sign, shift = self._target(distance)
        padding = groups.padding
        values = sign * np.where(padding, 0.0, groups.score)
        low, high, closed = exact.cells(values, self.dtype)
        far, near = (low, high) if sign > 0 else (high, low)
        rows = np.broadcast_to(groups.rows[:, None], values.shape)
        sides = [_between(distance, rows, sign * end, shift) for end in (far, near)]
        bounds = [np.where(padding, np.inf, np.stack([side[k] for side in sides])) for k in (0, 1)]

        def above(row: int, cut: int, closeness: SignedRoot) -> bool:
            group, nearer = divmod(cut, 2)
            end = (near if nearer else far)[row, group]
            side = closeness.compare(SignedRoot.of(sign * Fraction(float(end)) + shift))
            return side > 0 or (side == 0 and bool(closed[row, group]) != bool(nearer))

        return [Cuts(_interleaved(bounds[0]), _interleaved(bounds[1]), 1, above)]


def make(ties: Any) -> Ties:
    """The meaning of "tied" that an argument `ties` asks for.

    Examples
    --------
    >>> make("float16")
    Rounded('float16', of=None)
    """
    if isinstance(ties, Ties):
        return ties
    checks.choice(ties, ("exact", *exact.FORMATS), "ties")
    return Exact() if ties == "exact" else Rounded(ties)


def _group_by_score(distance: Distance, relevant: Relevant) -> Groups:
    """Sort by the exact closeness: by score, and by exact arithmetic where the bounds of scores overlap."""
    groups = relevant.apart()
    if groups is not None:
        return groups
    starts = relevant.sort()
    for step in (_sharpen, _settle):
        for runs in _batches(_unsure(relevant, starts)):
            step(distance, relevant, starts, runs)
    return relevant.groups(starts)


def _unsure(relevant: Relevant, starts: NDArray[np.bool_]) -> Int64:
    """The runs of entries whose bounds overlap: their rows, and where in these they begin and end; (3, n_run)."""
    runs = np.empty((3, starts.size // 2 + 1), dtype=np.int64)
    return runs[:, : kernels.unsure_runs(starts, relevant.count, relevant.bound, runs)].copy()


def _batches(runs: Int64, most: int = 4096) -> Iterator[Int64]:
    """Runs a few at a time, of about so many entries together."""
    sizes = runs[2] - runs[1]
    batch = np.cumsum(sizes) // most
    for part in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(batch)) + 1):
        if len(part):
            yield runs[:, part]


def _in_parts(pairs: tuple[Int64, ...], most: int = 4096) -> Iterator[tuple[Int64, Int64]]:
    """Rows and entries a few at a time."""
    for start in range(0, len(pairs[0]), most):
        yield pairs[0][start : start + most], pairs[1][start : start + most]


def _entries(relevant: Relevant, runs: Int64) -> tuple[Int64, Int64]:
    """The queries and columns of all entries of some runs."""
    rows, begins, ends = runs
    sizes = ends - begins
    row = np.repeat(rows, sizes)
    return relevant.rows[row], relevant.columns[row, spread(begins, sizes)]


def _sharpen(distance: Distance, relevant: Relevant, starts: NDArray[np.bool_], runs: Int64) -> None:
    """Sort every run of entries by scores that err less, if there are any."""
    sharper = distance.compensated_scores(*_entries(relevant, runs))
    if sharper is not None:
        matrices = relevant.columns, relevant.count, relevant.others, relevant.score, relevant.bound
        kernels.sort_runs(runs, *sharper, *matrices, starts)


def _settle(distance: Distance, relevant: Relevant, starts: NDArray[np.bool_], runs: Int64) -> None:
    """Sort exactly every run of entries."""
    exact_closeness = iter(distance.exact_closeness(*_entries(relevant, runs)))
    for row, begin, end in runs.T.tolist():
        mine = list(islice(exact_closeness, end - begin))
        order = _exact_order(mine)
        for matrix in (relevant.columns, relevant.count, relevant.others, relevant.score, relevant.bound):
            matrix[row, begin:end] = matrix[row, begin:end][order]
        for place, (one, two) in enumerate(pairwise(order)):
            starts[row, begin + place + 1] = mine[one].compare(mine[two]) != 0


def _exact_order(exact_closeness: list[SignedRoot]) -> list[int]:
    """The places of the numbers in ascending order."""
    key = cmp_to_key(SignedRoot.compare)
    return sorted(range(len(exact_closeness)), key=lambda place: key(exact_closeness[place]))


def _closeness_cache(distance: Distance, rows: Int64, member: Member) -> Callable[[int, int], SignedRoot]:
    """The exact closeness of a member of each group, computed when asked for."""
    known: dict[tuple[int, int], SignedRoot] = {}

    def threshold(row: int, group: int) -> SignedRoot:
        if (row, group) not in known:
            (known[row, group],) = distance.exact_closeness(rows[row : row + 1], np.array([member(row, group)]))
        return known[row, group]

    return threshold


def _interleaved(pair: NDArray[Any]) -> NDArray[Any]:
    """From two (n, g) matrices one (n, 2·g), the columns by turns."""
    return np.ascontiguousarray(np.moveaxis(pair, 0, -1)).reshape(pair.shape[1], -1)


def _sorted_ends(one: Float64, two: Float64) -> tuple[Float64, Float64]:
    """Intervals with their ends in order."""
    return np.minimum(one, two), np.maximum(one, two)


def _slack(value: Float64, shift: float) -> Float64:
    """More than the roundings of a sum can change it."""
    return np.asarray(np.abs(value) * 2.0**-50 + abs(shift) * 2.0**-50)


def _nudged(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals made wide enough for one rounding of their ends."""
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _between(distance: Distance, rows: Int64, end: Float64, shift: int) -> tuple[Float64, Float64]:
    """The scores between which the closeness `end + shift` lies, infinite where it is."""
    low, high = _nudged(end + shift, end + shift) if shift else (end, end)
    finite = np.isfinite(end)
    scores = distance.score(rows, np.where(finite, low, 0.0), np.where(finite, high, 0.0))
    low, high = _nudged(*scores)
    return np.where(finite, low, end), np.where(finite, high, end)
