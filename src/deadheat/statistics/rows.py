"""Rows of values of the same units: an interval for the mean of each, all made alike.

In come the lower, expected and upper values of the units, (k, n); weights make a mean a ratio of sums, such as that
over queries by whole classes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.statistics.bootstrap import bootstrap
from deadheat.statistics.interval import BOOTSTRAP, NOTHING, Interval, resolved
from deadheat.statistics.settings import Settings
from deadheat.statistics.standard_error import normal_interval, standard_error

Float64 = NDArray[np.float64]


def intervals_of_rows(rows: Float64, weights: Float64 | None, settings: Settings) -> list[Interval]:
    """An interval for the mean of each row (k, n), or for the ratio of its sum to that of the weights."""
    settings = settings._replace(method=resolved(settings.method, rows.shape[1]))
    distinct = {row.tobytes(): row for row in rows}  # without ties in the ranking, all three are one
    intervals = {key: _without_draws(row, weights, settings) for key, row in distinct.items()}
    open_keys = [key for key, interval in intervals.items() if interval is None]
    if open_keys:
        drawn = bootstrap(np.stack([distinct[key] for key in open_keys]), weights, settings)
        intervals.update(zip(open_keys, drawn, strict=True))
    return [interval for row in rows if (interval := intervals[row.tobytes()]) is not None]


def _without_draws(row: Float64, weights: Float64 | None, settings: Settings) -> Interval | None:
    """The interval where it takes no bootstrap; else None."""
    mean = _ratio(row, weights)
    each = row if weights is None else row / weights
    if len(row) < 2 or math.isnan(mean):
        return NOTHING
    if each.min() == each.max():
        return Interval(mean, mean)
    return None if settings.method in BOOTSTRAP else _parametric(row, weights, mean, settings)


def _ratio(row: Float64, weights: Float64 | None) -> float:
    """The mean of a row, or its sum over that of the weights; NaN if one of them is."""
    total = len(row) if weights is None else math.fsum(weights)
    return math.fsum(row) / total if total else math.nan


def _parametric(row: Float64, weights: Float64 | None, mean: float, settings: Settings) -> Interval:
    """Normal or Student's, with the standard error of the mean or of the linearised ratio."""
    degrees = len(row) - 1 if settings.method == "t" else None
    if weights is not None:
        row = (row - mean * weights) / (math.fsum(weights) / len(weights))
    return normal_interval(mean, standard_error(row), settings.level, degrees)


def class_sums(rows: Float64, classes: NDArray[Any]) -> tuple[Float64, Float64]:
    """Correctly rounded sums over each class that occurs, (k, n_class), and how many values each class has.

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0, 4.0]]), np.array([7, 3, 7]))
    (array([[2., 5.]]), array([1., 2.]))
    """
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order])) + 1
    sums = [[math.fsum(part) for part in np.split(row[order], starts)] for row in rows]
    sizes = np.diff(np.concatenate([[0], starts, [len(order)]]))
    if not len(order):
        return np.zeros((len(rows), 0)), np.zeros(0)
    return np.array(sums), sizes.astype(np.float64)
