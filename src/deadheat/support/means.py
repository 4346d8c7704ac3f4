"""Sums that are rounded once, so that their bits do not depend on the order of the values.

The sum of values in [0, 1] is that of `math.fsum`, but needs no Python float for each value. A value is cut into three
digits of 32 bits after the binary point, and the digits are added up as integers. That is exact for every multiple of
2^-96, as all values from 2^-43 up are; if there is any other value, `math.fsum` is used.
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
    count, exact, first, second, third = _core.digits(np.ascontiguousarray(values, dtype=np.float64))
    if exact:
        return ((first << 64) + (second << 32) + third) / (1 << 96), count
    return math.fsum(values[~np.isnan(values)].tolist()), count


def exact_mean(values: Float64) -> float:
    """Return the mean of the values that are not NaN, from their rounded sum; NaN if there are none.

    Examples
    --------
    >>> exact_mean(np.array([0.25, np.nan, 0.75]))
    0.5
    """
    sum_of_all, count = exact_total(values)
    return sum_of_all / count if count else math.nan


def exact_means(values: Triple[Float64]) -> Triple[float]:
    """Return the means of lower, expected and upper over the entries that have a value.

    An entry without a lower bound has no value. If an entry with a value has no expectation, the expected mean is NaN.

    Examples
    --------
    >>> exact_means(Triple(*np.array([[0.25, 0.5, np.nan], [0.5, np.nan, np.nan], [1, 1, np.nan]])))
    Triple(lower=0.375, expected=nan, upper=1.0)
    """
    unknown = np.isnan(values.expected) & ~np.isnan(values.lower)
    expected = math.nan if unknown.any() else exact_mean(values.expected)
    return Triple(exact_mean(values.lower), expected, exact_mean(values.upper))


def exact_means_of_runs(values: Float64, ends: Int64) -> Float64:
    """Return `exact_mean` of each run of values: from ends[i] to before ends[i + 1].

    Examples
    --------
    >>> exact_means_of_runs(np.array([0.25, np.nan, 0.75, np.nan]), np.array([0, 3, 4]))
    array([0.5, nan])
    """
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
