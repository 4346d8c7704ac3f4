"""Tests of a drop against a margin: is it larger, is it surely smaller, and how small a drop would be noticed?

In come the drops A − B of independent units (queries, or sums over classes with their sizes), in fractions, of which
none can be larger than 1; out go one-sided p-values and the smallest drop that such a sample detects.

Student's t fails where losses are rare: 500 queries without a loss have no variance, and still a drop of 1/100 may have
produced them. So one more unit is added that had the worst possible value for the claim: a loss of 1 for the claim that
the drop is small, a gain of 1 for the claim that it is large. Hits of single queries take Tango's score test for the
first claim, and a margin of 0 the sign-flip test for the second, which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from deadheat.reports.statistics import permutation
from deadheat.support.arrays import Float64
from deadheat.support.lazy import require


class Drops(NamedTuple):
    """Drops of independent units: their sums over the queries of a unit, and the sizes of the units, (n_unit,).

    `most` is the largest drop that a query can have, and the largest gain.
    """

    sums: Float64
    sizes: Float64
    most: float = 1.0

    def all_at(self, share: float) -> Drops:
        """Return the drops where each query has a share of the largest: 1 if all lose everything, −1 if all gain."""
        return self._replace(sums=share * self.most * self.sizes)

    @property
    def mean(self) -> float:
        return math.fsum(self.sums) / math.fsum(self.sizes)

    @property
    def noise(self) -> float:
        """The variance of the sum over as many units; the mean drop does not matter."""
        n = len(self.sums)
        return math.fsum(np.square(self.sums - self.mean * self.sizes)) * n / (n - 1)

    @property
    def are_hits(self) -> bool:
        """True if every unit is a query, and was lost, won or neither."""
        return bool((self.sizes == 1).all() and np.isin(self.sums, (-1.0, 0.0, 1.0)).all())


_HALF = 0.5  # of a query: numbers of hits are whole
_ABOVE = 1 + 2.0**-30  # so that a sample without a difference passes at the printed margin, whatever is rounded


def larger_pvalue(drops: Drops, margin: float, *, n_resamples: int, seed: int) -> float:
    """Return the p-value of the hypothesis that the mean drop is at most the margin; small where it is larger.

    Examples
    --------
    Five queries, each lost; of 32 flips one is as extreme:

    >>> drops = Drops(np.ones(5), np.ones(5))
    >>> larger_pvalue(drops, 0.0, n_resamples=9999, seed=0)
    0.03125
    """
    if margin == 0:
        scale = math.fsum(np.abs(drops.sums))
        return permutation.tails(drops.sums[None], scale, n_resamples, seed)[0].at_least
    return float(_stats().t.sf(*_student(drops, margin, -1.0)))


def smaller_pvalue(drops: Drops, margin: float) -> float:
    """Return the p-value of the hypothesis that the mean drop is the margin or more; small where it is surely less.

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample design",
    Statistics in Medicine 17, 1998.

    Examples
    --------
    None of 500 queries differs. A drop of 1 point would have shown in most samples, one of half a point need not:

    >>> same = Drops(np.zeros(500), np.ones(500))
    >>> round(smaller_pvalue(same, 0.01), 4), round(smaller_pvalue(same, 0.005), 4)
    (0.0216, 0.1024)
    """
    if drops.are_hits and 0 < margin < 1:
        lost, won = (int(np.count_nonzero(drops.sums == value)) for value in (1, -1))
        return float(_stats().norm.cdf(tango_statistic(lost, won, len(drops.sums), margin, _HALF)))
    return float(_stats().t.cdf(*_student(drops, margin, 1.0)))


def rare_gain_could_undo(drops: Drops, alpha: float) -> bool:
    """Return whether one more query with the largest gain would leave no evidence of a drop by Student's t."""
    single = drops.most == 1 and bool((drops.sizes == 1).all()) and not drops.are_hits
    return single and float(_stats().t.sf(*_student(drops, 0.0, -1.0))) >= alpha


def least_larger_pvalue(drops: Drops, margin: float, n_resamples: int) -> float:
    """Return the p-value of `larger_pvalue` where every unit loses all, so that none of such units is smaller.

    Examples
    --------
    >>> least_larger_pvalue(Drops(np.zeros(4), np.ones(4)), 0.0, 9999)
    0.0625
    """
    n = len(drops.sums)
    if margin == 0:
        return 2.0**-n if permutation.tries_every_swap(n, n_resamples) else 1 / (n_resamples + 1)
    return larger_pvalue(drops.all_at(1.0), margin, n_resamples=n_resamples, seed=0)


