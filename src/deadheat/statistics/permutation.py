"""The paired permutation test: what the mean difference would be if, for each unit, A and B had been swapped by chance.

In come the differences A − B of independent units (queries, or sums over classes); out goes a p-value. The draws are
SciPy's; the counting is done here, because equal sums must count as equal whatever rounding does to them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.support.extras import require

Float64 = NDArray[np.float64]

ALTERNATIVES = ("two-sided", "greater", "less")
_AT_ONCE = 1 << 18  # swaps drawn in one go, so that memory stays flat


class Tail(NamedTuple):
    """Shares of the swaps that give a sum at most, and at least, as large as the one found."""

    at_most: float
    at_least: float


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
        One a row. With random swaps the one that was found counts as one more (Phipson and Smyth 2010).

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
    found: dict[bytes, Tail] = {}
    for row in chosen:
        if row.tobytes() not in found:
            sums = _every_sum(row) if exact else _random_sums(row, n_resamples, seed)
            found[row.tobytes()] = _shares(sums, float(row.sum()), 2.0**-40 * scale, 0 if exact else 1)
    return [found[row.tobytes()] for row in chosen]


def pvalue(worst: Tail, best: Tail, alternative: str) -> float:
    """The p-value from the tails of the differences that are worst and best for A; twice one row's for that row alone.

    "greater" asks whether A is better than B, "less" whether it is worse, and "two-sided" is twice the smaller of the
    two. Swapping a set of units gives a sum at least as large as the one found just when the differences of the set
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


def _every_sum(row: Float64) -> Float64:
    """The sum of the differences of the units that are not swapped, for every choice of them, (2^n,)."""
    stats = require("scipy.stats", "stats", "a permutation test")
    padded = np.concatenate([row, np.zeros(max(0, 2 - len(row)))])  # SciPy wants two units
    kept, swapped = np.ones(len(padded)), np.zeros(len(padded))
    null: Float64 = stats.permutation_test(
        (kept, swapped),
        lambda chosen, rest, axis: chosen @ padded,
        permutation_type="samples",
        n_resamples=np.inf,
        batch=max(1, _AT_ONCE // len(padded)),
    ).null_distribution
    return null


def _random_sums(row: Float64, n_resamples: int, seed: int) -> Float64:
    """The sum of the differences of the units that are not swapped, each with chance 1/2, (n_resamples,)."""
    stats = require("scipy.stats", "stats", "a permutation test")
    rng = np.random.default_rng(seed)

    def keep(size: tuple[int, int]) -> NDArray[np.uint8]:
        n_bit = size[0] * size[1]
        drawn = np.frombuffer(rng.bytes(-(-n_bit // 8)), dtype=np.uint8)
        return np.unpackbits(drawn, count=n_bit).reshape(size)

    null: Float64 = stats.monte_carlo_test(
        np.ones(len(row)),
        keep,
        lambda chosen, axis: chosen @ row,
        n_resamples=n_resamples,
        batch=max(1, _AT_ONCE // len(row)),
    ).null_distribution
    return null


def _shares(sums: Float64, observed: float, tolerance: float, more: int) -> Tail:
    """How many of the sums are at most, and at least, the one observed, as shares."""
    n = len(sums) + more
    at_most, at_least = (
        int(np.count_nonzero(side)) for side in (sums <= observed + tolerance, sums >= observed - tolerance)
    )
    return Tail((at_most + more) / n, (at_least + more) / n)
