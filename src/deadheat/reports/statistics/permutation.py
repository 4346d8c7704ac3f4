"""The paired permutation test: what the mean difference would be if, for each unit, A and B had been swapped by chance.

In come the differences A − B of independent units (queries, or sums over classes); out go p-values. Equal sums count as
equal, whatever rounding does to them. `holm` corrects the p-values of many tests.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from deadheat.reports.statistics.intervals import own_order
from deadheat.support.arrays import Float64

Key = TypeVar("Key", bound=Hashable)

ALTERNATIVES = ("two-sided", "greater", "less")
_AT_ONCE = 1 << 18  # swaps tried or drawn in one go, so that memory stays flat


class Tail(NamedTuple):
    """Shares of the swaps that give a sum at most, and at least, as large as the one observed."""

    at_most: float
    at_least: float

    def mirrored(self) -> Tail:
        """The shares for the differences with the opposite sign."""
        return Tail(self.at_least, self.at_most)


def is_exact(differences: Float64, n_resamples: int) -> bool:
    """Whether so many draws are enough to try every swap of the units that differ, (k, n) in any row.

    Examples
    --------
    >>> is_exact(np.array([[0.1, 0.0, 0.2]]), 4), is_exact(np.array([[0.1, 0.0, 0.2]]), 3)
    (True, False)
    """
    return int(np.count_nonzero(differences.any(axis=0))) < n_resamples.bit_length()  # 2^n swaps


def tails(differences: Float64, scale: float, n_resamples: int, seed: int) -> list[Tail]:
    """Both tails of the permutation test for each row of differences, all from the same swaps.

    Parameters
    ----------
    differences : (k, n)
        A − B for each unit.
    scale : float
        The sum over the units of the larger of both values. What lies within 2^-40 of that is one sum.
    n_resamples : int
        Random swaps; every swap is tried instead where there are no more of them.
    seed : int

    Returns
    -------
    list of Tail
        One a row. With random swaps the one that was observed counts as one more (Phipson and Smyth 2010). The order
        of the units does not matter: they are swapped in an order of their own.

    References
    ----------
    B. Phipson and G. K. Smyth, "Permutation P-values Should Never Be Zero", Statistical Applications in Genetics and
    Molecular Biology 9(1), 2010.

    Examples
    --------
    Of the four swaps of two units, with sums 3, 1, −1 and −3, one is at least 3:

    >>> tails(np.array([[1.0, 2.0]]), 3.0, 9999, 0)
    [Tail(at_most=1.0, at_least=0.25)]
    """
    exact = is_exact(differences, n_resamples)
    chosen = differences[:, differences.any(axis=0)]
    chosen = chosen[:, own_order(*chosen)]
    tail_of: dict[bytes, Tail] = {}
    for row in chosen:
        if row.tobytes() not in tail_of:
            drawn = _random_bits(len(row), n_resamples, max(1, _AT_ONCE // max(1, len(row))), seed)
            sums = _every_sum(row) if exact else (kept @ row for kept in drawn)
            tail_of[row.tobytes()] = _shares(sums, float(row.sum()), 2.0**-40 * scale, 0 if exact else 1)
    return [tail_of[row.tobytes()] for row in chosen]


def pvalue(worst: Tail, best: Tail, alternative: str) -> float:
    """The p-value from the tails of the differences that are worst and best for A; twice one row's for that row alone.

    "greater" asks whether A is better than B, "less" whether it is worse, and "two-sided" is twice the smaller of the
    two. Swapping a set of units gives a sum at least as large as the one observed just when the differences of the set
    add up to 0 or less. That holds for fewer sets, never for more, when a difference grows. So "greater" is largest
    where every difference is smallest, and no differences between both rows have a larger p-value than this.

    Examples
    --------
    >>> tail = Tail(at_most=1.0, at_least=0.25)
    >>> [pvalue(tail, tail, alternative) for alternative in ALTERNATIVES]
    [0.5, 0.25, 1.0]
    """
    if alternative == "two-sided":
        return min(1.0, 2 * min(worst.at_least, best.at_most))
    return worst.at_least if alternative == "greater" else best.at_most


def holm(pvalues: Mapping[Key, float]) -> dict[Key, float]:
    """P-values adjusted after Holm: the smallest of m times m, the next times m − 1, and so on, never descending.

    That holds for tests that depend on each other in any way, as all pairs of some systems do. NaN stays NaN and does
    not count.

    References
    ----------
    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6(2), 1979.

    Examples
    --------
    >>> holm({"a": 0.02, "b": 0.01, "c": 0.5})
    {'a': 0.04, 'b': 0.03, 'c': 0.5}
    """
    adjusted = dict(pvalues)
    ascending = sorted((key for key in pvalues if not math.isnan(pvalues[key])), key=lambda key: pvalues[key])
    largest = 0.0
    for n_before, key in enumerate(ascending):
        adjusted[key] = largest = max(largest, min(1.0, (len(ascending) - n_before) * pvalues[key]))
    return adjusted


def _every_sum(row: Float64) -> Iterator[Float64]:
    """The sums of the differences of the units that are not swapped, for every choice of them: 2^n, in pieces."""
    few = _AT_ONCE.bit_length() - 1
    sums, rest = (_subset_sums(part) for part in (row[:few], row[few:]))
    return (sums + other for other in rest)


def _subset_sums(values: Float64) -> Float64:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _shares(pieces: Iterable[Float64], observed: float, tolerance: float, more: int) -> Tail:
    """How many of the sums are at most, and at least, the one observed, as shares."""
    n = at_most = at_least = more
    for sums in pieces:
        n += len(sums)
        at_most += int(np.count_nonzero(sums <= observed + tolerance))
        at_least += int(np.count_nonzero(sums >= observed - tolerance))
    return Tail(at_most / n, at_least / n)


def _random_bits(n_unit: int, n_resamples: int, step: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Whether each unit is swapped, with chance 1/2, (step, n_unit) or fewer at once, n_resamples in all."""
    rng = np.random.default_rng(seed)
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        drawn = np.frombuffer(rng.bytes(-(-size * n_unit // 8)), dtype=np.uint8)
        yield np.unpackbits(drawn, count=size * n_unit).reshape(size, n_unit)
