"""Sums that are rounded once, so that their bits do not depend on the order of the values.

The sum of values is that of `math.fsum`, but needs no Python float for each value. A value below 2^30 is cut into its
integer part and three digits of 32 bits after the binary point, which are added up as integers. That is exact for every
multiple of 2^-96, as all values from 2^-43 up are; if there is any other value, `math.fsum` is used.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

import deadheat._core as _core
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple


def exact_total(values: Float64) -> tuple[float, int]:
    """Return the sum of the values that are not NaN, and their number."""
    count, exact, whole, first, second, third = _core.digits(np.ascontiguousarray(values, dtype=np.float64))
    if exact:
        return ((whole << 96) + (first << 64) + (second << 32) + third) / (1 << 96), count
    return math.fsum(values[~np.isnan(values)].tolist()), count


def exact_mean(values: Float64) -> float:
    """Return the mean of the values that are not NaN, from their rounded sum; NaN if there are none."""
    sum_of_all, count = exact_total(values)
    return sum_of_all / count if count else math.nan


def middle(values: Float64) -> float:
    """Return the median of the values that are not NaN; NaN if there are none.

    Examples
    --------
    >>> middle(np.array([3.0, np.nan, 1.0]))
    2.0
    """
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan


def exact_means(values: Triple[Float64]) -> Triple[float]:
    """Return the means of lower, expected and upper over the entries that have a value.

    An entry without a lower bound has no value. If an entry with a value has no expectation, the expected mean is NaN.

    Examples
    --------
    >>> exact_means(Triple(*np.array([[0.25, 0.5, np.nan], [0.5, np.nan, np.nan], [1, 1, np.nan]])))
    Triple(lower=0.375, expected=nan, upper=1.0)
    """
    return Triple(*map(exact_mean, all_or_none(values)))


def all_or_none(values: Triple[Float64]) -> Triple[Float64]:
    """Return the values to average: no expectation at all if one is missing of an entry that has a value.

    A mean over the others would be that of other entries than the means of lower and upper are over.
    """
    unknown = np.isnan(values.expected) & ~np.isnan(values.lower)
    return values._replace(expected=np.full(len(unknown), np.nan)) if unknown.any() else values


def exact_means_of_runs(values: Triple[Float64], ends: Int64) -> Triple[Float64]:
    """Return `exact_means` of each run of entries: from ends[i] to before ends[i + 1].

    Examples
    --------
    >>> values = Triple(*np.array([[0.25, np.nan, 0.75, 0.5], [0.25, np.nan, 0.75, np.nan], [0.5, np.nan, 0.75, 1]]))
    >>> exact_means_of_runs(values, np.array([0, 3, 4]))
    Triple(lower=array([0.5, 0.5]), expected=array([0.5, nan]), upper=array([0.625, 1.   ]))
    """
    lower, expected, upper = (_means_of_runs(each, ends) for each in values)
    unknown = np.isnan(values.expected) & ~np.isnan(values.lower)
    missing = np.diff(np.concatenate([[0], np.cumsum(unknown)])[ends])
    return Triple(lower, np.where(missing > 0, np.nan, expected), upper)


def _means_of_runs(values: Float64, ends: Int64) -> Float64:
    known = ~np.isnan(values)
    places = np.concatenate([[0], np.cumsum(known)])[ends].tolist()
    kept = values[known].tolist()
    return np.array(
        [math.fsum(kept[i:j]) / (j - i) if i < j else math.nan for i, j in pairwise(places)], dtype=np.float64
    )


def sample_deviation(values: Float64) -> float:
    """Return the sample standard deviation, with n - 1; NaN for a single value.

    Examples
    --------
    >>> sample_deviation(np.array([0.25, 0.5, 0.75]))
    0.25
    """
    if len(values) < 2:
        return math.nan
    mean = exact_mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values.tolist()) / (len(values) - 1))
