"""The paired permutation test: the observed mean difference against those with A and B swapped at random in each unit.

In come the differences A − B of independent units (queries, or sums over classes); out go p-values. Sums that differ
only by rounding count as equal. `holm` corrects the p-values of many tests.
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
        """Return the shares for the differences with the opposite sign."""
        return Tail(self.at_least, self.at_most)


def is_exact(differences: Float64, n_resamples: int) -> bool:
    """Return whether `n_resamples` are enough to try every swap of the units that differ in any row of (k, n).

    Examples
    --------
    >>> is_exact(np.array([[0.1, 0.0, 0.2]]), 4), is_exact(np.array([[0.1, 0.0, 0.2]]), 3)
    (True, False)
    """
    return tries_every_swap(int(np.count_nonzero(differences.any(axis=0))), n_resamples)


def tries_every_swap(n_unit: int, n_resamples: int) -> bool:
    """Return whether `n_resamples` are enough to try all 2^n swaps of the units."""
    return n_unit < n_resamples.bit_length()


def tails(differences: Float64, scale: float, n_resamples: int, seed: int) -> list[Tail]:
    """Return both tails of the permutation test for each row of differences, all from the same swaps.

    Parameters
    ----------
    differences : (k, n)
        A − B for each unit.
    scale : float
        The sum over the units of the larger of both values. Sums that differ by at most 2^-40 of it count as equal.
    n_resamples : int
        The number of random swaps; every swap is tried instead if there are no more than these.
    seed : int

    Returns
    -------
    list of Tail
        One for each row. The observed arrangement is added to random swaps as one more (Phipson and Smyth 2010). The
        order of the units does not matter: they are sorted first.

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
            drawn = random_bits(len(row), n_resamples, seed)
            sums = _every_sum(row) if exact else (kept @ row for kept in drawn)
            tail_of[row.tobytes()] = _shares(sums, float(row.sum()), 2.0**-40 * scale, 0 if exact else 1)
    return [tail_of[row.tobytes()] for row in chosen]


def pvalue(worst: Tail, best: Tail, alternative: str) -> float:
    """Return the p-value from the tails of the differences that are worst and best for A (for one row, both the same).

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
    """Adjust p-values after Holm: the smallest of m times m, the next times m − 1, and so on, never descending.

    This is valid for tests that depend on each other in any way, as all pairs of some systems do. NaN stays NaN and
    does not count.

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
    """Yield the sums of the differences of the units that are not swapped, for every choice of them: 2^n, in pieces."""
    few = _AT_ONCE.bit_length() - 1
    sums, rest = (_subset_sums(part) for part in (row[:few], row[few:]))
    return (sums + other for other in rest)


def _subset_sums(values: Float64) -> Float64:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _shares(pieces: Iterable[Float64], observed: float, tolerance: float, more: int) -> Tail:
    """Return the shares of the sums that are at most, and at least, the one observed."""
    n = at_most = at_least = more
    for sums in pieces:
        n += len(sums)
        at_most += int(np.count_nonzero(sums <= observed + tolerance))
        at_least += int(np.count_nonzero(sums >= observed - tolerance))
    return Tail(at_most / n, at_least / n)


def random_bits(n_unit: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Yield 1 or 0, with chance 1/2, for each unit: some rows of (n, n_unit) at a time, n_resamples in all."""
    rng, step = np.random.default_rng(seed), max(1, _AT_ONCE // max(1, n_unit))
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        drawn = np.frombuffer(rng.bytes(-(-size * n_unit // 8)), dtype=np.uint8)
        yield np.unpackbits(drawn, count=size * n_unit).reshape(size, n_unit)
