"""Intervals for weighted means over strata, such as a mean over tasks of the means of their queries: Rao and Wu.

In come the units of each stratum for many systems; out goes an interval for each system, all from the same draws. Of
the n units of a stratum n − 1 are drawn, so that the draws have the variance of the estimate even with two units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deadheat.reports.statistics.intervals import (
    NOTHING,
    Interval,
    missed_share,
    own_order,
    percentiles,
    student_quantile,
)
from deadheat.support.arrays import Float64

_BITS = 52  # of the sum over the units of a stratum, so that float64 adds them exactly in any order
_AT_ONCE = 1 << 22  # drawn units held in memory


class Stratum(NamedTuple):
    """The units of a stratum: sums of values in [0, 1], (n_system, n_unit), the sizes, (n_unit,), and the weight.

    The mean of a stratum is the ratio of both totals, and the estimate is the weighted sum of these means.
    """

    sums: Float64
    sizes: Float64
    weight: float

    @property
    def means(self) -> Float64:
        """The mean of each system, (n_system,)."""
        total = math.fsum(self.sizes)
        return np.array([math.fsum(row) / total for row in self.sums])

    @property
    def variances(self) -> Float64:
        """The variance of each system's mean, (n_system,), of the linearised ratio; 0 for one unit."""
        n = len(self.sizes)
        if n < 2:
            return np.zeros(len(self.sums))
        rest = self.sums - self.means[:, None] * self.sizes
        return np.asarray(np.square(rest).sum(axis=1) * n / (n - 1) / math.fsum(self.sizes) ** 2)


def stratified_intervals(
    strata: Sequence[Stratum], *, confidence_level: float, n_resamples: int, seed: int
) -> list[Interval]:
    """Return a confidence interval for the weighted mean over strata of each system; NaN if no stratum has two units.

    Percentiles of the draws, at the level that Student's t asks for with the degrees of freedom of Satterthwaite. A
    system whose values are constant in each stratum gets the interval of what its units may have missed.

    References
    ----------
    J. N. K. Rao and C. F. J. Wu, "Resampling Inference with Complex Survey Data", JASA 83, 1988; F. E. Satterthwaite,
    "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2, 1946.

    Examples
    --------
    Two tasks of two queries each; of each task one query is drawn, so that the mean is 1/4, 1/2 or 3/4:

    >>> tasks = [Stratum(np.array([[0.0, 0.5]]), np.ones(2), 0.5), Stratum(np.array([[0.5, 1.0]]), np.ones(2), 0.5)]
    >>> stratified_intervals(tasks, confidence_level=0.9, n_resamples=999, seed=0)
    [Interval(low=0.25, high=0.75)]
    """
    if all(len(stratum.sizes) < 2 for stratum in strata):
        return [NOTHING] * len(strata[0].sums)
    parts = np.stack([stratum.weight**2 * stratum.variances for stratum in strata])
    degrees = np.array([max(1, len(stratum.sizes) - 1) for stratum in strata])
    drawn = sum(stratum.weight * _drawn_means(stratum, n_resamples, rng) for stratum, rng in _with_rng(strata, seed))
    intervals = []
    for system, row in enumerate(np.asarray(drawn).T):
        variances = parts[:, system]
        if math.isnan(row[0]):
            intervals.append(NOTHING)
        elif not variances.any():
            intervals.append(_unseen([stratum.means[system] for stratum in strata], strata, confidence_level))
        else:
            nu = math.fsum(variances) ** 2 / math.fsum(variances**2 / degrees)
            level = 2 * NormalDist().cdf(student_quantile(confidence_level, nu)) - 1
            intervals.append(percentiles(row[None], level)[0].within(0, 1))
    return intervals


def _with_rng(strata: Sequence[Stratum], seed: int) -> Iterator[tuple[Stratum, np.random.Generator]]:
    """Yield each stratum with draws of its own."""
    return zip(strata, map(np.random.default_rng, np.random.SeedSequence(seed).spawn(len(strata))), strict=True)


def _drawn_means(stratum: Stratum, n_resamples: int, rng: np.random.Generator) -> Float64:
    """Return the mean of each system in each resample of n − 1 units, (n_resamples, n_system)."""
    n, order = len(stratum.sizes), own_order(*stratum.sums, stratum.sizes)
    if n < 2:
        return np.broadcast_to(stratum.means, (n_resamples, len(stratum.sums)))
    sums, sizes = stratum.sums[:, order], stratum.sizes[order]
    bits = _BITS - math.frexp(n * max(1.0, float(sizes.max())))[1]
    columns = np.concatenate([np.rint(np.ldexp(sums, bits)), sizes[None]]).T  # whole numbers
    step, means = max(1, _AT_ONCE // n), np.empty((n_resamples, len(sums)))
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        drawn = rng.integers(0, n, (size, n - 1), dtype=np.int32) + n * np.arange(size, dtype=np.int32)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        totals = counts @ columns
        means[first : first + size] = np.ldexp(totals[:, :-1], -bits) / totals[:, -1:]
    return means


def _unseen(means: Sequence[float], strata: Sequence[Stratum], confidence_level: float) -> Interval:
    """Return the interval of values that are constant in each stratum, for the others in [0, 1] that may exist.

    Others that make up a share p of a stratum are missed with a chance of (1 − p)^n, and move the estimate by at most
    weight · p. The most that they can do is in the stratum with the largest weight for each unit.
    """
    value = math.fsum(stratum.weight * mean for stratum, mean in zip(strata, means, strict=True))
    n = min(len(stratum.sizes) / stratum.weight for stratum in strata)
    missed = missed_share(n, confidence_level)
    return Interval(value - missed * max(means), value + missed * (1 - min(means))).within(0, 1)
