"""Standard errors, and the interval that a mean and its standard error make."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from deadheat.statistics.interval import NOTHING, Interval, defined, level_between, resolved
from deadheat.support.extras import require
from deadheat.support.means import exact_mean


def standard_error(values: ArrayLike) -> float:
    """The standard error of a mean: the sample's standard deviation (n − 1 degrees of freedom) over √n.

    Parameters
    ----------
    values : (n,)
        NaN is left out.

    Returns
    -------
    float
        0.0 where all values are equal. **Undefined:** NaN for fewer than two.

    Examples
    --------
    >>> standard_error([1, 3])
    1.0
    """
    sample = defined(values, "values")
    if len(sample) < 2:
        return math.nan
    if sample.min() == sample.max():
        return 0.0
    squares = np.square(sample - exact_mean(sample))
    return math.sqrt(math.fsum(squares) / (len(sample) - 1) / len(sample))


def normal_interval(
    mean: float, standard_error: float, confidence_level: float = 0.95, degrees_of_freedom: float | None = None
) -> Interval:
    """The interval mean ± quantile · standard error, of the normal distribution or of Student's.

    Parameters
    ----------
    mean, standard_error : float
        NaN in either gives NaN ends.
    confidence_level : float
        Strictly between 0 and 1.
    degrees_of_freedom : float, optional
        Student's quantile for so many; by default the normal distribution's.

    Examples
    --------
    >>> normal_interval(0, 1)
    Interval(low=-1.959963984540054, high=1.959963984540054)
    """
    level = level_between(confidence_level)
    stats = require("scipy.stats", "stats", "a confidence interval")
    if math.isnan(mean) or math.isnan(standard_error):
        return NOTHING
    if standard_error == 0:
        return Interval(float(mean), float(mean))
    law = stats.norm if degrees_of_freedom is None else stats.t(degrees_of_freedom)
    reach = float(law.isf((1 - level) / 2)) * standard_error
    return Interval(mean - reach, mean + reach)


def welch_interval(
    difference: float, standard_errors: Sequence[float], sizes: Sequence[int], confidence_level: float, method: str
) -> Interval:
    """The interval for a difference of two means of independent samples, of such standard errors and sizes."""
    level = level_between(confidence_level)
    if min(sizes) < 2:
        return NOTHING
    degrees = welch_degrees(standard_errors, sizes) if resolved(method, min(sizes)) == "t" else None
    return normal_interval(difference, math.hypot(*standard_errors), level, degrees)


def welch_degrees(standard_errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Degrees of freedom for a sum or difference of means, after Welch and Satterthwaite.

    Examples
    --------
    >>> welch_degrees([1.0, 1.0], [3, 3])
    4.0
    """
    squares = [error**2 for error in standard_errors]
    parts = [square**2 / (size - 1) for square, size in zip(squares, sizes, strict=True)]
    return math.fsum(squares) ** 2 / math.fsum(parts) if any(parts) else math.inf
