"""Bootstrap intervals: what the means of the units would be, had others of them been drawn.

In come rows of values of the same n units, (k, n), and perhaps weights of the units; out goes an `Interval` for each
row's mean, or for the ratio of its sum to that of the weights. All rows get the same draws. BCa is SciPy's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from deadheat.reports.statistics.interval import Interval, Settings
from deadheat.support.arrays import Float64, Int64
from deadheat.support.lazy import require

Statistic = Callable[..., Float64]

_AT_ONCE = 1 << 18  # values drawn in one go, so that memory stays flat
_REPEATS = 16  # units for each distinct value, from where drawing how often each is drawn is the faster way


def bootstrap(rows: Float64, weights: Float64 | None, settings: Settings) -> list[Interval]:
    """The interval of each row, by the method "percentile", "basic" or "BCa"."""
    statistic = _ratio_of_drawn(rows, weights)
    if settings.method == "BCa":
        low, high = _bca(statistic, rows.shape[1], settings)
    else:
        low, high = np.array(percentiles(_resampled(rows, weights, statistic, settings), settings.level)).T
        if settings.method == "basic":
            whole = statistic(np.arange(rows.shape[1]), axis=-1)
            low, high = 2 * whole - high, 2 * whole - low
    return [Interval(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def percentiles(values: Float64, level: float) -> list[Interval]:
    """The percentile interval of each row, from its values of all resamples; NaN where one has none.

    Examples
    --------
    >>> percentiles(np.array([[0.0, 0.25, 0.5, 0.75, 1.0]]), 0.5)
    [Interval(low=0.25, high=0.75)]
    """
    sides = np.array([(1 - level) / 2, 1 - (1 - level) / 2])
    return [Interval(*map(float, ends)) for ends in _quantiles(values, sides).T]


def _ratio_of_drawn(rows: Float64, weights: Float64 | None) -> Statistic:
    """What the units that are drawn give for each row: the mean, or the ratio of its sum to that of the weights."""

    def statistic(drawn: Int64, axis: int) -> Float64:
        sums: Float64 = np.stack([row.take(drawn).sum(axis) for row in rows])
        sums /= drawn.shape[axis] if weights is None else weights.take(drawn).sum(axis)
        return sums

    return statistic


def _resampled(rows: Float64, weights: Float64 | None, statistic: Statistic, settings: Settings) -> Float64:
    n, rng = rows.shape[1], np.random.default_rng(settings.seed)
    if weights is None:
        distinct, counts = np.unique(rows, axis=1, return_counts=True)
        if len(counts) * _REPEATS <= n:
            return _means_of_repeated(distinct, counts, settings.n_resamples, rng)
    return _in_pieces(lambda size: statistic(rng.integers(0, n, (size, n)), axis=-1), settings.n_resamples, n)


def _means_of_repeated(distinct: Float64, counts: Int64, n_resamples: int, rng: np.random.Generator) -> Float64:
    """Means of resamples (k, n_resamples), from how often each distinct column is drawn: multinomial numbers."""
    n = counts.sum()

    def draw(size: int) -> Float64:
        drawn = rng.multinomial(n, counts / n, size=size)
        means: Float64 = np.stack([(drawn * row).sum(axis=1) for row in distinct]) / n
        return means

    return _in_pieces(draw, n_resamples, len(counts))


def _in_pieces(draw: Callable[[int], Float64], n_resamples: int, n_value: int) -> Float64:
    """What is drawn, (k, n_resamples), in pieces of so many resamples that memory stays flat."""
    step = max(1, _AT_ONCE // n_value)
    return np.concatenate([draw(min(step, n_resamples - first)) for first in range(0, n_resamples, step)], axis=1)


def _quantiles(values: Float64, shares: Float64) -> Float64:
    """The quantiles of each row, (n_share, k): linear between order statistics (Hyndman and Fan 1996, number 7)."""
    ordered, n = np.sort(values, axis=1), values.shape[1]
    place = shares * n + (1 - shares)  # counted from 1
    below, part = place // 1 - 1, place % 1
    near, far = (ordered[:, np.clip(rank, 0, n - 1).astype(np.int64)] for rank in (below, below + 1))
    return np.asarray(((1 - part) * near + part * far).T)


def _bca(statistic: Statistic, n: int, settings: Settings) -> tuple[Float64, Float64]:
    """SciPy's bias-corrected and accelerated bootstrap of the numbers of the units; NaN where it has no value."""
    stats = require("scipy.stats", "stats", "a bootstrap interval")
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", getattr(stats, "DegenerateDataWarning", RuntimeWarning))
        low, high = stats.bootstrap(
            (np.arange(n),),
            statistic,
            n_resamples=settings.n_resamples,
            batch=max(1, _AT_ONCE // n),
            confidence_level=settings.level,
            method="BCa",
            rng=np.random.default_rng(settings.seed),
        ).confidence_interval
    return low, high
