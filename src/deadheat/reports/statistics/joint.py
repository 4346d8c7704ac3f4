"""All pairs of several systems tested together: one family of one-sided hypotheses, adjusted by the step-down max-T.

In come the values of each system in each independent unit; out go adjusted p-values, from which letters, rank intervals
and blocks of ranks that are not separable follow. All pairs share the same sign flips of the units, so that their
dependence is part of the test, and the smallest p-value does not depend on the number of pairs.

    values (n_system, n_unit) ──rounded to a common step──> sums under each flip, exact ──> p of every ordered pair
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.reports.statistics import permutation
from deadheat.reports.statistics.intervals import own_order
from deadheat.support.arrays import Float64, Int64

_BITS = 52  # of the sum of all units, so that float64 adds them exactly in any order
_AT_ONCE = 1 << 22  # statistics of pairs and flips held in memory


class RankInterval(NamedTuple):
    """The best and the worst rank that the tests leave open for a system, counted from 1."""

    best: int
    worst: int


def adjusted_pvalues(values: Float64, n_resamples: int, seed: int) -> Float64:
    """Return, for each ordered pair, the adjusted p-value of the hypothesis that system i is not better than system j.

    Parameters
    ----------
    values : (n_system, n_unit)
        Values of independent units, the larger the better, in one scale.
    n_resamples : int
        The number of random flips; every flip is tried instead if there are no more than these.
    seed : int

    Returns
    -------
    (n_system, n_system) array
        Small at [i, j] where i is better than j. The family is all n(n − 1) one-sided hypotheses, so the chance that
        any direction is called wrongly is at most the level; of two systems it is the two-sided p-value. 1 on the
        diagonal and where two systems do not differ in any unit.

    Notes
    -----
    The statistic of a pair is the sum of its differences over the square root of the sum of their squares, which no
    flip changes; it ascends with Student's t. Differences that are equal up to rounding count as equal: values are
    rounded to a step of 2^-52 of the sum of the largest ones, so that sums are exact in any order.

    References
    ----------
    P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, 1993, algorithm 2.8; J. P. Romano and M. Wolf,
    "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing", JASA 100, 2005.

    Examples
    --------
    Five units in which the first system is better than the second; of 32 flips two are as extreme:

    >>> adjusted_pvalues(np.array([[1.0] * 5, [0.0] * 5]), 9999, 0)
    array([[1.    , 0.0625],
           [1.    , 1.    ]])
    """
    steps = _in_steps(values)
    better, worse, observed, sizes = _ordered_pairs(steps)
    p = np.ones((len(values), len(values)))
    if not len(better):
        return p
    n_unit = steps.shape[1]
    least = observed - 2 * n_unit / sizes  # rounding moves a value by half a step
    n_extreme, n_flip = np.zeros(len(better), dtype=np.int64), 0
    totals = steps.sum(axis=1, keepdims=True)
    for kept in _flips(n_unit, n_resamples, seed, max(1, _AT_ONCE // len(better))):
        sums = 2.0 * (steps @ kept.T) - totals
        drawn = (sums[better] - sums[worse]) / sizes[:, None]
        np.maximum(drawn, -drawn.min(axis=0), out=drawn)  # pairs in the other order are never rejected
        np.maximum.accumulate(drawn[::-1], axis=0, out=drawn[::-1])
        n_extreme += np.count_nonzero(drawn >= least[:, None], axis=1)
        n_flip += len(kept)
    if not permutation.tries_every_swap(n_unit, n_resamples):  # the observed arrangement counts as one more
        n_extreme, n_flip = n_extreme + 1, n_flip + 1
    p[better, worse] = np.maximum.accumulate(n_extreme / n_flip)
    return p


def rank_intervals(pvalues: Float64, alpha: float) -> list[RankInterval]:
    """Return the ranks that the adjusted p-values do not exclude for each system, simultaneously for all.

    The best rank is 1 + the number of systems significantly better, the worst is n − the number significantly worse.

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, "Inference for Ranks with Applications to Mobility across
    Neighbourhoods and Academic Achievement across Countries", Review of Economic Studies 91, 2024.

    Examples
    --------
    >>> rank_intervals(np.array([[1.0, 0.2, 0.01], [1.0, 1.0, 0.03], [1.0, 1.0, 1.0]]), 0.05)
    [RankInterval(best=1, worst=2), RankInterval(best=1, worst=2), RankInterval(best=3, worst=3)]
    """
    significant = pvalues < alpha
    best, worst = 1 + significant.sum(axis=0), len(pvalues) - significant.sum(axis=1)
    return [RankInterval(*ranks) for ranks in zip(best.tolist(), worst.tolist(), strict=True)]


def inseparable_blocks(pvalues: Float64, alpha: float) -> list[tuple[int, int]]:
    """Return the longest runs of places, first and last from 0, in which no pair is separated; systems are in order.

    Examples
    --------
    >>> inseparable_blocks(np.array([[1.0, 0.2, 0.01], [1.0, 1.0, 0.3], [1.0, 1.0, 1.0]]), 0.05)
    [(0, 1), (1, 2)]
    """
    separated = (pvalues < alpha) | (pvalues < alpha).T
    blocks: list[tuple[int, int]] = []
    first = 0
    for last in range(len(pvalues)):
        while separated[first:last, last].any():
            first += 1
        if last > first:
            if blocks and blocks[-1][0] == first:
                blocks.pop()
            blocks.append((first, last))
    return blocks


def _in_steps(values: Float64) -> Float64:
    """Return the values of the units in which systems differ as whole numbers of a step, in an order of their own."""
    differ = values[:, values.min(axis=0) < values.max(axis=0)]
    differ = differ[:, own_order(*differ)]
    total = math.fsum(np.abs(differ).max(axis=0)) if differ.size else 1.0
    return np.rint(np.ldexp(differ, _BITS - math.frexp(total)[1]))


def _ordered_pairs(steps: Float64) -> tuple[Int64, Int64, Float64, Float64]:
    """Return the pairs that differ, the better system first, by descending statistic; statistics and sizes."""
    sums = steps.sum(axis=1)
    first, second = np.triu_indices(len(steps), 1)
    swap = sums[first] < sums[second]
    better, worse = np.where(swap, second, first), np.where(swap, first, second)
    sizes = np.concatenate([_sizes(steps, *pairs) for pairs in _pieces(better, worse, steps.shape[1])])
    kept = sizes > 0
    better, worse, sizes = better[kept], worse[kept], sizes[kept]
    observed = (sums[better] - sums[worse]) / sizes
    order = np.lexsort((worse, better, -observed))
    return better[order], worse[order], observed[order], sizes[order]


def _pieces(better: Int64, worse: Int64, n_unit: int) -> Iterator[tuple[Int64, Int64]]:
    step = max(1, _AT_ONCE // max(1, n_unit))
    return ((better[i : i + step], worse[i : i + step]) for i in range(0, len(better), step))


def _sizes(steps: Float64, better: Int64, worse: Int64) -> Float64:
    """Return the root of the sum of squared differences of pairs, of their leading bits, so that sums are exact."""
    differences = steps[better] - steps[worse]
    bits = (53 - max(1, steps.shape[1]).bit_length()) // 2
    exponents = np.frexp(np.abs(differences).max(axis=1, initial=0.0))[1] - bits
    leading = np.rint(np.ldexp(differences, -exponents[:, None]))
    sizes: Float64 = np.ldexp(np.sqrt(np.square(leading).sum(axis=1)), exponents)
    return sizes


def _flips(n_unit: int, n_resamples: int, seed: int, at_once: int) -> Iterator[Float64]:
    """Yield 1 for units that keep their sign, else 0, (at_once, n_unit) or fewer at a time: all of them, or random."""
    if permutation.tries_every_swap(n_unit, n_resamples):
        for start in range(0, 1 << n_unit, at_once):
            numbers = np.arange(start, min(start + at_once, 1 << n_unit))
            yield (~numbers[:, None] >> np.arange(n_unit) & 1).astype(np.float64)
    else:  # those of the paired test, in products of many rows: small ones take longer to share out than to compute
        rows = min(at_once, max(1, _AT_ONCE // n_unit))
        pieces: list[NDArray[np.uint8]] = []
        for kept in permutation.random_bits(n_unit, n_resamples, seed):
            for start in range(0, len(kept), rows):
                pieces.append(kept[start : start + rows])
                if sum(map(len, pieces)) + len(pieces[-1]) > rows:
                    yield np.concatenate(pieces).astype(np.float64)
                    pieces.clear()
        if pieces:
            yield np.concatenate(pieces).astype(np.float64)