def tango_statistic(lost: float, won: float, n: int, margin: float, correction: float = 0.0) -> float:
    """Return Tango's score statistic for a drop in paired hits; about standard normal where the drop is the margin.

    `correction` is for continuity, in queries. Without it a drop of the margin passes in up to 5.9 % at 5 %; with half
    a query in at most 4.7 %, by the exact distribution for 30 to 500 queries.

    Examples
    --------
    >>> tango_statistic(6, 1, 50, 0.1), round(tango_statistic(1, 0, 44, 0.1), 3)
    (0.0, -1.709)
    """
    a, b = 2 * n, (2 * n - lost + won) * margin - lost - won
    c = -won * margin * (1 - margin)
    rate = (math.sqrt(b * b - 4 * a * c) - b) / (2 * a)
    return (lost - won - n * margin + correction) / math.sqrt(n * (2 * rate + margin * (1 - margin)))


def detectable_drop(drops: Drops, alpha: float, power: float = 0.8) -> float:
    """Return the mean drop that a sample such as this one shows with a given power; NaN for fewer than two units.

    `drops` give the noise alone; their mean does not matter. The drop that `larger_pvalue` finds with margin 0, at
    level `alpha` in the share `power` of samples. Where units are hits, or none of them differs, the drop itself is
    planted as lost units, so that it adds to the noise.

    Examples
    --------
    None of 500 queries differs between two systems. About seven lost queries are found in four of five samples:

    >>> round(500 * detectable_drop(Drops(np.zeros(500), np.ones(500)), 0.05), 1)
    7.1
    """
    n = len(drops.sums)
    if n < 2:
        return math.nan
    law, total, noise = _stats().norm, math.fsum(drops.sizes), drops.noise
    level, missed = float(law.isf(alpha)), float(law.isf(1 - power))
    if noise > 0 and not drops.are_hits:
        return (level + missed) * math.sqrt(noise) / total

    def excess(drop: float) -> float:  # of the drop over what the test needs, half a query of it as hits are discrete
        differ = noise + drop * n
        return drop * n - 0.5 - level * math.sqrt(differ) - missed * math.sqrt(differ - drop * drop * n)

    return _root(excess)


def passing_margin(drops: Drops, alpha: float, power: float = 0.8) -> float:
    """Return the margin within which a system as good as A is shown to be with a given power.

    It is the margin at which `smaller_pvalue` is below `alpha` in the share `power` of samples with this noise and no
    drop. Between 3/n and 4/n where no query differs.

    Examples
    --------
    >>> round(500 * passing_margin(Drops(np.zeros(500), np.ones(500)), 0.05), 1)
    3.6
    """
    n = len(drops.sums)
    if n < 2:
        return math.nan
    missed, noise = float(_stats().norm.isf(1 - power)), drops.noise
    if drops.are_hits:
        level, differ = -float(_stats().norm.isf(alpha)), float(np.count_nonzero(drops.sums))
        lost = min(n, (differ + missed * math.sqrt(noise)) / 2)
        edge = _root(lambda margin: level - tango_statistic(lost, max(0.0, differ - lost), n, margin, _HALF))
        return min(1.0, _ABOVE * edge)
    total, level = math.fsum(drops.sizes), float(_stats().t.isf(alpha, n))
    of_unit = drops.most * total / n
    edge = (of_unit + level * math.sqrt(noise + of_unit**2) + missed * math.sqrt(noise)) / (total + total / n)
    return _ABOVE * edge


def _student(drops: Drops, margin: float, worst: float) -> tuple[float, int]:
    """Return Student's statistic of the mean drop less the margin, with one more unit, and its degrees of freedom."""
    of_unit = float(drops.sizes.mean())
    rest = np.append(drops.sums - margin * drops.sizes, (worst * drops.most - margin) * of_unit)
    n, mean = len(rest), math.fsum(rest) / len(rest)
    variance = math.fsum(np.square(rest - mean)) / (n - 1)
    return (mean / math.sqrt(variance / n) if variance else math.copysign(math.inf, mean)), n - 1


def _root(excess: Callable[[float], float]) -> float:
    """Return the drop in (0, 1) at which an ascending function is 0; 1 if there is none."""
    low, high = 2.0**-40, 1.0 - 2.0**-40
    if excess(high) < 0:
        return 1.0
    return float(require("scipy.optimize", "stats", "the smallest detectable drop").brentq(excess, low, high))


def _stats() -> Any:
    return require("scipy.stats", "stats", "a test against a margin")
